//! Units that no draw drops: a few at every node, a spanning forest, listed ones.
//!
//! Guards follow the scores, whatever the direction: among candidates the one with the higher score stays. In a directed
//! graph an arc is a unit of both its ends.

mod cover;
mod forest;

use crate::{BitMask, Graph, NodeId, Result, centrality, unit_list};
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

/// The units that stay, one bit each; `z` holds their mid-ranks, by which the guards choose.
///
/// `min_degree` counts what the other guards keep. O(units · (log units + rounds)).
///
/// # Errors
/// What the file of `always_keep` has wrong; [`crate::Error::Size`] unless there is one rank per unit.
pub fn guarded(guards: &Guards, graph: &Graph, z: &[f64]) -> Result<BitMask> {
    let (got, expected) = (z.len() as u64, graph.pairs());
    if got != expected {
        return Err(crate::Error::Size { what: "ranks of units", got, expected });
    }
    let mut stay = BitMask::new(z.len(), false);
    if let Some(path) = &guards.always_keep {
        for line in unit_list::read(path, graph, None)? {
            stay.set(line.unit as usize, true);
        }
    }
    if guards.keep_forest {
        forest::keep(graph, z, &mut stay);
    }
    if guards.min_degree > 0 {
        let most = (0..graph.nodes() as u32).map(|i| centrality::degree::of(graph, NodeId(i)));
        let rounds = guards.min_degree.min(most.max().unwrap_or(0) as u32); // more rounds find nobody in need
        cover::keep(graph, z, rounds, &mut stay);
    }
    Ok(stay)
}

#[cfg(test)]
mod tests;
