//! How much there is to do, in the two terms that every prediction knows.

/// Work of a step, or of one item of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes moved to or from memory.
    pub bytes: f64,
}

impl Work {
    /// `flops` operations and `bytes` bytes.
    pub const fn new(flops: f64, bytes: f64) -> Self {
        Self { flops, bytes }
    }

    /// The same for `n` items.
    #[must_use]
    pub fn times(self, n: u64) -> Self {
        Self { flops: self.flops * n as f64, bytes: self.bytes * n as f64 }
    }
}
