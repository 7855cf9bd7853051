//! The largest value of each coordinate among a node's in-neighbours, and its gradient: what Â's pattern says, without its
//! values and without the node itself.
//!
//! The gradient finds each winner again and then gathers along the transposed pattern: node j adds up, in ascending order,
//! what the nodes that chose it have. No two threads write one row, so the bits do not depend on them.

use super::Operator;
use crate::{Error, Result};
use sapwood_skeleton::{ChunkPlan, Exec, isa, rows};
use sapwood_sparse::{Affine, Block, Real};

/// Rows of a chunk; chunks are handed out as workers get free, since degrees differ.
const CHUNK: usize = 64;
/// Nobody was chosen.
const NONE: u32 = u32::MAX;

/// Whether a later value takes the place of an earlier one: it is larger, or the first NaN.
#[expect(clippy::eq_op, reason = "NaN alone differs from itself")]
#[inline(always)]
fn beats<T: Real>(later: T, earlier: T) -> bool {
    let not_larger = later <= earlier;
    let number = earlier == earlier;
    !not_larger & number
}

impl<T: Real> Operator<T> {
    /// Y_ik = the largest of X_jk over the surviving in-neighbours j ≠ i of node i; 0 where there are none; NaN where one
    /// is NaN. X and Y are nodes × k. Edge weights do not matter.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn largest(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>) -> Result<()> {
        let k = self.same_shape(x, y)?;
        exec.for_chunks_mut(&self.chunks(), rows(y.as_mut_slice(), k), |_, range, y| {
            isa::vectorized(
                #[inline(always)]
                || {
                    for (i, y) in range.clone().zip(y.chunks_exact_mut(k.max(1))) {
                        let Some((&first, rest)) = self.rows.row(i).0.split_first() else {
                            y.fill(T::ZERO);
                            continue;
                        };
                        y.copy_from_slice(x.row(first as usize));
                        for &j in rest {
                            for (y, &x) in y.iter_mut().zip(x.row(j as usize)) {
                                *y = if beats(x, *y) { x } else { *y };
                            }
                        }
                    }
                },
            );
            Ok(())
        })?;
        Ok(())
    }

    /// Y = α·D + β·Y, where D_jk is the sum of G_ik over the nodes i whose largest X_jk is that of j: of equal ones the
    /// node with the smallest number. `chosen` is storage for those nodes.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn largest_transposed_onto(
        &self,
        exec: Exec<'_>,
        x: &Block<T>,
        g: &Block<T>,
        chosen: &mut Vec<u32>,
        y: &mut Block<T>,
        how: Affine<T>,
    ) -> Result<()> {
        let k = self.same_shape(x, y)?;
        self.same_shape(g, y)?;
        chosen.resize(x.as_slice().len(), NONE);
        self.choose(exec, x, chosen)?;
        let (chosen, reverse) = (&chosen[..], self.reverse.as_ref().unwrap_or(&self.rows));
        exec.for_chunks_mut(&self.chunks(), rows(y.as_mut_slice(), k), |worker, range, y| {
            let sums = worker.arena().take::<T>(k)?;
            isa::vectorized(
                #[inline(always)]
                || {
                    for (j, y) in range.clone().zip(y.chunks_exact_mut(k.max(1))) {
                        sums.fill(T::ZERO);
                        for &i in reverse.row(j).0 {
                            let chosen = &chosen[i as usize * k..][..k];
                            for ((sum, &by), &g) in sums.iter_mut().zip(chosen).zip(g.row(i as usize)) {
                                *sum += if by as usize == j { g } else { T::ZERO };
                            }
                        }
                        y.iter_mut().zip(&*sums).for_each(|(y, &sum)| how.write(sum, y));
                    }
                },
            );
            Ok(())
        })?;
        Ok(())
    }

    /// The node of the largest value of each coordinate, or `NONE`.
    fn choose(&self, exec: Exec<'_>, x: &Block<T>, chosen: &mut [u32]) -> Result<()> {
        let k = x.cols();
        exec.for_chunks_mut(&self.chunks(), rows(chosen, k), |worker, range, chosen| {
            let best = worker.arena().take::<T>(k)?;
            isa::vectorized(
                #[inline(always)]
                || {
                    for (i, chosen) in range.clone().zip(chosen.chunks_exact_mut(k.max(1))) {
                        let Some((&first, rest)) = self.rows.row(i).0.split_first() else {
                            chosen.fill(NONE);
                            continue;
                        };
                        best.copy_from_slice(x.row(first as usize));
                        chosen.fill(first);
                        for &j in rest {
                            for ((best, by), &x) in best.iter_mut().zip(&mut *chosen).zip(x.row(j as usize)) {
                                let wins = beats(x, *best);
                                *best = if wins { x } else { *best };
                                *by = if wins { j } else { *by };
                            }
                        }
                    }
                },
            );
            Ok(())
        })?;
        Ok(())
    }

    fn chunks(&self) -> ChunkPlan {
        ChunkPlan::of(self.nodes(), CHUNK).dynamic()
    }

    /// Columns of two blocks of one shape, nodes × k.
    fn same_shape(&self, x: &Block<T>, y: &Block<T>) -> Result<usize> {
        let same = |what, got: usize, expected: usize| match got == expected {
            true => Ok(()),
            false => Err(Error::Size { what, got: got as u64, expected: expected as u64 }),
        };
        same("the operand has rows", x.rows(), self.nodes())?;
        same("the result has rows", y.rows(), self.nodes())?;
        same("the result has columns", y.cols(), x.cols())?;
        Ok(x.cols())
    }
}
