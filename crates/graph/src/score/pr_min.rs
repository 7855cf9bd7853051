//! PageRank of the ends, the smaller: min(π_i, π_j).

use super::{Entry, ScoreCx, per_unit};
use crate::{Graph, Result};

pub(super) const ENTRY: Entry = Entry { name: "pr_min", summary: "smaller PageRank of the two ends", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let pi = cx.pagerank(graph)?;
    Ok(per_unit(graph, |i, j| pi[i].min(pi[j])))
}
