//! PageRank of the ends, the mean: (π_i + π_j)/2.

use super::{Entry, ScoreCx, per_unit};
use crate::{Graph, Result};

pub(super) const ENTRY: Entry = Entry { name: "pr_mean", summary: "mean PageRank of the two ends", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let pi = cx.pagerank(graph)?;
    Ok(per_unit(graph, |i, j| (pi[i] + pi[j]) * 0.5))
}
