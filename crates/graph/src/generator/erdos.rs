//! Random graphs without structure (Gilbert, Annals of Mathematical Statistics 30, 1959; Erdős, Rényi, Publicationes
//! Mathematicae 6, 1959): `p` makes G(n, p), in which every pair is there with probability p, independently; `m` makes
//! G(n, m), m different pairs, every set of m pairs as likely as any other.
//!
//! G(n, p) finds the pairs of a row by geometric gaps, in time O(n + pairs). G(n, m) draws numbers of pairs until m
//! different ones are there: as many as are missing, then, repeats thrown away, as many as are still missing, and so on,
//! which is the same as one after the other. If m is more than half of all pairs, those that are *not* there are drawn.
//! No labels.

use super::gaps::Gaps;
use super::spec::{Kind, Parameter, SEED, UNSET, Values};
use super::{Entry, Generator, Listed, MOST_NODES, Size, below};
use crate::Result;
use crate::graph::Edge;
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_skeleton::{ChunkPlan, Exec};

pub(super) const ENTRY: Entry = Entry {
    name: "erdos",
    summary: "Erdos-Renyi: every pair with probability p, or exactly m pairs",
    example: "erdos:n=10000,p=0.001",
    parameters: &[
        Parameter { name: "n", meaning: "nodes", kind: Kind::Whole { least: 1, most: MOST_NODES }, default: None },
        Parameter { name: "p", meaning: "share of all pairs; or m", kind: Kind::Probability, default: Some(UNSET) },
        Parameter {
            name: "m",
            meaning: "number of pairs; or p",
            kind: Kind::Whole { least: 0, most: u32::MAX as u64 },
            default: Some(UNSET),
        },
        SEED,
    ],
    new: |values| Ok(Box::new(Erdos::new(values)?)),
};

/// Second keys of the stream.
const ROW: u32 = 4 << 8;
const PAIR: u32 = 5 << 8;

/// Rows that one chunk lists.
const ROWS: usize = 1 << 10;

#[derive(Debug)]
struct Erdos {
    nodes: u64,
    law: Law,
    seed: u64,
}

#[derive(Debug)]
enum Law {
    Probability(Gaps),
    Count(u64),
}

/// Pairs of `nodes` nodes.
fn all_pairs(nodes: u64) -> u64 {
    nodes * (nodes - 1) / 2 // below 2^63
}

impl Erdos {
    fn new(values: &Values) -> Result<Erdos> {
        let nodes = values.whole("n");
        let law = match (values.has("p"), values.has("m")) {
            (true, false) => Law::Probability(Gaps::new(values.real("p"))),
            (false, true) => Law::Count(values.whole("m")),
            (true, true) => return Err(values.wrong("p and m are both set, set one of them")),
            (false, false) => {
                return Err(values.wrong("neither p nor m is set, as in erdos:n=100,p=0.1 or erdos:n=100,m=500"));
            }
        };
        if let Law::Count(count) = law
            && count > all_pairs(nodes)
        {
            let all = all_pairs(nodes);
            return Err(values.wrong(format!("m must be at most {all}, the pairs of {nodes} nodes, not {count}")));
        }
        Ok(Erdos { nodes, law, seed: values.whole("seed") })
    }

    fn by_gaps(&self, gaps: &Gaps, exec: Exec<'_>) -> Result<Vec<Edge>> {
        let stream = Stream::new(self.seed, Purpose::Generate);
        let plan = ChunkPlan::of(self.nodes as usize, ROWS).dynamic();
        let parts = exec.map_chunks(&plan, |_, _, rows| {
            let mut edges = Vec::new();
            for row in rows {
                gaps.hits(&stream, row as u32, ROW, row as u64 + 1..self.nodes, &mut edges)?;
            }
            Ok(edges)
        })?;
        Ok(parts.concat())
    }

    /// `count` different numbers below the number of all pairs, ascending.
    fn distinct(&self, count: u64) -> Result<Vec<u64>> {
        let stream = Stream::new(self.seed, Purpose::Generate);
        let all = all_pairs(self.nodes);
        let (mut found, mut units) = (Vec::with_capacity(count as usize), 0..);
        while (found.len() as u64) < count {
            for _ in found.len() as u64..count {
                found.push(below(&stream, 0, PAIR, &mut units, all)?);
            }
            found.sort_unstable();
            found.dedup();
        }
        Ok(found)
    }

    fn by_count(&self, count: u64) -> Result<Vec<Edge>> {
        let all = all_pairs(self.nodes);
        if count <= all / 2 {
            return Ok(self.pairs(self.distinct(count)?.into_iter()));
        }
        let mut missing = self.distinct(all - count)?.into_iter().peekable();
        let there = (0..all).filter(|&number| missing.next_if_eq(&number).is_none());
        Ok(self.pairs(there))
    }

    /// The pairs of ascending numbers; pairs are numbered row by row, (0, 1), (0, 2), …
    fn pairs(&self, numbers: impl Iterator<Item = u64>) -> Vec<Edge> {
        let (mut row, mut first) = (0, 0);
        let pair = |number: u64| {
            while number - first >= self.nodes - 1 - row {
                first += self.nodes - 1 - row;
                row += 1;
            }
            Edge { from: row as u32, to: (row + 1 + number - first) as u32, weight: 1.0 }
        };
        numbers.map(pair).collect()
    }
}

impl Generator for Erdos {
    fn size(&self) -> Size {
        let edges = match &self.law {
            Law::Probability(gaps) => gaps.p * all_pairs(self.nodes) as f64,
            Law::Count(count) => *count as f64,
        };
        Size { nodes: self.nodes, edges }
    }

    fn list(&self, exec: Exec<'_>) -> Result<Listed> {
        let edges = match &self.law {
            Law::Probability(gaps) => self.by_gaps(gaps, exec)?,
            Law::Count(count) => self.by_count(*count)?,
        };
        Ok(Listed { edges, ..Listed::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_numbered_row_by_row() {
        let erdos = Erdos { nodes: 5, law: Law::Count(0), seed: 0 };
        let pairs: Vec<(u32, u32)> = erdos.pairs(0..10).iter().map(|e| (e.from, e.to)).collect();
        let rows = (0..5).flat_map(|u| (u + 1..5).map(move |v| (u, v)));
        assert_eq!(pairs, rows.collect::<Vec<_>>());
        let some: Vec<(u32, u32)> = erdos.pairs([0, 3, 9].into_iter()).iter().map(|e| (e.from, e.to)).collect();
        assert_eq!(some, [(0, 1), (0, 4), (3, 4)]);
    }
}
