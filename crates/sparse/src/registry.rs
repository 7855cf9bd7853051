//! What the registries of formats, kernels and reshaping operations say of each line.

/// One line of a registry.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Fact {
    /// Name, as the command line spells it, and the name of the file that holds it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What it can do.
    pub can: &'static [&'static str],
}
