//! The systematic draw over [`Order::Node`](crate::draw::Order): nodes are ranked, units are never sorted.
//!
//! A node **owns** the units whose other end has a larger rank, so a unit sorts by (rank of its owner, unit), and the
//! units of a row ascend already. The first pass collects what each node owns, with the sum of its quotas; one walk over
//! the ranks turns the sums into each node's place in the line of quotas; the second pass walks what each node owns from
//! there. Both passes go through memory in the order of the nodes, in chunks of about equal degree.

use super::parts::Hash;
use super::ranking::Ranking;
use super::{borders, clear};
use crate::draw::Job;
use crate::draw::quotas::Quota;
use crate::graph::Arcs;
use crate::{BitMask, Graph, Result};
use sapwood_skeleton::{ChunkPlan, per_chunk, spans};

/// Arcs and nodes of a chunk.
const WEIGHT: u64 = 1 << 14;

/// What a draw needs on the way; its storage is reused from draw to draw.
#[derive(Debug, Default)]
pub(in crate::draw) struct Buffers {
    ranking: Ranking,
    /// First node of each chunk, and the number of nodes.
    borders: Vec<u64>,
    /// Where each chunk begins in `owned`; it has room for every unit of its nodes.
    begins: Vec<u64>,
    /// From each chunk's begin: the units its nodes own, node by node; afterwards those of them that go.
    owned: Vec<u32>,
    /// How many units each node owns.
    counts: Vec<u32>,
    /// Sum of the quotas each node owns; afterwards the sum before its first.
    sums: Vec<u64>,
    /// How many units of each chunk go.
    gone: Vec<u64>,
}

impl Buffers {
    fn fit(&mut self, graph: &Graph) {
        let n = graph.nodes();
        let (rows, reverse) = (graph.rows().pattern().offsets(), graph.reverse().pattern().offsets());
        let before = |i: usize| rows[i] + if graph.directed() { reverse[i] } else { 0 };
        borders(n, |i| before(i) + i as u64, WEIGHT, &mut self.borders);
        self.begins.clear();
        self.begins.extend(self.borders.iter().map(|&i| before(i as usize)));
        self.owned.resize(before(n) as usize, 0);
        self.counts.resize(n, 0);
        self.sums.resize(n, 0);
        self.gone.resize(self.borders.len() - 1, 0);
    }

    /// Bytes held.
    pub(in crate::draw) fn bytes(&self) -> usize {
        let words = [&self.borders, &self.begins, &self.sums, &self.gone];
        self.ranking.bytes()
            + 8 * words.iter().map(|w| w.capacity()).sum::<usize>()
            + 4 * (self.owned.capacity() + self.counts.capacity())
    }
}

/// Clears the bits of the units that go; `u` is the uniform of the draw.
pub(super) fn draw(job: &Job<'_>, u: u64, s: &mut Buffers, mask: &mut BitMask) -> Result<()> {
    s.fit(job.graph);
    s.ranking.make(job.exec, Hash::of_key(job.key)?, job.graph.nodes())?;
    match job.quotas.form() {
        Ok(uniform) => passes(job, uniform, u, s)?,
        Err(each) => passes(job, each, u, s)?,
    }
    clear(&s.owned, &s.begins, &s.gone, mask, |&unit| unit);
    Ok(())
}

fn passes(job: &Job<'_>, quotas: impl Quota, u: u64, s: &mut Buffers) -> Result<()> {
    collect(job, quotas, s)?;
    let mut sum = u;
    for node in s.ranking.order() {
        let own = &mut s.sums[node as usize];
        let before = sum;
        sum += *own;
        *own = before;
    }
    walk(job, quotas, s)
}

/// First pass: what each node owns.
fn collect(job: &Job<'_>, quotas: impl Quota, s: &mut Buffers) -> Result<()> {
    let (graph, hashes, borders) = (job.graph, s.ranking.hashes(), &s.borders);
    let plan = ChunkPlan::of(s.gone.len(), 1).dynamic();
    let outputs = (spans(&mut s.owned, &s.begins), spans(&mut s.counts, borders), spans(&mut s.sums, borders));
    job.exec.for_chunks_mut(&plan, outputs, |_, chunk, (owned, counts, sums)| {
        let mut rest = owned;
        let nodes = borders[chunk.start] as u32..borders[chunk.end] as u32;
        for ((node, count), sum) in nodes.zip(counts).zip(sums) {
            let length = owned_by(graph, hashes, node, rest);
            let units;
            (units, rest) = rest.split_at_mut(length);
            (*count, *sum) = (length as u32, quotas.sum(units));
        }
        Ok(())
    })?;
    Ok(())
}

/// Writes the units that `node` owns, ascending, and returns how many they are.
#[inline(always)]
fn owned_by(graph: &Graph, hashes: &[u64], node: u32, out: &mut [u32]) -> usize {
    let row = (graph.rows(), 0, graph.rows().pattern().row(node as usize).len());
    if !graph.directed() {
        return larger_ends(hashes, node, row, out);
    }
    // arcs are numbered row by row, so those into lower nodes come first, then the node's own row, then the others
    let heads = graph.reverse().pattern().row(node as usize);
    let lower = heads.partition_point(|&head| head < node);
    let mut length = 0;
    for part in [(graph.reverse(), 0, lower), row, (graph.reverse(), lower, heads.len())] {
        length += larger_ends(hashes, node, part, &mut out[length..]);
    }
    length
}

/// Writes those units of the entries `from .. to` of a node's row whose other end has a larger rank. Every unit is
/// written to the next free place and the place kept or not: a branch on a random rank would be mispredicted.
#[inline(always)]
fn larger_ends(hashes: &[u64], node: u32, (arcs, from, to): (&Arcs, usize, usize), out: &mut [u32]) -> usize {
    let begin = arcs.pattern().row_range(node as usize).start;
    let range = begin + from..begin + to;
    let own = hashes[node as usize];
    let mut next = 0;
    for (&end, &unit) in arcs.pattern().columns()[range.clone()].iter().zip(&arcs.unit()[range]) {
        if let Some(slot) = out.get_mut(next) {
            *slot = unit;
        }
        let hash = hashes[end as usize];
        next += usize::from((hash > own) | ((hash == own) & (end > node)));
    }
    next
}

/// Second pass: leaves the units of each chunk that go at its begin.
fn walk(job: &Job<'_>, quotas: impl Quota, s: &mut Buffers) -> Result<()> {
    let (borders, counts, starts) = (&s.borders, &s.counts, &s.sums);
    let plan = ChunkPlan::of(s.gone.len(), 1).dynamic();
    let outputs = (spans(&mut s.owned, &s.begins), per_chunk(&mut s.gone));
    job.exec.for_chunks_mut(&plan, outputs, |_, chunk, (owned, gone)| {
        let nodes = borders[chunk.start] as usize..borders[chunk.end] as usize;
        let (mut read, mut next) = (0, 0);
        for (&count, &start) in counts[nodes.clone()].iter().zip(&starts[nodes]) {
            let mut sum = start;
            for at in read..read + count as usize {
                let unit = owned[at];
                let before = sum >> 32;
                sum += quotas.of(unit);
                owned[next] = unit; // never past what was read
                next += usize::from(sum >> 32 > before);
            }
            read += count as usize;
        }
        gone[0] = next as u64;
        Ok(())
    })?;
    Ok(())
}
