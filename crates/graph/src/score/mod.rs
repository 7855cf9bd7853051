//! Scores of units: how much each pair (arc of a directed graph) matters. One file per score, one line in [`ALL`].

use std::path::PathBuf;

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
