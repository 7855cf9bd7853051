//! The smaller core number of the two ends: how deep in the dense part of the graph the edge lies.

use super::{Entry, ScoreCx, per_unit};
use crate::centrality::core;
use crate::{Graph, Result};

pub(super) const ENTRY: Entry = Entry { name: "core", summary: "smaller core number of the two ends", score };

fn score(graph: &Graph, _: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let number = core::of(graph);
    Ok(per_unit(graph, |i, j| f64::from(number[i].min(number[j]))))
}
