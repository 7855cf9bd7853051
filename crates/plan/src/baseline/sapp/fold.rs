//! What a stage with several chunks can do within a T: for each number of layers the least extra time.
//!
//! T bounds the longest forward of a chunk and the longest backward of a chunk together. For a given longest forward each
//! chunk has a budget of time of its own, and only memory is shared; so chunks are added one after the other, keeping the
//! pairs of extra time and memory of which no other one is better in both.

use super::super::{Nodes, Spent};
use super::front::Fronts;
use std::collections::BTreeMap;

/// Numbers of layers of each piece as one number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    sizes: Vec<usize>,
}

impl Grid {
    /// The grid up to `counts`; none if it is too large.
    pub(super) fn new(counts: &[usize]) -> Option<Grid> {
        let sizes: Vec<usize> = counts.iter().map(|count| count + 1).collect();
        let len = sizes.iter().try_fold(1usize, |len, &size| len.checked_mul(size))?;
        (len <= 1 << 24).then_some(Grid { sizes })
    }

    /// Places of the grid; the last one has all layers.
    pub(super) fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The place with some layers more; none beyond the counts.
    pub(super) fn add(&self, place: usize, layers: &[usize]) -> Option<usize> {
        let (mut step, mut sum, mut rest) = (1, place, place);
        for (&size, &more) in self.sizes.iter().zip(layers) {
            if rest % size + more >= size {
                return None;
            }
            sum += more * step;
            (rest, step) = (rest / size, step * size);
        }
        Some(sum)
    }

    /// The numbers of a place.
    pub(super) fn layers(&self, mut place: usize) -> Vec<usize> {
        let digit = |&size: &usize| {
            let digit = place % size;
            place /= size;
            digit
        };
        self.sizes.iter().map(digit).collect()
    }
}

/// Layers that a chunk may have.
#[derive(Debug, Clone)]
pub(super) struct Load {
    /// Of each piece.
    pub(super) layers: Vec<usize>,
    pub(super) forward: u64,
    /// Without recomputation.
    pub(super) backward: u64,
    /// Memory besides their activations.
    pub(super) memory: u64,
    /// Their front.
    pub(super) front: usize,
}

/// The loads of a chunk.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    pub(super) loads: Vec<Load>,
    pub(super) in_flight: u64,
}

/// What some chunks take together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum {
    pub(super) extra: u64,
    memory: u64,
    /// Layers and place of the chunks before.
    before: (usize, usize),
    /// Load of the last chunk, and the point of its front.
    load: (usize, usize),
}

/// By layers, what the first chunks can do.
type Level = BTreeMap<usize, Vec<Sum>>;

/// A stage within a T.
pub(super) struct Stage<'a> {
    pub(super) chunks: &'a [Chunk],
    pub(super) fronts: &'a Fronts<'a>,
    pub(super) grid: &'a Grid,
    pub(super) constant: u64,
    pub(super) cap: u64,
    pub(super) most: u64,
}

impl Stage<'_> {
    /// The longest forwards that can make a difference.
    pub(super) fn forwards(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.chunks.iter().flat_map(|c| c.loads.iter().map(|load| load.forward)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The levels after each chunk where no forward is longer than `forward`. Without `whole` only the least memory is kept
    /// of what each number of layers can do: enough to know whether it can be.
    pub(super) fn levels(&self, forward: u64, whole: bool, nodes: &mut Nodes) -> Result<Vec<Level>, Spent> {
        let start = Sum { extra: 0, memory: self.constant, before: (0, 0), load: (0, 0) };
        let mut levels = vec![Level::from([(0, vec![start])])];
        for chunk in self.chunks {
            let next = self.next(&levels[levels.len() - 1], chunk, forward, whole, nodes)?;
            levels.push(next);
        }
        Ok(levels)
    }

    fn next(&self, level: &Level, chunk: &Chunk, forward: u64, whole: bool, nodes: &mut Nodes) -> Result<Level, Spent> {
        let mut next = Level::new();
        for (at, load) in chunk.loads.iter().enumerate().filter(|(_, load)| load.forward <= forward) {
            let Some(time) = self.most.checked_sub(forward + load.backward) else { continue };
            let points = &self.fronts.at(load.front).points;
            let end = points.partition_point(|point| point.extra <= time);
            let begin = if whole { 0 } else { end.saturating_sub(1) };
            for (&total, sums) in level {
                nodes.spend(1 + sums.len() * (end - begin))?;
                let Some(total_then) = self.grid.add(total, &load.layers) else { continue };
                let with = |(place, sum): (usize, &Sum)| {
                    let both = points[begin..end].iter().enumerate().map(move |(point, other)| (point + begin, *other));
                    let sum = *sum;
                    both.map(move |(point, other)| Sum {
                        extra: sum.extra + other.extra,
                        memory: sum.memory + load.memory + chunk.in_flight * other.activation,
                        before: (total, place),
                        load: (at, point),
                    })
                };
                let all = sums.iter().enumerate().flat_map(with).filter(|sum| sum.memory <= self.cap);
                let mut all = all.peekable();
                if all.peek().is_some() {
                    next.entry(total_then).or_default().extend(all);
                }
            }
        }
        next.values_mut().for_each(|sums| undominated(sums, whole));
        Ok(next)
    }

    /// The loads and points of all chunks that lead to a sum of the last level.
    pub(super) fn trace(&self, levels: &[Level], total: usize, place: usize) -> Vec<(usize, usize)> {
        let (mut at, mut loads) = ((total, place), Vec::new());
        for level in levels.iter().skip(1).rev() {
            let sum = level[&at.0][at.1];
            loads.push(sum.load);
            at = sum.before;
        }
        loads.reverse();
        loads
    }
}

/// Keeps what no other sum beats in extra time and memory; without `whole` the least memory only.
fn undominated(sums: &mut Vec<Sum>, whole: bool) {
    if !whole {
        let least = sums.iter().copied().min_by_key(|sum| (sum.memory, *sum));
        sums.clear();
        sums.extend(least);
        return;
    }
    sums.sort_unstable();
    let mut least = u64::MAX;
    sums.retain(|sum| {
        let better = sum.memory < least;
        least = least.min(sum.memory);
        better
    });
}
