//! A mix of two ranks, λ·rank(π_i + π_j) + (1 − λ)·rank(d_i + d_j), ranks as mid-ranks from −1 to 1.

use super::{Degrees, Entry, ScoreCx, per_unit};
use crate::calibrate::mid_ranks;
use crate::{Graph, Result};

pub(super) const ENTRY: Entry =
    Entry { name: "pr_degree", summary: "mix of the ranks by PageRank and by degree, in parts --rank-lambda", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let pi = cx.pagerank(graph)?;
    let degree = Degrees(graph);
    let far = mid_ranks(&per_unit(graph, |i, j| pi[i] + pi[j]))?;
    let near = mid_ranks(&per_unit(graph, |head, tail| degree.head(head) + degree.tail(tail)))?;
    let lambda = cx.options.lambda;
    Ok(far.iter().zip(&near).map(|(far, near)| lambda * far + (1.0 - lambda) * near).collect())
}
