//! What a prepared sampler says about itself.

use super::Direction;
use serde::Serialize;

/// What is known before the first draw. With a schedule of rates, `p`, `k` and what follows from them are those of the
/// first epoch and layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SamplerFacts {
    /// Registry name.
    pub name: &'static str,
    /// Drop rate asked for.
    pub p: f64,
    /// Units of the graph: pairs, or arcs of a directed graph.
    pub units: u64,
    /// What a unit is, where it is neither.
    #[serde(skip)]
    pub unit: Option<&'static str>,
    /// Units dropped in each draw; the mean where the number is random.
    pub k: u64,
    /// k / units; 0 for a graph without edges.
    pub achieved_p: f64,
    /// Expected number of nodes without an edge, Σ_i Π_{e∋i} q_e, those of the full graph included.
    pub isolated_expected: f64,
    /// The probabilities of the units.
    pub q: Option<ProbabilityFacts>,
    /// How strongly the score decides.
    pub beta: Option<f64>,
    /// What a high score means, once decided.
    pub direction: Option<Direction>,
    /// How `--direction auto` decided.
    pub auto: Option<AutoDirection>,
    /// What the user should know, one line each.
    pub notes: Vec<String>,
}

impl SamplerFacts {
    /// The facts of a sampler that drops `k` of `units`, without scores.
    pub fn plain(name: &'static str, p: f64, units: u64, k: u64, isolated_expected: f64) -> SamplerFacts {
        SamplerFacts {
            name,
            p,
            units,
            unit: None,
            k,
            achieved_p: if units == 0 { 0.0 } else { k as f64 / units as f64 },
            isolated_expected,
            q: None,
            beta: None,
            direction: None,
            auto: None,
            notes: Vec::new(),
        }
    }
}

/// The drop probabilities of all units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProbabilityFacts {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
    /// The offset a that gives them their sum; none for equal or given probabilities.
    pub offset: Option<f64>,
}

/// How the labels of training nodes decided the direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AutoDirection {
    /// Same-label rate of the quarter of the training pairs with the highest scores.
    pub hi: Option<f64>,
    /// Same-label rate of the quarter with the lowest scores.
    pub lo: Option<f64>,
    /// Standard error of their difference.
    pub se: Option<f64>,
    /// Pairs in the two quarters.
    pub pairs: (u64, u64),
    /// `keep`, `drop`, or `too few labelled pairs`.
    pub decision: &'static str,
}
