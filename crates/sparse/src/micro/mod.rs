//! The innermost loops: one stretch of a matrix row times the rows of a dense operand, for one instruction set.
//!
//! Each level gives the same bits, those of [`crate::order`]: `portable` is the plain form (compiled for AVX2 where the
//! level says so), `avx512` holds the sums of up to eight vectors of columns in registers. Beside the call of the library
//! in `dense/gemm.rs` this is the only place of the crate with `unsafe` in it; nothing here knows of threads, formats or plans. Start with [`Micro`].

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use crate::scalar::{Index, Scalar};
use crate::structure::Stretch;
use sapwood_skeleton::isa::Level;
use sapwood_skeleton::math::Real;
use std::ops::Range;

/// The dense operand of a product and the factors of its rows.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a, T> {
    /// rows × k elements.
    pub(crate) x: &'a [T],
    /// Number of rows: column numbers lie below it.
    pub(crate) rows: usize,
    /// Number of columns.
    pub(crate) k: usize,
    /// One factor per row; empty if unscaled.
    pub(crate) right: &'a [T],
    /// Whether rows should be fetched ahead of use.
    pub(crate) far: bool,
}

/// Operands above this size are fetched ahead: about the second-level cache of a core.
const NEAR_BYTES: usize = 2 << 20;

impl<'a, T: Real> Source<'a, T> {
    pub(crate) fn new(x: &'a [T], rows: usize, k: usize, right: &'a [T]) -> Self {
        Source { x, rows, k, right, far: size_of_val(x) > NEAR_BYTES }
    }
}

/// The entries of consecutive rows, or of one piece of a row: no row has more than a piece of entries.
pub(crate) struct Run<'a, I, V> {
    /// Columns, values, and what to fetch ahead.
    pub(crate) entries: Stretch<'a, I, V>,
    /// Where each row ends in the stretch.
    pub(crate) ends: &'a [u32],
}

impl<I, V> Run<'_, I, V> {
    /// The entries of each row.
    #[inline(always)]
    fn rows(&self) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        self.ends.iter().map(move |&end| std::mem::replace(&mut start, end as usize)..end as usize)
    }
}

/// One instruction set's way to sum rows.
pub(crate) trait Micro<T: Real>: Copy + Sync {
    /// Runs `body` compiled for the instruction set.
    fn enter<R>(self, body: impl FnOnce() -> R) -> R;

    /// Writes the k sums of each row of `run`, from +0: in the Lanes8 order where k = 1, else in the Serial order.
    ///
    /// A function of its own, never inlined: formats, offset types and callers share one copy.
    fn sums<V: Scalar, I: Index>(self, run: &Run<'_, I, V>, from: &Source<'_, T>, sums: &mut [T]);
}

/// Work that runs at whatever level is chosen.
pub(crate) trait AtLevel<T: Real> {
    /// What it gives.
    type Out;
    /// Does it.
    fn run<M: Micro<T>>(self, micro: M) -> Self::Out;
}

/// Runs `work` with the kernels of `level`, or of the best level below it that this processor has.
pub(crate) fn at_level<T: Real, W: AtLevel<T>>(level: Level, work: W) -> W::Out {
    #[cfg(target_arch = "x86_64")]
    {
        if level >= Level::Avx512
            && let Some(micro) = avx512::Avx512::detect()
        {
            return work.run(micro);
        }
        if level >= Level::Avx2
            && let Some(micro) = portable::Avx2::detect()
        {
            return work.run(micro);
        }
    }
    let _ = level;
    work.run(portable::Portable)
}

/// The factor of entry `p` of a segment: a, r, or a·r rounded.
#[inline(always)]
fn weight<V: Scalar, T: Real, const SCALED: bool>(values: &[V], right: &[T], p: usize, column: usize) -> T {
    match (V::PATTERN, SCALED) {
        (true, false) => T::ONE,
        (true, true) => right[column],
        (false, false) => values[p].to(),
        (false, true) => values[p].to::<T>() * right[column],
    }
}
