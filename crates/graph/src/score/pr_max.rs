//! PageRank of the ends, the larger: max(π_i, π_j).

use super::{Entry, ScoreCx, per_unit};
use crate::{Graph, Result};

pub(super) const ENTRY: Entry = Entry { name: "pr_max", summary: "larger PageRank of the two ends", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let pi = cx.pagerank(graph)?;
    Ok(per_unit(graph, |i, j| pi[i].max(pi[j])))
}
