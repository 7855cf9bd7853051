//! Inverse degrees, 1/d_i + 1/d_j: high for bridges to leaves, low between hubs.

use super::{Degrees, Entry, ScoreCx, per_unit};
use crate::{Graph, Result};

pub(super) const ENTRY: Entry =
    Entry { name: "inv_degree", summary: "sum of the inverse degrees of the ends: high at bridges and leaves", score };

fn score(graph: &Graph, _: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let degree = Degrees(graph);
    Ok(per_unit(graph, |head, tail| 1.0 / degree.head(head) + 1.0 / degree.tail(tail)))
}
