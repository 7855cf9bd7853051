//! Dense products over the `gemm` crate, cut into fixed blocks of [`ROWS`] rows that run on our executor.
//!
//! The blocks depend on the shapes alone, never on the number of threads, so the bits do not either (on one processor
//! model: `gemm` reads the cache sizes). Start with [`gemm`]; [`gemm_at`] sums over the rows in a fixed tree.

use super::Block;
use crate::error::Result;
use crate::order::Affine;
use crate::scale::equal;
use crate::scratch::Scratch;
use sapwood_skeleton::math::Real;
use sapwood_skeleton::{ChunkPlan, Exec, Work, rows};
use std::ops::Range;

/// Rows of a block.
pub const ROWS: usize = 256;

/// Most partial sums that [`gemm_at`] keeps at a time.
const GROUPS: usize = 32;

/// C = α·A·B + β·C with A m × p, B p × n, C m × n. β = 0 never reads C.
///
/// # Errors
/// [`crate::Error::Shape`] if the operands do not fit together; [`crate::Error::Run`].
pub fn gemm<T: Real>(exec: Exec<'_>, how: Affine<T>, a: &Block<T>, b: &Block<T>, c: &mut Block<T>) -> Result<()> {
    equal("the rows of B (the columns of A)", a.cols(), b.rows())?;
    equal("the columns of C (those of B)", b.cols(), c.cols())?;
    by_row_blocks(exec, how, a, View::of(b), c)
}

/// C = α·A·Bᵀ + β·C with A m × p, B n × p, C m × n. β = 0 never reads C.
///
/// # Errors
/// As [`gemm()`].
pub fn gemm_bt<T: Real>(exec: Exec<'_>, how: Affine<T>, a: &Block<T>, b: &Block<T>, c: &mut Block<T>) -> Result<()> {
    equal("the columns of B (those of A)", a.cols(), b.cols())?;
    equal("the columns of C (the rows of B)", b.rows(), c.cols())?;
    let (n, p) = b.shape();
    // Transposed once: otherwise every block of rows would pack it for itself, in memory allocated for that.
    let mut transposed = Scratch::<T>::take(n * p)?;
    for (k, row) in transposed.as_mut_slice().chunks_exact_mut(n.max(1)).enumerate() {
        row.iter_mut().enumerate().for_each(|(j, x)| *x = b.row(j)[k]);
    }
    by_row_blocks(exec, how, a, View { data: transposed.as_slice(), shape: (p, n), down: n, right: 1 }, c)
}

/// C = α·Aᵀ·B + β·C with A m × p, B m × n, C p × n. β = 0 never reads C.
///
/// The products of blocks of [`ROWS`] rows are added in the aligned binary tree over the blocks.
///
/// # Errors
/// As [`gemm()`].
pub fn gemm_at<T: Real>(exec: Exec<'_>, how: Affine<T>, a: &Block<T>, b: &Block<T>, c: &mut Block<T>) -> Result<()> {
    equal("the rows of B (those of A)", a.rows(), b.rows())?;
    equal("the rows of C (the columns of A)", a.cols(), c.rows())?;
    equal("the columns of C (those of B)", b.cols(), c.cols())?;
    let size = c.as_slice().len();
    if size == 0 {
        return Ok(());
    }
    let blocks = a.rows().div_ceil(ROWS);
    // Groups of 2^h blocks are nodes of the tree, so their sums can be made apart and combined in the same tree.
    let group = blocks.div_ceil(GROUPS).next_power_of_two();
    let groups = blocks.div_ceil(group);
    let mut sums = Scratch::<T>::take(groups * size)?;
    let flops = 2.0 * (group * ROWS) as f64 * size as f64;
    let plan = ChunkPlan::of(groups, 1).dynamic().work(Work { flops, bytes: 0.0 });
    exec.for_chunks_mut(&plan, rows(sums.as_mut_slice(), size), |worker, range, sum| {
        let levels = TreeSum::<T>::levels(group);
        let mut tree = TreeSum::new(worker.arena().take(levels * size)?, size);
        for block in range.start * group..(range.end * group).min(blocks) {
            let part = block * ROWS..((block + 1) * ROWS).min(a.rows());
            let (at, b) = (View::rows(a, part.clone()).transposed(), View::rows(b, part));
            tree.push(|out| product(Affine::SET, at, b, out));
        }
        sum.copy_from_slice(tree.finish());
        Ok(())
    })?;
    combine(exec, how, sums.as_slice(), groups, c)
}

/// C = α·(the sum of `groups` matrices of C's shape, in the aligned tree) + β·C.
fn combine<T: Real>(exec: Exec<'_>, how: Affine<T>, sums: &[T], groups: usize, c: &mut Block<T>) -> Result<()> {
    const LENGTH: usize = 4096;
    let c = c.as_mut_slice();
    let size = c.len();
    let plan = ChunkPlan::of(size, LENGTH).work(Work { flops: groups as f64, bytes: (groups * size_of::<T>()) as f64 });
    exec.for_chunks_mut(&plan, rows(c, 1), |worker, range, c| {
        let mut tree = TreeSum::new(worker.arena().take(TreeSum::<T>::levels(groups) * range.len())?, range.len());
        for group in 0..groups {
            tree.push(|out| out.copy_from_slice(&sums[group * size..][range.clone()]));
        }
        let sum = tree.finish();
        for (c, i) in c.iter_mut().zip(0..) {
            how.write(sum.get(i).copied().unwrap_or(T::ZERO), c);
        }
        Ok(())
    })?;
    Ok(())
}

/// Matrices added in the aligned tree, like a binary counter: one partial sum per level.
struct TreeSum<'a, T> {
    stack: &'a mut [T],
    size: usize,
    depth: usize,
    pushed: usize,
}

impl<'a, T: Real> TreeSum<'a, T> {
    /// Partial sums needed for `n` matrices.
    fn levels(n: usize) -> usize {
        n.checked_ilog2().map_or(0, |h| h as usize + 2)
    }

    fn new(stack: &'a mut [T], size: usize) -> Self {
        TreeSum { stack, size, depth: 0, pushed: 0 }
    }

    /// Adds the matrix that `fill` writes.
    fn push(&mut self, fill: impl FnOnce(&mut [T])) {
        fill(&mut self.stack[self.depth * self.size..][..self.size]);
        self.depth += 1;
        self.pushed += 1;
        for _ in 0..self.pushed.trailing_zeros() {
            self.fold();
        }
    }

    /// Adds the topmost sum to the one below it.
    fn fold(&mut self) {
        self.depth -= 1;
        let (below, top) = self.stack.split_at_mut(self.depth * self.size);
        let below = &mut below[(self.depth - 1) * self.size..];
        for (left, &right) in below.iter_mut().zip(&top[..self.size]) {
            *left += right;
        }
    }

    /// The sum of all; empty if there is none.
    fn finish(mut self) -> &'a [T] {
        while self.depth > 1 {
            self.fold();
        }
        &self.stack[..self.depth * self.size]
    }
}

fn by_row_blocks<T: Real>(
    exec: Exec<'_>,
    how: Affine<T>,
    a: &Block<T>,
    b: View<'_, T>,
    c: &mut Block<T>,
) -> Result<()> {
    equal("the rows of C (those of A)", a.rows(), c.rows())?;
    let (m, n) = c.shape();
    if m == 0 || n == 0 {
        return Ok(());
    }
    let per_row = Work { flops: 2.0 * (n * a.cols()) as f64, bytes: ((n + a.cols()) * size_of::<T>()) as f64 };
    let plan = ChunkPlan::of(m, ROWS).dynamic().work(per_row);
    exec.for_chunks_mut(&plan, rows(c.as_mut_slice(), n), |_, range, c| {
        product(how, View::rows(a, range), b, c);
        Ok(())
    })?;
    Ok(())
}

/// A matrix inside a slice: element (i, j) at i·down + j·right.
#[derive(Clone, Copy)]
struct View<'a, T> {
    data: &'a [T],
    shape: (usize, usize),
    down: usize,
    right: usize,
}

impl<'a, T: Real> View<'a, T> {
    fn of(block: &'a Block<T>) -> Self {
        View::rows(block, 0..block.rows())
    }

    fn rows(block: &'a Block<T>, range: Range<usize>) -> Self {
        let cols = block.cols();
        let shape = (range.len(), cols);
        View { data: &block.as_slice()[range.start * cols..range.end * cols], shape, down: cols, right: 1 }
    }

    fn transposed(self) -> Self {
        View { shape: (self.shape.1, self.shape.0), down: self.right, right: self.down, ..self }
    }

    /// Whether every element lies inside the slice.
    fn holds(self) -> bool {
        let (m, n) = self.shape;
        m == 0 || n == 0 || (m - 1) * self.down + (n - 1) * self.right < self.data.len()
    }
}

/// c = α·a·b + β·c for row-major c, in the calling thread.
#[expect(unsafe_code, reason = "the gemm crate works on pointers")]
fn product<T: Real>(how: Affine<T>, a: View<'_, T>, b: View<'_, T>, c: &mut [T]) {
    let ((m, p), (_, n)) = (a.shape, b.shape);
    assert!(a.holds() && b.holds() && b.shape.0 == p && c.len() == m * n);
    if p == 0 {
        return c.iter_mut().for_each(|c| how.write(T::ZERO, c));
    }
    // SAFETY: the three matrices lie inside their slices (asserted; strides below isize::MAX as they come from slices), c
    // is borrowed exclusively, and `Real` has only f32 and f64, which gemm knows.
    unsafe {
        gemm::gemm(
            m,
            n,
            p,
            c.as_mut_ptr(),
            1,
            n as isize,
            how.beta != T::ZERO,
            a.data.as_ptr(),
            a.right as isize,
            a.down as isize,
            b.data.as_ptr(),
            b.right as isize,
            b.down as isize,
            how.beta,
            how.alpha,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The aligned tree by its definition: node (h, j) = left ⊕ right, or left alone.
    fn tree(values: &[f32]) -> f32 {
        match values.len() {
            0 => 0.0,
            1 => values[0],
            n => {
                let half = n.next_power_of_two() / 2;
                tree(&values[..half]) + tree(&values[half..])
            }
        }
    }

    #[test]
    fn the_counter_adds_in_the_aligned_tree() {
        for n in 0..70usize {
            let values: Vec<f32> = (0..n).map(|i| 1.0 / (i as f32 + 1.0) + 1e4 * (i % 3) as f32).collect();
            let mut stack = vec![f32::NAN; 2 * TreeSum::<f32>::levels(n)];
            let mut sum = TreeSum::new(&mut stack, 2);
            for &v in &values {
                sum.push(|out| out.copy_from_slice(&[v, -v]));
            }
            let out = sum.finish();
            assert_eq!(out.first().copied().unwrap_or(0.0), tree(&values), "{n} values");
            assert_eq!(out.len(), if n == 0 { 0 } else { 2 });
        }
    }
}
