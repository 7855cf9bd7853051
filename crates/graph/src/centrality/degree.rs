//! Degree: the number of other nodes that a node is joined to; of a directed graph arcs in and out together.

use super::{Entry, Ranks, pagerank};
use crate::{Graph, NodeId};

pub(super) const ENTRY: Entry = Entry {
    name: "degree",
    summary: "number of edges at a node (directed: arcs in and out), self-loops not counted",
    rank: |graph, _| Ok(Ranks::plain(all(graph))),
};

fn all(graph: &Graph) -> Vec<f64> {
    (0..graph.nodes() as u32).map(|i| of(graph, NodeId(i)) as f64).collect()
}

/// Units at `node`.
pub fn of(graph: &Graph, node: NodeId) -> usize {
    graph.degree(node) + if graph.directed() { pagerank::out_degree(graph, node) } else { 0 }
}
