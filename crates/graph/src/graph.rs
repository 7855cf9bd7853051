//! A graph as training needs it: who gathers from whom, which arcs belong to one undirected pair, self-loops aside.
//!
//! Row i of a graph lists the nodes that node i gathers from (its in-neighbours), ascending. An undirected **pair** is
//! two arcs with one number; pairs are numbered 0, 1, … in the order of (smaller end, larger end). In a directed graph
//! each arc is a unit of its own, numbered row by row. A graph never changes after [`Graph::build`], which lives in
//! `graph/build.rs`; who drops pairs keeps a mask beside it.

mod build;

pub use build::{Edge, GraphOptions, Merged};

use sapwood_sparse::{Csr, One};

/// Number of a node, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Arcs stored by rows, without self-loops.
#[derive(Debug, Clone)]
pub struct Arcs {
    pattern: Csr<One>,
    unit: Vec<u32>,
    weights: Option<Vec<f32>>,
}

impl Arcs {
    /// n × n; columns ascend in each row; the diagonal is empty.
    pub fn pattern(&self) -> &Csr<One> {
        &self.pattern
    }

    /// Number of the pair (directed: of the arc) of each arc, in the order of the pattern's entries.
    pub fn unit(&self) -> &[u32] {
        &self.unit
    }

    /// Weight of each arc, if the graph has weights.
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }
}

/// A graph: pattern, pairs, optional weights, self-loops apart.
#[derive(Debug, Clone)]
pub struct Graph {
    rows: Arcs,
    /// The arcs by their other end; only a directed graph needs them apart.
    reverse: Option<Arcs>,
    self_loops: Vec<(NodeId, f32)>,
    pairs: u64,
}

impl Graph {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.rows.pattern.shape().0
    }

    /// Number of units that a sampler can drop: undirected pairs, or the arcs of a directed graph.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Number of stored arcs, self-loops not counted: twice the pairs, or the arcs of a directed graph.
    pub fn arcs(&self) -> u64 {
        self.rows.unit.len() as u64
    }

    /// Whether an arc stands without its reverse.
    pub fn directed(&self) -> bool {
        self.reverse.is_some()
    }

    /// Whether the arcs have weights.
    pub fn weighted(&self) -> bool {
        self.rows.weights.is_some()
    }

    /// Row i lists the in-neighbours of node i.
    pub fn rows(&self) -> &Arcs {
        &self.rows
    }

    /// Row i lists the out-neighbours of node i; the same as [`Graph::rows`] for an undirected graph.
    pub fn reverse(&self) -> &Arcs {
        self.reverse.as_ref().unwrap_or(&self.rows)
    }

    /// Nodes with a self-loop, ascending, and its weight (1 in a graph without weights). Never dropped.
    pub fn self_loops(&self) -> &[(NodeId, f32)] {
        &self.self_loops
    }

    /// In-degree of `node` without its self-loop; the degree in an undirected graph.
    pub fn degree(&self, node: NodeId) -> usize {
        self.rows.pattern.row_range(node.index()).len()
    }

    /// Nodes that `node` gathers from, ascending.
    pub fn neighbours(&self, node: NodeId) -> &[u32] {
        self.rows.pattern.row(node.index())
    }

    /// The two ends of every unit in the order of its number: (smaller, larger) end, or (head, tail) of an arc
    /// tail → head of a directed graph.
    pub fn pair_ends(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let directed = self.directed();
        (0..self.nodes() as u32).flat_map(move |i| {
            let row = self.neighbours(NodeId(i));
            let from = if directed { 0 } else { row.partition_point(|&j| j < i) };
            row[from..].iter().map(move |&j| (NodeId(i), NodeId(j)))
        })
    }

    /// Weight of every unit in the order of its number, if the graph has weights.
    pub fn unit_weights(&self) -> Option<Vec<f32>> {
        let weights = self.rows.weights()?;
        let mut of = vec![0f32; self.pairs as usize];
        for (&unit, &weight) in self.rows.unit.iter().zip(weights) {
            of[unit as usize] = weight;
        }
        Some(of)
    }

    /// The same graph with every arc a unit of its own, as if it were directed. Units are arcs in the order of
    /// [`Graph::rows`]; rows, columns and weights stay the same.
    #[must_use]
    pub fn by_arc(&self) -> Graph {
        if self.directed() {
            return self.clone();
        }
        let pattern = &self.rows.pattern;
        let mut next: Vec<u64> = pattern.offsets()[..self.nodes()].to_vec();
        // The arc (j, i) of row j is the next one not met yet, since the rows i are walked in ascending order.
        let mirror = pattern.columns().iter().map(|&j| {
            let slot = &mut next[j as usize];
            *slot += 1;
            (*slot - 1) as u32
        });
        let reverse = Arcs { unit: mirror.collect(), ..self.rows.clone() };
        let rows = Arcs { unit: (0..self.arcs() as u32).collect(), ..self.rows.clone() };
        Graph { rows, reverse: Some(reverse), self_loops: self.self_loops.clone(), pairs: self.arcs() }
    }

    /// The same graph without its weights; every self-loop then has weight 1.
    #[must_use]
    pub fn unweighted(mut self) -> Graph {
        self.rows.weights = None;
        if let Some(reverse) = &mut self.reverse {
            reverse.weights = None;
        }
        for (_, weight) in &mut self.self_loops {
            *weight = 1.0;
        }
        self
    }
}
