//! What a ranking says: the JSON object and the table.

use crate::verb::table::aligned;
use sapwood_sparse::algorithms::PageRank;
use serde::Serialize;
use std::io::{Result, Write};

/// The JSON object. What only an iteration has is null for rankings without one.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    by: String,
    alpha: Option<f64>,
    iterations: Option<u32>,
    residual: Option<f64>,
    error_bound: Option<f64>,
    pub(super) converged: bool,
    sum: f64,
    dangling: Option<u64>,
    top: Vec<Top>,
    spearman_degree: Option<f64>,
    #[serde(skip)]
    of: &'static str,
    #[serde(skip)]
    count: usize,
}

/// One of the highest.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Top {
    Node { node: u32, score: f64, degree: u64 },
    Edge { u: u32, v: u32, score: f64 },
}

impl Report {
    /// A ranking of nodes or edges (`of`) by `scores` that needed no iteration.
    pub(super) fn new(
        of: &'static str,
        by: &str,
        scores: &[f64],
        top: Vec<Top>,
        spearman_degree: Option<f64>,
    ) -> Report {
        Report {
            schema: "sapwood.rank/1",
            by: by.to_owned(),
            alpha: None,
            iterations: None,
            residual: None,
            error_bound: None,
            converged: true,
            sum: scores.iter().sum(),
            dangling: None,
            top,
            spearman_degree,
            of,
            count: scores.len(),
        }
    }

    /// The same, with how its iteration ended, if it had one.
    pub(super) fn walked(self, alpha: f64, walk: Option<&PageRank>) -> Report {
        let Some(walk) = walk else { return self };
        Report {
            alpha: Some(alpha),
            iterations: Some(walk.iterations),
            residual: Some(walk.residual),
            error_bound: Some(walk.error_bound),
            converged: walk.converged,
            dangling: Some(walk.dangling),
            ..self
        }
    }

    /// The table.
    pub(super) fn print(&self, data: &str, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{data}: {} {} by {}, scores sum to {}", self.count, self.of, self.by, self.sum)?;
        if let (Some(alpha), Some(sweeps), Some(residual), Some(bound), Some(dangling)) =
            (self.alpha, self.iterations, self.residual, self.error_bound, self.dangling)
        {
            let state = if self.converged { "converged" } else { "NOT converged (raise --max-iter)" };
            writeln!(
                out,
                "alpha {alpha}: {state} after {sweeps} sweeps, residual {residual:.2e}, error at most {bound:.2e} \
                 (1-norm), {dangling} sinks"
            )?;
        }
        match self.top.first() {
            None => {}
            Some(Top::Node { .. }) => aligned(&self.rows(["node", "score", "degree"]), out)?,
            Some(Top::Edge { .. }) => aligned(&self.rows(["u", "v", "score"]), out)?,
        }
        match self.spearman_degree {
            Some(rho) => writeln!(out, "Spearman correlation with the degree: {rho:.4}"),
            None => Ok(()),
        }
    }

    fn rows(&self, head: [&str; 3]) -> Vec<[String; 3]> {
        let row = |top: &Top| match top {
            Top::Node { node, score, degree } => [node.to_string(), format!("{score:.12}"), degree.to_string()],
            Top::Edge { u, v, score } => [u.to_string(), v.to_string(), format!("{score:.12}")],
        };
        std::iter::once(head.map(String::from)).chain(self.top.iter().map(row)).collect()
    }
}
