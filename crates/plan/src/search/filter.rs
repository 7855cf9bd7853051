//! Lower bounds of a makespan from critical paths seen before.
//!
//! A path through the operations has a length that is linear in the durations, and no makespan is below it. So a partition
//! whose length along any known path exceeds what would be accepted need not be simulated; nothing that is accepted or
//! rejected changes by that.

use crate::simulate::Durations;
use crate::simulate::path::Path;

/// Paths that are kept.
const PATHS: usize = 32;

/// Known critical paths with their lengths for the durations at hand.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    /// How often each operation is on each path: by operation, then by path.
    counts: Vec<u32>,
    /// Length of each path, links and tail included.
    lengths: Vec<u64>,
    scratch: Vec<i64>,
}

impl Filter {
    /// No path yet, for `operations` durations.
    pub(crate) fn new(operations: usize) -> Filter {
        Filter { counts: vec![0; operations * PATHS], lengths: vec![0; PATHS], scratch: vec![0; PATHS] }
    }

    /// Whether a known path is longer than `most` once durations change by `deltas` (place, change).
    pub(crate) fn exceeds(&mut self, deltas: &[(usize, i64)], most: u64) -> bool {
        self.move_by(deltas);
        self.lengths.iter().zip(&self.scratch).any(|(&length, &by)| length.wrapping_add_signed(by) > most)
    }

    fn move_by(&mut self, deltas: &[(usize, i64)]) {
        self.scratch.fill(0);
        for &(place, delta) in deltas {
            let counts = &self.counts[place * PATHS..(place + 1) * PATHS];
            self.scratch.iter_mut().zip(counts).for_each(|(by, &count)| *by += i64::from(count) * delta);
        }
    }

    /// The durations have changed by `deltas`.
    pub(crate) fn accept(&mut self, deltas: &[(usize, i64)]) {
        self.move_by(deltas);
        self.lengths.iter_mut().zip(&self.scratch).for_each(|(length, &by)| *length = length.wrapping_add_signed(by));
    }

    /// Takes a path in, in place of the one that is shortest now; `durations` are those at hand.
    pub(crate) fn learn(&mut self, path: &Path, durations: &Durations<u64>) {
        let at = (0..PATHS).min_by_key(|&at| self.lengths[at]).unwrap_or(0);
        let along = |counts: &[u32], lengths: &[u64]| -> u64 {
            counts.iter().zip(lengths).map(|(&n, &length)| u64::from(n) * length).sum()
        };
        let operations = along(&path.operations, &durations.operations);
        self.lengths[at] = operations + along(&path.links, &durations.links) + durations.tails[path.stage];
        path.operations.iter().enumerate().for_each(|(place, &n)| self.counts[place * PATHS + at] = n);
    }
}
