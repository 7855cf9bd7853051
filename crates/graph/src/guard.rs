//! Units that no draw drops.

use std::path::PathBuf;

/// What is never dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Guards {
    /// A node keeps at least min(this, its degree) units, `--min-degree`.
    pub min_degree: u32,
    /// A spanning forest of the largest scores stays, `--keep-forest`.
    pub keep_forest: bool,
    /// File of units that stay, `--always-keep`.
    pub always_keep: Option<PathBuf>,
}
