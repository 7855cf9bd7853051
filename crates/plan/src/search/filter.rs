//! Lower bounds of a makespan from critical paths seen before.
//!
//! A path through the operations has a length that is linear in the durations, and no makespan is below it. So a partition
//! whose length along any known path exceeds what would be accepted need not be simulated; nothing that is accepted or
//! rejected changes by that.

use crate::simulate::path::Path;
use crate::simulate::{Durations, Time};
use sapwood_skeleton::isa;

/// Paths that are kept.
const PATHS: usize = 32;

/// A whole number of ticks, which may be a narrow one.
pub(crate) trait Whole: Time + Ord {
    /// The number, which must fit.
    fn of(ticks: u64) -> Self;
    /// The number.
    fn ticks(self) -> u64;
    /// The number and `count` times `by`; what overflows on the way to a number that fits does no harm.
    fn plus(self, count: u32, by: i64) -> Self;
}

macro_rules! whole {
    ($($number:ty),*) => {
        $(impl Whole for $number {
            #[inline(always)]
            fn of(ticks: u64) -> Self {
                ticks as $number
            }

            #[inline(always)]
            fn ticks(self) -> u64 {
                self.into()
            }

            #[inline(always)]
            fn plus(self, count: u32, by: i64) -> Self {
                self.wrapping_add((count as $number).wrapping_mul(by as $number))
            }
        })*
    };
}
whole!(u32, u64);

/// Known critical paths with their lengths for the durations at hand.
#[derive(Debug, Clone)]
pub(crate) struct Filter<T> {
    /// How often each operation is on each path: by operation, then by path.
    counts: Vec<u32>,
    /// Length of each path, links and tail included.
    lengths: [T; PATHS],
}

impl<T: Whole> Filter<T> {
    /// No path yet, for `operations` durations.
    pub(crate) fn new(operations: usize) -> Filter<T> {
        Filter { counts: vec![0; operations * PATHS], lengths: [T::default(); PATHS] }
    }

    /// The length of the longest known path once durations change by `deltas` (place, change).
    pub(crate) fn longest(&self, deltas: &[(usize, i64)]) -> u64 {
        self.after(deltas).into_iter().fold(T::default(), T::later).ticks()
    }

    fn after(&self, deltas: &[(usize, i64)]) -> [T; PATHS] {
        isa::vectorized(
            #[inline(always)]
            || {
                let mut lengths = self.lengths;
                for &(place, by) in deltas {
                    let counts = &self.counts[place * PATHS..(place + 1) * PATHS];
                    lengths.iter_mut().zip(counts).for_each(|(length, &count)| *length = length.plus(count, by));
                }
                lengths
            },
        )
    }

    /// The durations have changed by `deltas`.
    pub(crate) fn accept(&mut self, deltas: &[(usize, i64)]) {
        self.lengths = self.after(deltas);
    }

    /// Takes a path in, in place of the one that is shortest now; `durations` are those at hand once they change by `deltas`.
    pub(crate) fn learn(&mut self, path: &Path, durations: &Durations<u64>, deltas: &[(usize, i64)]) {
        let at = (0..PATHS).min_by_key(|&at| self.lengths[at]).unwrap_or(0);
        let along = |counts: &[u32], lengths: &[u64]| -> u64 {
            counts.iter().zip(lengths).map(|(&n, &length)| u64::from(n) * length).sum()
        };
        let operations = along(&path.operations, &durations.operations);
        let length = operations + along(&path.links, &durations.links) + durations.tails[path.stage];
        let back = |length: T, &(place, by): &(usize, i64)| length.plus(path.operations[place], -by);
        self.lengths[at] = deltas.iter().fold(T::of(length), back);
        path.operations.iter().enumerate().for_each(|(place, &n)| self.counts[place * PATHS + at] = n);
    }
}
