//! PageRank of the ends, their product as a logarithm: ln π_i + ln π_j.

use super::{Entry, ScoreCx, per_unit};
use crate::{Graph, Result};
use sapwood_skeleton::math;

pub(super) const ENTRY: Entry =
    Entry { name: "pr_prod", summary: "product of the PageRank of the two ends (its logarithm)", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let mut log = cx.pagerank(graph)?;
    math::ln_slice(&mut log);
    Ok(per_unit(graph, |i, j| log[i] + log[j]))
}
