//! Betweenness of the edge: shortest paths that run along it (Brandes 2001), for graphs of up to 5000 nodes.

use super::{Entry, ScoreCx};
use crate::centrality::betweenness;
use crate::{Graph, Result};

pub(super) const ENTRY: Entry =
    Entry { name: "betweenness", summary: "shortest paths that run along the edge (up to 5000 nodes)", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    Ok(betweenness::of(cx.exec, graph)?.units)
}
