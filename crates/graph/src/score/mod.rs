//! Scores of units: how much each pair (arc of a directed graph) matters. One file per score, one line in [`ALL`].
//!
//! A score gives one finite number per unit; only their order is used. It sees the graph, the options and the labels of
//! training nodes, never a random number of the run. Units that an automorphism of the graph exchanges get equal scores,
//! at least in their first 40 significant bits.
//!
//! Formulas are written for a pair (i, j). For an arc tail → head of a directed graph, d_tail is the out-degree and d_head
//! the in-degree; where a formula sums over both arcs of a pair, an arc has its own term only.

mod betweenness;
mod core;
mod degree;
mod file;
mod flow;
mod gca;
mod inv_degree;
mod pr_degree;
mod pr_max;
mod pr_mean;
mod pr_min;
mod pr_prod;
mod resistance;
mod two_stage;

use crate::centrality::pagerank;
use crate::unit_list;
use crate::{Error, Graph, NodeId, Result, TrainLabels};
use sapwood_skeleton::Exec;
use sapwood_sparse::algorithms::PageRankOptions;
use std::path::PathBuf;

/// Every score.
pub static ALL: &[Entry] = &[
    two_stage::ENTRY,
    pr_mean::ENTRY,
    pr_min::ENTRY,
    pr_max::ENTRY,
    pr_prod::ENTRY,
    pr_degree::ENTRY,
    flow::ENTRY,
    inv_degree::ENTRY,
    degree::ENTRY,
    gca::ENTRY,
    core::ENTRY,
    resistance::ENTRY,
    file::ENTRY,
    betweenness::ENTRY,
];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--score` takes it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// One number per unit.
    pub score: fn(&Graph, &ScoreCx<'_>) -> Result<Vec<f64>>,
}

/// What a score is made with.
#[derive(Debug, Clone, Copy)]
pub struct ScoreCx<'a> {
    /// The workers.
    pub exec: Exec<'a>,
    /// The choices.
    pub options: &'a ScoreOptions,
    /// Labels of training nodes.
    pub train: &'a TrainLabels,
}

impl ScoreCx<'_> {
    /// PageRank of the nodes, by the options.
    fn pagerank(&self, graph: &Graph) -> Result<Vec<f64>> {
        let options = PageRankOptions { alpha: self.options.alpha, ..PageRankOptions::default() };
        Ok(pagerank::of(self.exec, graph, self.options.weighted, &options)?.scores)
    }
}

/// The registry line of `name`.
///
/// # Errors
/// [`Error::Unknown`] with the valid names and the nearest one.
pub fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter().find(|e| e.name == name).ok_or_else(|| Error::unknown("score", name, ALL.iter().map(|e| e.name)))
}

/// The scores of all units, checked: the options before, each score after.
///
/// # Errors
/// [`Error::Range`] for an option, [`Error::Score`] naming the pair of a score that is NaN or infinite, and what the score
/// says.
pub fn of(entry: &Entry, graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    cx.options.check()?;
    let scores = (entry.score)(graph, cx)?;
    let (got, expected) = (scores.len() as u64, graph.pairs());
    if got != expected {
        return Err(Error::Size { what: "scores", got, expected });
    }
    match scores.iter().position(|s| !s.is_finite()) {
        Some(unit) => Err(Error::Score { unit: unit_list::shown(graph, unit as u32), value: scores[unit] }),
        None => Ok(scores),
    }
}

/// What scores are made with.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ScoreOptions {
    /// Damping of PageRank, `--alpha`: 0 ≤ α < 1.
    pub alpha: f64,
    /// Exponent of PageRank, `--gamma`.
    pub gamma: f64,
    /// Exponent of the degree, `--delta`.
    pub delta: f64,
    /// Share of PageRank against degree in a mix of ranks, `--rank-lambda`.
    #[serde(rename = "rank_lambda")]
    pub lambda: f64,
    /// PageRank by edge weights, `--weighted`.
    #[serde(rename = "weighted_ranking")]
    pub weighted: bool,
    /// File of scores, `--score file:PATH`.
    #[serde(rename = "score_file")]
    pub file: Option<PathBuf>,
    /// Seed of sketches.
    #[serde(skip)]
    pub seed: u64,
}

impl Default for ScoreOptions {
    fn default() -> Self {
        ScoreOptions { alpha: 0.85, gamma: 1.0, delta: 1.0, lambda: 0.5, weighted: false, file: None, seed: 0 }
    }
}

impl ScoreOptions {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// [`Error::Range`] naming the flag.
    pub fn check(&self) -> Result<()> {
        let wrong = |flag, range, value: f64| Err(Error::Range { flag, range, value: value.to_string() });
        if !(0.0..1.0).contains(&self.alpha) {
            return wrong("--alpha", "at least 0 and below 1", self.alpha);
        }
        for (flag, value) in [("--gamma", self.gamma), ("--delta", self.delta)] {
            if !value.is_finite() {
                return wrong(flag, "a finite number", value);
            }
        }
        if !(0.0..=1.0).contains(&self.lambda) {
            return wrong("--rank-lambda", "a share from 0 to 1", self.lambda);
        }
        Ok(())
    }
}

/// `f` of the two ends of every unit: (head, tail) of an arc.
fn per_unit(graph: &Graph, f: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    graph.pair_ends().map(|(i, j)| f(i.index(), j.index())).collect()
}

/// Degrees as the formulas read them: of heads (in-degree), and of tails (out-degree).
struct Degrees<'a>(&'a Graph);

impl Degrees<'_> {
    #[inline(always)]
    fn head(&self, i: usize) -> f64 {
        self.0.degree(NodeId(i as u32)) as f64
    }

    #[inline(always)]
    fn tail(&self, j: usize) -> f64 {
        pagerank::out_degree(self.0, NodeId(j as u32)) as f64
    }
}
