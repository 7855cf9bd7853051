//! What gathering alone takes: rows are read at the places of patterns and added up, and the sums written. A lower bound
//! that no peer gives: whatever computes the same products reads the same rows.
//!
//! A bound takes its turns as a contender and is not compared: it computes nothing of interest.

use std::ops::AddAssign;

use sapwood_skeleton::{ChunkPlan, Exec, isa, rows};
use sapwood_sparse::{Csr, One};

use super::contest::{BoxError, Job};

/// Rows that a worker takes at a time.
const ROWS: usize = 256;

/// Numbers of a row that are added up together.
const BLOCK: usize = 64;

/// Name of the system.
pub(crate) const NAME: &str = "gather-loop";

/// Passes over patterns, each with rows of a width: row i of a pattern names the rows that are added up for result i.
pub(crate) struct Gathers<'a, T> {
    exec: Exec<'a>,
    passes: Vec<(&'a Csr<One>, usize)>,
    from: Vec<T>,
    into: Vec<T>,
}

impl<'a, T: Copy + Default + AddAssign + Send + Sync> Gathers<'a, T> {
    pub(crate) fn new(exec: Exec<'a>, passes: Vec<(&'a Csr<One>, usize)>) -> Gathers<'a, T> {
        let most = |size: fn(&Csr<One>) -> usize| passes.iter().map(|(p, width)| size(p) * width).max().unwrap_or(0);
        let (from, into) = (most(Csr::cols), most(Csr::rows));
        Gathers { exec, passes, from: vec![T::default(); from], into: vec![T::default(); into] }
    }

    fn pass(&mut self, at: usize) -> Result<(), BoxError> {
        let (pattern, width) = self.passes[at];
        let results = pattern.rows();
        let from = &self.from[..];
        let into = rows(&mut self.into[..results * width], width);
        self.exec.for_chunks_mut(&ChunkPlan::of(results, ROWS).dynamic(), into, |_, chunk, sums| {
            isa::vectorized(
                #[inline(always)]
                || {
                    for (row, sums) in chunk.zip(sums.chunks_exact_mut(width)) {
                        let columns = pattern.row(row);
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
        let pattern = Csr::try_new(3, 4, vec![0, 2, 2, 4], vec![0, 2, 1, 3], vec![One; 4]).unwrap();
        let runtime = Runtime::threads(2).unwrap();
        let mut gathers: Gathers<'_, f32> = Gathers::new(runtime.exec(), vec![(&pattern, 2)]);
        gathers.from = vec![1.0, 10.0, 2.0, 20.0, 4.0, 40.0, 8.0, 80.0];
        gathers.iterate("").unwrap();
        assert_eq!(gathers.into, [5.0, 50.0, 0.0, 0.0, 10.0, 100.0]);
        let mut wide: Gathers<'_, u64> = Gathers::new(runtime.exec(), vec![(&pattern, 65)]);
        wide.from = (0..4 * 65).collect();
        wide.iterate("").unwrap();
        assert_eq!((wide.into[1], wide.into[64], wide.into[2 * 65 + 64]), (1 + 131, 64 + 194, 129 + 259));
        let mut one: Gathers<'_, u64> = Gathers::new(runtime.exec(), vec![(&pattern, 1)]);
        one.from = vec![1, 2, 4, 8];
        one.iterate("").unwrap();
        assert_eq!(one.into, [5, 0, 10]);
    }
}
