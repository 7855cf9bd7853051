//! How much there is to do: the two numbers from which a time is predicted.

/// Work of one step or one item: floating-point operations, and bytes moved to or from memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes moved to or from memory.
    pub bytes: f64,
}
