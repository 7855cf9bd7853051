//! The stochastic block model (Holland, Laskey, Leinhardt, Social Networks 5, 1983): n nodes in k blocks; two nodes of
//! one block are a pair with probability `in`, two of different blocks with probability `out`, all independently.
//!
//! Node i is in block ⌊i·k/n⌋, which is its label. Row i lists its neighbours j > i in two parts, first those of its own
//! block, then the rest. Inside a part, the gaps between neighbours are geometric: ⌊ln(1 − u) / ln(1 − p)⌋ nodes are
//! skipped (Batagelj, Brandes, Physical Review E 71, 036113, 2005), so the time is O(n + pairs). Every part has random
//! numbers of its own, keyed by (row, part), as the geometric law has no memory.

use super::gaps::Gaps;
use super::spec::{Kind, Parameter, SEED, Values};
use super::{Entry, Generator, Listed, MOST_NODES, Size};
use crate::Result;
use crate::graph::Edge;
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_skeleton::{ChunkPlan, Exec};
use std::ops::Range;

pub(super) const ENTRY: Entry = Entry {
    name: "sbm",
    summary: "stochastic block model: k blocks, pairs inside with probability in, between with probability out",
    example: "sbm:n=1000,k=4,in=0.05,out=0.005",
    parameters: &[
        Parameter { name: "n", meaning: "nodes", kind: Kind::Whole { least: 1, most: MOST_NODES }, default: None },
        Parameter { name: "k", meaning: "blocks", kind: Kind::Whole { least: 1, most: MOST_BLOCKS }, default: None },
        Parameter { name: "in", meaning: "share of the pairs inside a block", kind: Kind::Probability, default: None },
        Parameter { name: "out", meaning: "share of the pairs between blocks", kind: Kind::Probability, default: None },
        SEED,
    ],
    new: |values| Ok(Box::new(Sbm::new(values)?)),
};

/// Labels are of 32 bits with a sign.
const MOST_BLOCKS: u64 = i32::MAX as u64;

/// Second keys of the stream; generators share its purpose, so each has its own.
const INSIDE: u32 = 1 << 8;
const OUTSIDE: u32 = (1 << 8) + 1;

/// Rows that one chunk lists.
const ROWS: usize = 1 << 10;

#[derive(Debug)]
struct Sbm {
    nodes: u64,
    blocks: u64,
    inside: Gaps,
    outside: Gaps,
    seed: u64,
}

impl Sbm {
    fn new(values: &Values) -> Result<Sbm> {
        let (nodes, blocks) = (values.whole("n"), values.whole("k"));
        if blocks > nodes {
            return Err(values.wrong(format!("k must be a whole number from 1 to n, here {nodes}, not {blocks}")));
        }
        let (inside, outside) = (Gaps::new(values.real("in")), Gaps::new(values.real("out")));
        Ok(Sbm { nodes, blocks, inside, outside, seed: values.whole("seed") })
    }

    /// Block of node `i`.
    fn block(&self, i: u64) -> u64 {
        i * self.blocks / self.nodes // below 2^63
    }

    /// First node of block `b`; the number of nodes for b = k.
    fn start(&self, b: u64) -> u64 {
        (b * self.nodes).div_ceil(self.blocks)
    }

    /// Appends the pairs of the rows `rows`, ascending.
    fn rows(&self, stream: &Stream, rows: Range<usize>, edges: &mut Vec<Edge>) -> sapwood_skeleton::Result<()> {
        for row in rows {
            let end = self.start(self.block(row as u64) + 1);
            self.inside.hits(stream, row as u32, INSIDE, row as u64 + 1..end, edges)?;
            self.outside.hits(stream, row as u32, OUTSIDE, end..self.nodes, edges)?;
        }
        Ok(())
    }
}

impl Generator for Sbm {
    fn size(&self) -> Size {
        let pairs = |s: u64| s as f64 * (s as f64 - 1.0) / 2.0;
        // every block has ⌊n/k⌋ nodes or one more
        let (least, larger) = (self.nodes / self.blocks, self.nodes % self.blocks);
        let inside = larger as f64 * pairs(least + 1) + (self.blocks - larger) as f64 * pairs(least);
        let edges = self.inside.p * inside + self.outside.p * (pairs(self.nodes) - inside);
        Size { nodes: self.nodes, edges }
    }

    fn list(&self, exec: Exec<'_>) -> Result<Listed> {
        let stream = Stream::new(self.seed, Purpose::Generate);
        let plan = ChunkPlan::of(self.nodes as usize, ROWS).dynamic();
        let parts = exec.map_chunks(&plan, |_, _, rows| {
            let mut edges = Vec::new();
            self.rows(&stream, rows, &mut edges)?;
            Ok(edges)
        })?;
        let mut edges = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        parts.into_iter().for_each(|part| edges.extend(part));
        let labels = (0..self.nodes).map(|i| self.block(i) as i32).collect();
        Ok(Listed { edges, labels, classes: self.blocks as usize })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_contiguous_and_start_where_they_say() {
        for (nodes, blocks) in [(1, 1), (7, 3), (10, 10), (1000, 7), (64, 5)] {
            let (inside, outside) = (Gaps::new(0.5), Gaps::new(0.5));
            let sbm = Sbm { nodes, blocks, inside, outside, seed: 0 };
            for i in 0..nodes {
                let b = sbm.block(i);
                assert!((sbm.start(b)..sbm.start(b + 1)).contains(&i), "{nodes} {blocks} {i}");
            }
            assert_eq!((sbm.start(0), sbm.start(blocks)), (0, nodes));
            let size = |b| sbm.start(b + 1) - sbm.start(b);
            assert!((0..blocks).all(|b| size(b) == nodes / blocks || size(b) == nodes / blocks + 1));
        }
    }
}
