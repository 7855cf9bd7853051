//! What gathering alone takes: rows are read at the places of patterns and added up, and the sums written. A lower bound
//! that no peer gives: whatever computes the same products reads the same rows.
//!
//! A bound takes its turns as a contender and is not compared: it computes nothing of interest.

use std::ops::AddAssign;

use sapwood_skeleton::{ChunkPlan, Exec, isa, rows};

use super::contest::{BoxError, Job};

/// Rows that a worker takes at a time.
const ROWS: usize = 256;

/// Numbers of a row that are added up together.
const BLOCK: usize = 64;

/// Name of the system.
pub(crate) const NAME: &str = "gather-loop";

/// Which rows are added up for each result.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    /// Rows that there are to read.
    sources: usize,
}

impl Pattern {
    /// The pattern of `lists`, which name rows below `sources`.
    pub(crate) fn new<'a>(sources: usize, lists: impl Iterator<Item = &'a [u32]>) -> Pattern {
        let mut pattern = Pattern { offsets: vec![0], columns: Vec::new(), sources };
        for list in lists {
            pattern.columns.extend_from_slice(list);
            pattern.offsets.push(pattern.columns.len());
        }
        pattern
    }

    /// The pattern that reads row i for result j where this one reads row j for result i.
    pub(crate) fn transposed(&self) -> Pattern {
        let results = self.offsets.len() - 1;
        let mut offsets = vec![0; self.sources + 1];
        self.columns.iter().for_each(|&c| offsets[c as usize + 1] += 1);
        (0..self.sources).for_each(|c| offsets[c + 1] += offsets[c]);
        let (mut next, mut columns) = (offsets.clone(), vec![0; self.columns.len()]);
        for row in 0..results {
            for &c in &self.columns[self.offsets[row]..self.offsets[row + 1]] {
                columns[next[c as usize]] = row as u32;
                next[c as usize] += 1;
            }
        }
        Pattern { offsets, columns, sources: results }
    }
}

/// Passes over patterns, each with rows of a width.
pub(crate) struct Gathers<'a, T> {
    exec: Exec<'a>,
    passes: Vec<(&'a Pattern, usize)>,
    from: Vec<T>,
    into: Vec<T>,
}

impl<'a, T: Copy + Default + AddAssign + Send + Sync> Gathers<'a, T> {
    pub(crate) fn new(exec: Exec<'a>, passes: Vec<(&'a Pattern, usize)>) -> Gathers<'a, T> {
        let most = |size: fn(&Pattern) -> usize| passes.iter().map(|(p, width)| size(p) * width).max().unwrap_or(0);
        let (from, into) = (most(|p| p.sources), most(|p| p.offsets.len() - 1));
        Gathers { exec, passes, from: vec![T::default(); from], into: vec![T::default(); into] }
    }

    fn pass(&mut self, at: usize) -> Result<(), BoxError> {
        let (pattern, width) = self.passes[at];
        let results = pattern.offsets.len() - 1;
        let from = &self.from[..];
        let into = rows(&mut self.into[..results * width], width);
        self.exec.for_chunks_mut(&ChunkPlan::of(results, ROWS).dynamic(), into, |_, chunk, sums| {
            isa::vectorized(
                #[inline(always)]
                || {
                    for (row, sums) in chunk.zip(sums.chunks_exact_mut(width)) {
                        let columns = &pattern.columns[pattern.offsets[row]..pattern.offsets[row + 1]];
                        for (at, sums) in (0..width).step_by(BLOCK).zip(sums.chunks_mut(BLOCK)) {
                            add_up(from, columns, (width, at), sums);
                        }
                    }
                },
            );
            Ok(())
        })?;
        Ok(())
    }
}

/// Adds up the numbers from `at` on, as many as `sums` has, of the rows `columns` of `from`. The sums of a whole block stay in
/// registers.
#[inline(always)]
fn add_up<T: Copy + Default + AddAssign>(from: &[T], columns: &[u32], (width, at): (usize, usize), sums: &mut [T]) {
    if let Ok(whole) = <&mut [T; BLOCK]>::try_from(&mut *sums) {
        let mut all = [T::default(); BLOCK];
        for &c in columns {
            let source = &from[c as usize * width + at..][..BLOCK];
            all.iter_mut().zip(source).for_each(|(sum, &x)| *sum += x);
        }
        *whole = all;
    } else if let [one] = sums {
        *one = T::default();
        columns.iter().for_each(|&c| *one += from[c as usize * width + at]);
    } else {
        sums.fill(T::default());
        for &c in columns {
            let source = &from[c as usize * width + at..][..sums.len()];
            sums.iter_mut().zip(source).for_each(|(sum, &x)| *sum += x);
        }
    }
}

impl<T: Copy + Default + AddAssign + Send + Sync> Job for Gathers<'_, T> {
    fn iterate(&mut self, _: &str) -> Result<(), BoxError> {
        (0..self.passes.len()).try_for_each(|at| self.pass(at))?;
        std::hint::black_box(&self.into);
        Ok(())
    }

    fn check(&mut self, _: &str) -> Result<Vec<f64>, BoxError> {
        Ok(Vec::new())
    }

    fn is_compared(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_skeleton::Runtime;

    #[test]
    fn rows_are_added_up() {
        let lists: [&[u32]; 3] = [&[0, 2], &[], &[1, 1, 3]];
        let pattern = Pattern::new(4, lists.into_iter());
        let runtime = Runtime::threads(2).unwrap();
        let mut gathers: Gathers<'_, f32> = Gathers::new(runtime.exec(), vec![(&pattern, 2)]);
        gathers.from = vec![1.0, 10.0, 2.0, 20.0, 4.0, 40.0, 8.0, 80.0];
        gathers.iterate("").unwrap();
        let mut wide: Gathers<'_, u64> = Gathers::new(runtime.exec(), vec![(&pattern, 65)]);
        wide.from = (0..4 * 65).collect();
        wide.iterate("").unwrap();
        assert_eq!((wide.into[1], wide.into[64], wide.into[2 * 65 + 64]), (1 + 131, 64 + 194, 129 + 129 + 259));
        assert_eq!(gathers.into, [5.0, 50.0, 0.0, 0.0, 12.0, 120.0]);
        let back = pattern.transposed();
        assert_eq!(
            (&back.offsets[..], &back.columns[..], back.sources),
            (&[0, 1, 3, 4, 5][..], &[0, 2, 2, 0, 2][..], 3)
        );
    }
}
