//! Degrees, d_i + d_j.

use super::{Degrees, Entry, ScoreCx, per_unit};
use crate::{Graph, Result};

pub(super) const ENTRY: Entry = Entry { name: "degree", summary: "sum of the degrees of the two ends", score };

fn score(graph: &Graph, _: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let degree = Degrees(graph);
    Ok(per_unit(graph, |head, tail| degree.head(head) + degree.tail(tail)))
}
