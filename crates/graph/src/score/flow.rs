//! What PageRank sends along the edge, π_i/d_i + π_j/d_j: what it knows beyond degree (constant as α → 1). Of an arc,
//! what its tail sends, π_tail/d_tail.

use super::{Degrees, Entry, ScoreCx, per_unit};
use crate::{Graph, Result};

pub(super) const ENTRY: Entry =
    Entry { name: "flow", summary: "PageRank that flows along the edge: what PageRank knows beyond degree", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let mut sent = cx.pagerank(graph)?;
    let degree = Degrees(graph);
    sent.iter_mut().enumerate().for_each(|(i, x)| *x /= degree.tail(i).max(1.0));
    Ok(if graph.directed() { per_unit(graph, |_, tail| sent[tail]) } else { per_unit(graph, |i, j| sent[i] + sent[j]) })
}
