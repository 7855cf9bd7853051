//! How work is cut into chunks: by the data alone, never by the number of threads.

use crate::fixed_tree::chunk_length;
use crate::{Error, Result, Work};
use std::ops::Range;

/// A cut of `items` into consecutive chunks, and how the chunks are handed to workers.
///
/// The schedule changes time, never results: results are placed by index.
#[derive(Debug, Clone)]
pub struct ChunkPlan {
    cuts: Cuts,
    dynamic: bool,
    work: Option<Work>,
}

#[derive(Debug, Clone)]
enum Cuts {
    Even { items: usize, length: usize },
    Borders(Vec<u64>),
}

impl ChunkPlan {
    /// Chunks of the length of the fixed tree, [`chunk_length`].
    pub fn even(items: usize) -> ChunkPlan {
        ChunkPlan::of(items, chunk_length(items))
    }

    /// Chunks of `length` items (at least 1), the last one shorter.
    pub fn of(items: usize, length: usize) -> ChunkPlan {
        ChunkPlan { cuts: Cuts::Even { items, length: length.max(1) }, dynamic: false, work: None }
    }

    /// Chunks of about `target` weight (at least 1), where `prefix` holds n + 1 ascending prefix sums of the items'
    /// weights, as the offsets of CSR do. A chunk ends with the item that reaches the target.
    ///
    /// # Errors
    /// [`Error::Borders`] if the sums descend.
    pub fn by_weight(prefix: &[u64], target: u64) -> Result<ChunkPlan> {
        ascend(prefix, 1)?;
        let target = target.max(1);
        let items = prefix.len().saturating_sub(1);
        let mut borders = vec![0];
        let mut at = 0;
        while at < items {
            let goal = prefix[at].saturating_add(target);
            at += prefix[at + 1..items].partition_point(|&p| p < goal) + 1;
            borders.push(at as u64);
        }
        ChunkPlan::borders(borders)
    }

    /// Chunks between the given borders, which start at 0 and end with the number of items; equal neighbours make empty
    /// chunks. An empty list covers no items.
    ///
    /// # Errors
    /// [`Error::Borders`] if they do not ascend from 0.
    pub fn borders(borders: Vec<u64>) -> Result<ChunkPlan> {
        let mut plan = ChunkPlan { cuts: Cuts::Borders(borders), dynamic: false, work: None };
        plan.set_borders(|_| ())?;
        Ok(plan)
    }

    /// Writes new borders into the storage of this plan: `fill` gets the old list.
    ///
    /// # Errors
    /// [`Error::Borders`] if they do not ascend from 0; the plan then covers no items.
    pub fn set_borders(&mut self, fill: impl FnOnce(&mut Vec<u64>)) -> Result<()> {
        let mut borders = match &mut self.cuts {
            Cuts::Borders(borders) => std::mem::take(borders),
            Cuts::Even { .. } => Vec::new(),
        };
        self.cuts = Cuts::Borders(Vec::new());
        fill(&mut borders);
        if let Some(&first) = borders.first().filter(|&&b| b != 0) {
            return Err(Error::Borders { index: 0, value: first, before: 0 });
        }
        ascend(&borders, 1)?;
        self.cuts = Cuts::Borders(borders);
        Ok(())
    }

    /// Chunks are handed out one by one, in order, to whoever is free. The default gives each worker one contiguous range.
    pub fn dynamic(mut self) -> ChunkPlan {
        self.dynamic = true;
        self
    }

    /// The work of one item. Where running in parallel would not pay, the caller's thread does it alone.
    pub fn work(mut self, per_item: Work) -> ChunkPlan {
        self.work = Some(per_item);
        self
    }

    /// Number of items covered.
    pub fn items(&self) -> usize {
        match &self.cuts {
            Cuts::Even { items, .. } => *items,
            Cuts::Borders(b) => b.last().map_or(0, |&b| b as usize),
        }
    }

    /// Number of chunks.
    pub fn chunks(&self) -> usize {
        match &self.cuts {
            Cuts::Even { items, length } => items.div_ceil(*length),
            Cuts::Borders(b) => b.len().saturating_sub(1),
        }
    }

    /// The items of chunk `chunk` < [`chunks`](ChunkPlan::chunks).
    pub fn range(&self, chunk: usize) -> Range<usize> {
        match &self.cuts {
            Cuts::Even { items, length } => {
                let start = chunk.saturating_mul(*length).min(*items);
                start..start.saturating_add(*length).min(*items)
            }
            Cuts::Borders(b) => b[chunk] as usize..b[chunk + 1] as usize,
        }
    }

    pub(crate) fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// How many of `threads` workers are worth using: all or one.
    ///
    /// One core is taken to do 4 Gflop/s and to move 8 GB/s, a fork and a join to cost 1.5 µs each; parallel must be
    /// predicted below 0.9 of sequential. A machine file with measured rates is not consulted yet.
    pub(crate) fn workers(&self, threads: usize) -> usize {
        let threads = threads.min(self.chunks()).max(1);
        let Some(work) = self.work else { return threads };
        let sequential = self.items() as f64 * (work.flops / 4e9).max(work.bytes / 8e9);
        let parallel = sequential / threads as f64 + 2.0 * 1.5e-6;
        if parallel < 0.9 * sequential { threads } else { 1 }
    }
}

/// Checks that `values[from..]` do not descend.
fn ascend(values: &[u64], from: usize) -> Result<()> {
    for index in from..values.len() {
        let (before, value) = (values[index - 1], values[index]);
        if value < before {
            return Err(Error::Borders { index, value, before });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(plan: &ChunkPlan) -> Vec<Range<usize>> {
        (0..plan.chunks()).map(|i| plan.range(i)).collect()
    }

    #[test]
    fn chunks_tile_the_items() {
        for n in [0usize, 1, 7, 511, 512, 513, 4097] {
            for plan in [ChunkPlan::even(n), ChunkPlan::of(n, 3), ChunkPlan::of(n, 0)] {
                let mut next = 0;
                for r in ranges(&plan) {
                    assert_eq!(r.start, next);
                    assert!(r.end > r.start);
                    next = r.end;
                }
                assert_eq!((next, plan.items()), (n, n));
            }
        }
    }

    #[test]
    fn weights_are_cut_at_the_target() {
        let plan = ChunkPlan::by_weight(&[0, 5, 6, 7, 20, 20, 21], 7).unwrap();
        assert_eq!(ranges(&plan), [0..3, 3..4, 4..6]);
        assert_eq!(ChunkPlan::by_weight(&[0], 7).unwrap().chunks(), 0);
        assert_eq!(ChunkPlan::by_weight(&[], 7).unwrap().items(), 0);
        assert_eq!(ChunkPlan::by_weight(&[0, 0, 0], 7).unwrap().range(0), 0..2);
        assert!(matches!(ChunkPlan::by_weight(&[0, 3, 2], 1), Err(Error::Borders { index: 2, .. })));
    }

    #[test]
    fn borders_must_ascend_from_zero() {
        assert!(matches!(ChunkPlan::borders(vec![1, 2]), Err(Error::Borders { index: 0, .. })));
        assert!(matches!(ChunkPlan::borders(vec![0, 2, 1]), Err(Error::Borders { index: 2, .. })));
        let mut plan = ChunkPlan::borders(vec![0, 2, 2, 5]).unwrap();
        assert_eq!(ranges(&plan), [0..2, 2..2, 2..5]);
        plan.set_borders(|b| b[3] = 9).unwrap();
        assert_eq!(plan.items(), 9);
    }

    #[test]
    fn small_work_stays_with_the_caller() {
        let light = Work { flops: 2.0, bytes: 8.0 };
        assert_eq!(ChunkPlan::even(2000).work(light).workers(2), 1);
        assert_eq!(ChunkPlan::even(10_000_000).work(light).workers(2), 2);
        assert_eq!(ChunkPlan::even(1).workers(8), 1);
    }
}
