//! Betweenness of nodes and of units: how many shortest paths run through, each pair of nodes counting 1 in all. By Brandes
//! (2001), O(nodes · arcs), so only for small graphs. Directions count; weights do not.

use super::{Entry, Ranks};
use crate::{Error, Graph, Result};
use sapwood_skeleton::{ChunkPlan, Exec, Monoid};

pub(super) const ENTRY: Entry = Entry {
    name: "betweenness",
    summary: "shortest paths that pass through a node (up to 5000 nodes)",
    rank: |graph, cx| Ok(Ranks::plain(of(cx.exec, graph)?.nodes)),
};

/// Most nodes.
pub const MOST: u64 = 5000;

/// Shares of shortest paths.
#[derive(Debug, Clone, PartialEq)]
pub struct Betweenness {
    /// Of each node, paths that end there not counted.
    pub nodes: Vec<f64>,
    /// Of each unit.
    pub units: Vec<f64>,
}

/// Betweenness of all nodes and units; not normalised, each unordered pair of nodes of an undirected graph counted once.
/// The number of shortest paths between two nodes must stay below 1.8e308.
///
/// # Errors
/// [`Error::TooLarge`] for more than [`MOST`] nodes.
pub fn of(exec: Exec<'_>, graph: &Graph) -> Result<Betweenness> {
    let n = graph.nodes();
    if n as u64 > MOST {
        return Err(Error::TooLarge { what: "nodes for betweenness", count: n as u64, limit: MOST });
    }
    let plan = ChunkPlan::of(n, n.div_ceil(CHUNKS)).dynamic();
    let mut all = exec.reduce_chunks(&plan, &Vectors(n + graph.pairs() as usize), |_, _, sources| {
        let mut found = vec![0.0; n + graph.pairs() as usize];
        let mut search = Search::new(n);
        sources.for_each(|source| search.from(graph, source, &mut found));
        Ok(found)
    })?;
    if !graph.directed() {
        all.iter_mut().for_each(|x| *x *= 0.5);
    }
    let units = all.split_off(n);
    Ok(Betweenness { nodes: all, units })
}

/// Chunks of sources; part of the order of the sums.
const CHUNKS: usize = 16;

/// Sums of vectors of one length.
pub(super) struct Vectors(pub(super) usize);

impl Monoid for Vectors {
    type Item = Vec<f64>;
    type Acc = Vec<f64>;

    fn unit(&self) -> Vec<f64> {
        vec![0.0; self.0]
    }

    fn lift(&self, x: Vec<f64>) -> Vec<f64> {
        x
    }

    fn push(&self, acc: &mut Vec<f64>, x: Vec<f64>) {
        acc.iter_mut().zip(x).for_each(|(a, x)| *a += x);
    }

    fn combine(&self, mut a: Vec<f64>, b: Vec<f64>) -> Vec<f64> {
        self.push(&mut a, b);
        a
    }
}

/// One breadth-first search and the way back.
struct Search {
    distance: Vec<u32>,
    paths: Vec<f64>,
    behind: Vec<f64>,
    order: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX;

impl Search {
    fn new(n: usize) -> Search {
        Search { distance: vec![UNSEEN; n], paths: vec![0.0; n], behind: vec![0.0; n], order: Vec::with_capacity(n) }
    }

    /// Adds the paths that start at `source` to `found`: nodes first, then units.
    fn from(&mut self, graph: &Graph, source: usize, found: &mut [f64]) {
        self.distance.fill(UNSEEN);
        self.paths.fill(0.0);
        self.behind.fill(0.0);
        self.order.clear();
        (self.distance[source], self.paths[source]) = (0, 1.0);
        self.order.push(source as u32);
        let mut at = 0;
        while at < self.order.len() {
            let i = self.order[at] as usize;
            at += 1;
            for &j in graph.reverse().pattern().row(i) {
                if self.distance[j as usize] == UNSEEN {
                    self.distance[j as usize] = self.distance[i] + 1;
                    self.order.push(j);
                }
                if self.distance[j as usize] == self.distance[i] + 1 {
                    self.paths[j as usize] += self.paths[i];
                }
            }
        }
        let (rows, n) = (graph.rows(), graph.nodes());
        for &i in self.order.iter().skip(1).rev() {
            let i = i as usize;
            let each = (1.0 + self.behind[i]) / self.paths[i];
            for arc in rows.pattern().row_range(i) {
                let j = rows.pattern().columns()[arc] as usize;
                if self.distance[j] != UNSEEN && self.distance[j] + 1 == self.distance[i] {
                    let share = self.paths[j] * each;
                    self.behind[j] += share;
                    found[n + rows.unit()[arc] as usize] += share;
                }
            }
            found[i] += self.behind[i];
        }
    }
}
