//! The edge centrality of GCA (Zhu et al., WWW 2021): ln π of the sink of an arc, of a pair the mean of both ends. With
//! π of [`crate::centrality::pagerank`], which restarts; theirs does not.

use super::{Entry, ScoreCx, per_unit};
use crate::{Graph, Result};
use sapwood_skeleton::math;

pub(super) const ENTRY: Entry =
    Entry { name: "gca", summary: "logarithm of the PageRank of the sink, of a pair the mean of both ends", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let mut log = cx.pagerank(graph)?;
    math::ln_slice(&mut log);
    Ok(if graph.directed() {
        per_unit(graph, |head, _| log[head])
    } else {
        per_unit(graph, |i, j| (log[i] + log[j]) * 0.5)
    })
}
