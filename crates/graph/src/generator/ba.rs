//! Preferential attachment (Barabási, Albert, Science 286, 1999): nodes come one after the other, and each joins m of
//! the earlier ones, which are chosen with probabilities that go with their degrees.
//!
//! What the paper leaves open is settled as NetworkX settles it: the start is a star of the nodes 0..=m with node 0 in
//! its middle; the m nodes are drawn one by one, a node that is drawn already is drawn again; degrees are those before the
//! new node came. So the graph has exactly m(n − m) pairs. An end of a uniformly drawn edge is a node drawn by its degree
//! (Batagelj, Brandes, Physical Review E 71, 036113, 2005), so the time is O(n·m); the edge list is itself the list of ends.
//! Each node depends on all before it: one thread works. No labels.

use super::spec::{Kind, Parameter, SEED, Values};
use super::{Entry, Generator, Listed, MOST_NODES, Size, below};
use crate::Result;
use crate::graph::Edge;
use sapwood_skeleton::Exec;
use sapwood_skeleton::random::{Purpose, Stream};

pub(super) const ENTRY: Entry = Entry {
    name: "ba",
    summary: "Barabasi-Albert: every new node joins m earlier ones, chosen by their degrees",
    example: "ba:n=10000,m=4",
    parameters: &[
        Parameter { name: "n", meaning: "nodes", kind: Kind::Whole { least: 2, most: MOST_NODES }, default: None },
        Parameter {
            name: "m",
            meaning: "edges that a new node brings, below n",
            kind: Kind::Whole { least: 1, most: MOST_NODES },
            default: None,
        },
        SEED,
    ],
    new: |values| Ok(Box::new(Barabasi::new(values)?)),
};

/// Second key of the stream.
const ATTACH: u32 = 3 << 8;

#[derive(Debug)]
struct Barabasi {
    nodes: u64,
    each: u64,
    seed: u64,
}

impl Barabasi {
    fn new(values: &Values) -> Result<Barabasi> {
        let (nodes, each) = (values.whole("n"), values.whole("m"));
        if each >= nodes {
            return Err(
                values.wrong(format!("m must be a whole number from 1 to n - 1, here {}, not {each}", nodes - 1))
            );
        }
        Ok(Barabasi { nodes, each, seed: values.whole("seed") })
    }
}

impl Generator for Barabasi {
    fn size(&self) -> Size {
        Size { nodes: self.nodes, edges: self.each as f64 * (self.nodes - self.each) as f64 }
    }

    fn list(&self, _: Exec<'_>) -> Result<Listed> {
        let stream = Stream::new(self.seed, Purpose::Generate);
        let edge = |from: u32, to: u32| Edge { from, to, weight: 1.0 };
        let mut edges = Vec::with_capacity((self.each * (self.nodes - self.each)) as usize);
        edges.extend((1..=self.each as u32).map(|leaf| edge(0, leaf)));
        // the node that last chose each node
        let mut chosen_by = vec![0u32; self.nodes as usize];
        for node in self.each as u32 + 1..self.nodes as u32 {
            let (earlier, mut units) = (edges.len(), 0..);
            while edges.len() < earlier + self.each as usize {
                let end = below(&stream, node, ATTACH, &mut units, 2 * earlier as u64)?;
                let Edge { from, to, .. } = edges[(end / 2) as usize];
                let target = if end % 2 == 0 { from } else { to };
                if chosen_by[target as usize] != node {
                    chosen_by[target as usize] = node;
                    edges.push(edge(target, node));
                }
            }
        }
        Ok(Listed { edges, ..Listed::default() })
    }
}
