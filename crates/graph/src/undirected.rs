//! A graph without its directions: each two joined nodes are one edge, whatever arcs there are between them.

use crate::Graph;

/// Edges and neighbours, both ways.
#[derive(Debug, Clone)]
pub(crate) struct Undirected {
    /// Ends of each edge, the smaller first, ascending.
    pub(crate) ends: Vec<(u32, u32)>,
    /// Edge of each unit of the graph.
    pub(crate) edge_of: Vec<u32>,
    /// Neighbours of node i are those from starts\[i\] to starts\[i + 1\].
    pub(crate) starts: Vec<usize>,
    /// All neighbours, node by node.
    pub(crate) neighbours: Vec<u32>,
}

impl Undirected {
    /// O(nodes + arcs · log arcs).
    pub(crate) fn of(graph: &Graph) -> Undirected {
        let all: Vec<(u32, u32)> = graph.pair_ends().map(|(u, v)| (u.0.min(v.0), u.0.max(v.0))).collect();
        let (ends, edge_of) = if graph.directed() { merged(all) } else { (all, (0..graph.pairs() as u32).collect()) };
        let mut starts = vec![0usize; graph.nodes() + 1];
        for &(u, v) in &ends {
            starts[u as usize + 1] += 1;
            starts[v as usize + 1] += 1;
        }
        for i in 0..graph.nodes() {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut neighbours) = (starts.clone(), vec![0; 2 * ends.len()]);
        for &(u, v) in &ends {
            for (at, other) in [(u, v), (v, u)] {
                neighbours[next[at as usize]] = other;
                next[at as usize] += 1;
            }
        }
        Undirected { ends, edge_of, starts, neighbours }
    }

    /// Number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Neighbours of node `i`.
    pub(crate) fn row(&self, i: usize) -> &[u32] {
        &self.neighbours[self.starts[i]..self.starts[i + 1]]
    }
}

/// The distinct pairs, sorted, and the place of each of `all` among them.
fn merged(all: Vec<(u32, u32)>) -> (Vec<(u32, u32)>, Vec<u32>) {
    let mut ends = all.clone();
    ends.sort_unstable();
    ends.dedup();
    let edge_of = all.iter().map(|e| ends.partition_point(|f| f < e) as u32).collect();
    (ends, edge_of)
}
