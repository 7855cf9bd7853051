//! Effective resistance of the edge: 1 at a bridge, small where there are many other ways. Exact up to 1000 nodes, a sketch
//! above ([`crate::centrality::resistance`]).

use super::{Entry, ScoreCx};
use crate::centrality::resistance;
use crate::{Graph, Result};

pub(super) const ENTRY: Entry =
    Entry { name: "resistance", summary: "effective resistance of the edge: 1 at a bridge", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    resistance::of_units(cx.exec, graph, cx.options.seed)
}
