//! Running chunked work on the workers of a [`crate::Runtime`].
//!
//! Whatever the number of threads and the schedule, results have the same bits: a plan depends on data only, outputs are
//! placed by index, and reductions follow the fixed tree. A panic in a chunk becomes [`Error::Panicked`]; the remaining
//! chunks are skipped and the workers stay usable. Of the errors that did happen the one of the lowest chunk is returned.

use crate::fixed_tree::{AlignedTree, fold_chunk};
use crate::pool::Pool;
use crate::pool::arena::Arena;
use crate::pool::parts::{Parts, fill_by, per_chunk, rows};
use crate::{ChunkPlan, Error, Monoid, Result};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The workers of this process, or some of them. Cheap to copy and to pass on.
#[derive(Clone, Copy)]
pub struct Exec<'r> {
    pool: &'r Pool,
    threads: usize,
}

impl std::fmt::Debug for Exec<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exec").field("threads", &self.threads).finish()
    }
}

/// What a chunk knows of the worker that runs it.
#[derive(Debug)]
pub struct Worker<'w> {
    index: usize,
    arena: &'w mut Arena,
}

impl Worker<'_> {
    /// Number of the worker, for telling scratch apart; a result must never depend on it.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Scratch memory that ends with the chunk.
    pub fn arena(&self) -> &Arena {
        self.arena
    }
}

impl<'r> Exec<'r> {
    pub(crate) fn new(pool: &'r Pool) -> Exec<'r> {
        Exec { pool, threads: pool.threads() }
    }

    /// Number of workers that may be used.
    pub fn threads(self) -> usize {
        self.threads
    }

    /// The same workers, but at most `n` of them (at least one).
    pub fn limit(self, n: usize) -> Exec<'r> {
        Exec { threads: self.threads.min(n).max(1), ..self }
    }

    /// Runs `f(worker, chunk, items)` on every chunk.
    ///
    /// # Errors
    /// What a chunk returned, or [`Error::Panicked`].
    pub fn for_chunks(
        self,
        plan: &ChunkPlan,
        f: impl Fn(&mut Worker<'_>, usize, Range<usize>) -> Result<()> + Sync,
    ) -> Result<()> {
        let chunks = plan.chunks();
        let workers = plan.workers(self.threads);
        let failure = Failure::default();
        let next = AtomicUsize::new(0);
        self.pool.run(workers, &|index| {
            self.pool.with_arena(index, |arena| {
                let mut worker = Worker { index, arena };
                let mut one = |chunk| {
                    failure.guard(chunk, plan.range(chunk), || f(&mut worker, chunk, plan.range(chunk)));
                    worker.arena.reset();
                };
                // A nested call has one worker whatever was asked for, so ranges are claimed, not assumed.
                loop {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    let range = if plan.is_dynamic() { turn..turn + 1 } else { share(chunks, workers, turn) };
                    if range.start >= chunks || failure.happened() {
                        return;
                    }
                    for chunk in range {
                        if failure.happened() {
                            return;
                        }
                        one(chunk);
                    }
                }
            });
        });
        failure.into_result()
    }

    /// Runs `f(worker, items, part)` on every chunk, where `part` is the chunk's own part of mutable data:
    /// [`crate::rows`], [`crate::spans`], [`crate::per_chunk`], or a tuple of these.
    ///
    /// # Errors
    /// [`Error::Shape`] if the data does not fit the plan, what a chunk returned, or [`Error::Panicked`].
    pub fn for_chunks_mut<P: Parts>(
        self,
        plan: &ChunkPlan,
        parts: P,
        f: impl Fn(&mut Worker<'_>, Range<usize>, P::Part) -> Result<()> + Sync,
    ) -> Result<()> {
        parts.check(plan)?;
        self.for_chunks(plan, |worker, chunk, range| {
            let part = crate::pool::parts::take(&parts, chunk, range.clone());
            f(worker, range, part)
        })
    }

    /// The values of `f(worker, chunk, items)`, in the order of the chunks.
    ///
    /// # Errors
    /// What a chunk returned, or [`Error::Panicked`].
    pub fn map_chunks<R: Send>(
        self,
        plan: &ChunkPlan,
        f: impl Fn(&mut Worker<'_>, usize, Range<usize>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let mut slots: Vec<Option<R>> = (0..plan.chunks()).map(|_| None).collect();
        let numbers = per_chunk(&mut slots);
        numbers.check(plan)?;
        self.for_chunks(plan, |worker, chunk, range| {
            let slot = crate::pool::parts::take(&numbers, chunk, range.clone());
            slot[0] = Some(f(worker, chunk, range)?);
            Ok(())
        })?;
        Ok(slots.into_iter().flatten().collect())
    }

    /// Combines the values of the chunks in the aligned tree; the unit if there are none.
    ///
    /// # Errors
    /// What a chunk returned, or [`Error::Panicked`].
    pub fn reduce_chunks<M: Monoid>(
        self,
        plan: &ChunkPlan,
        monoid: &M,
        f: impl Fn(&mut Worker<'_>, usize, Range<usize>) -> Result<M::Acc> + Sync,
    ) -> Result<M::Acc> {
        self.reduce_some(plan, monoid, |worker, chunk, range| f(worker, chunk, range).map(Some))
    }

    /// ⊕ of `at(0)`, …, `at(n − 1)` in the fixed tree of [`crate::fixed_tree`].
    ///
    /// # Errors
    /// [`Error::Panicked`] if `at` panics.
    pub fn reduce<M: Monoid>(self, n: usize, monoid: &M, at: impl Fn(usize) -> M::Item + Sync) -> Result<M::Acc> {
        let plan = ChunkPlan::even(n).work(crate::Work { flops: 4.0, bytes: 8.0 });
        self.reduce_some(&plan, monoid, |_, _, range| Ok(fold_chunk(monoid, range, &at)))
    }

    fn reduce_some<M: Monoid>(
        self,
        plan: &ChunkPlan,
        monoid: &M,
        f: impl Fn(&mut Worker<'_>, usize, Range<usize>) -> Result<Option<M::Acc>> + Sync,
    ) -> Result<M::Acc> {
        let combine = |a, b| monoid.combine(a, b);
        // Groups of chunks hand up the few blocks that tile them, so memory is O(threads · log chunks).
        let (chunks, groups) = (plan.chunks(), plan.workers(self.threads));
        let border = |group| match share(chunks, groups, group).start {
            first if first < chunks => plan.range(first).start as u64,
            _ => plan.items() as u64,
        };
        // Borders in items, so that an error names items.
        let group_plan = ChunkPlan::borders((0..=groups).map(border).collect())?;
        let blocks = self.map_chunks(&group_plan, |worker, group, _| {
            let mut tree = AlignedTree::new();
            for chunk in share(chunks, groups, group) {
                if let Some(value) = f(worker, chunk, plan.range(chunk))? {
                    tree.push_one(chunk, value, combine);
                }
                worker.arena.reset();
            }
            Ok(tree.into_blocks())
        })?;
        let mut tree = AlignedTree::new();
        for block in blocks.into_iter().flatten() {
            tree.push(block, combine);
        }
        Ok(tree.finish(combine).unwrap_or_else(|| monoid.unit()))
    }

    /// Replaces counts by their exclusive prefix sums and returns the total.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] if the total passes 2^64 − 1; the counts are then unspecified.
    pub fn scan_counts(self, counts: &mut [u64]) -> Result<u64> {
        const SERIAL: usize = 1 << 16;
        if counts.len() <= SERIAL || self.threads == 1 {
            return scan_from(counts, 0, 0);
        }
        let plan = ChunkPlan::of(counts.len(), SERIAL);
        let shared: &[u64] = counts;
        let mut offsets = self.map_chunks(&plan, |_, _, range| {
            let start = range.start;
            shared[range]
                .iter()
                .enumerate()
                .try_fold(0u64, |sum, (i, &c)| sum.checked_add(c).ok_or(Error::CountOverflow { index: start + i }))
        })?;
        let total = scan_from(&mut offsets, 0, 0)?;
        let offsets = &offsets;
        self.for_chunks_mut(&plan, rows(counts, 1), |_, range, part| {
            scan_from(part, offsets[range.start / SERIAL], range.start).map(|_| ())
        })?;
        Ok(total)
    }

    /// Runs both closures, at the same time where there are two workers.
    ///
    /// # Errors
    /// [`Error::Panicked`] if one panics.
    pub fn join<A: Send, B: Send>(self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> Result<(A, B)> {
        let (a, b) = (Mutex::new(Some(a)), Mutex::new(Some(b)));
        let (mut out_a, mut out_b) = (Mutex::new(None), Mutex::new(None));
        self.for_chunks(&ChunkPlan::of(2, 1), |_, chunk, _| {
            if chunk == 0 {
                once(&a, &out_a);
            } else {
                once(&b, &out_b);
            }
            Ok(())
        })?;
        let missing = || Error::Panicked { range: 0..2, message: "a joined closure gave no value".into() };
        let a = out_a.get_mut().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(missing)?;
        let b = out_b.get_mut().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(missing)?;
        Ok((a, b))
    }

    /// Replaces the content of `out` by `f(0)`, …, `f(n − 1)`, each first touched by the worker that makes it.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is none, [`Error::Panicked`] if `f` panics; `out` is then empty.
    pub fn fill<T: Send>(self, out: &mut Vec<T>, n: usize, f: impl Fn(usize) -> T + Sync) -> Result<()> {
        let plan = ChunkPlan::even(n);
        fill_by(out, n, |slots| {
            self.for_chunks_mut(&plan, slots, |_, range, part| {
                for (slot, i) in part.iter_mut().zip(range) {
                    slot.write(f(i));
                }
                Ok(())
            })
        })
    }
}

/// Runs the closure in `task` and leaves its value in `out`.
fn once<R>(task: &Mutex<Option<impl FnOnce() -> R>>, out: &Mutex<Option<R>>) {
    let task = task.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(task) = task {
        let value = task();
        *out.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }
}

/// The contiguous range of `chunks` that is share `index` of `shares`; empty beyond the last.
fn share(chunks: usize, shares: usize, index: usize) -> Range<usize> {
    let at = |i: usize| ((chunks as u128 * i.min(shares) as u128) / shares as u128) as usize;
    if index >= shares { chunks..chunks } else { at(index)..at(index + 1) }
}

/// Exclusive prefix sums from `start`; `first` is the index of the first count, for the error.
fn scan_from(counts: &mut [u64], start: u64, first: usize) -> Result<u64> {
    let mut sum = start;
    for (i, count) in counts.iter_mut().enumerate() {
        let before = sum;
        sum = sum.checked_add(*count).ok_or(Error::CountOverflow { index: first + i })?;
        *count = before;
    }
    Ok(sum)
}

/// The first thing that went wrong, by chunk number.
#[derive(Default)]
struct Failure {
    flag: AtomicBool,
    first: Mutex<Option<(usize, Error)>>,
}

impl Failure {
    fn happened(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Runs one chunk; keeps its error or its panic.
    fn guard(&self, chunk: usize, range: Range<usize>, f: impl FnOnce() -> Result<()>) {
        let error = match catch_unwind(AssertUnwindSafe(f)) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(payload) => Error::Panicked { range, message: panic_text(payload.as_ref()) },
        };
        self.flag.store(true, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(c, _)| chunk < *c) {
            *first = Some((chunk, error));
        }
    }

    fn into_result(self) -> Result<()> {
        match self.first.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(s) = payload.downcast_ref::<&str>() {
        (*s).to_owned()
    } else if let Some(s) = payload.downcast_ref::<String>() {
        s.clone()
    } else {
        "a value that is no text".to_owned()
    }
}
