//! How much each node matters. One file per centrality, one line in [`ALL`].
//!
//! Self-loops count only where a file says so. Results depend on the graph and the options alone, never on threads.

pub mod betweenness;
pub mod core;
pub mod degree;
pub mod pagerank;
mod personalised;
pub mod resistance;

use crate::{Error, Graph, Result};
use sapwood_skeleton::Exec;
use sapwood_sparse::algorithms::{PageRank, PageRankOptions};

/// Every centrality.
pub static ALL: &[Entry] =
    &[pagerank::ENTRY, personalised::ENTRY, degree::ENTRY, core::ENTRY, betweenness::ENTRY, resistance::ENTRY];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--by` takes it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// One number per node.
    pub rank: fn(&Graph, &CentralityCx<'_>) -> Result<Ranks>,
}

/// The registry line of `name`.
///
/// # Errors
/// [`Error::Unknown`] with the valid names and the nearest one.
pub fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter().find(|e| e.name == name).ok_or_else(|| Error::unknown("centrality", name, ALL.iter().map(|e| e.name)))
}

/// What a centrality is made with.
#[derive(Debug, Clone, Copy)]
pub struct CentralityCx<'a> {
    /// The workers.
    pub exec: Exec<'a>,
    /// Damping, tolerance, method, where restarts and the mass of sinks go.
    pub pagerank: PageRankOptions<'a>,
    /// PageRank by edge weights, where the graph has them.
    pub weighted: bool,
    /// Seed of sketches.
    pub seed: u64,
}

/// Scores of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// One per node.
    pub scores: Vec<f64>,
    /// How an iteration ended, if there was one; its scores are moved out.
    pub walk: Option<PageRank>,
}

impl Ranks {
    /// Scores that needed no iteration.
    pub(crate) fn plain(scores: Vec<f64>) -> Ranks {
        Ranks { scores, walk: None }
    }
}
