//! Y = α·(Âᵀ·X) + β·Y without the transpose: rows of A are read in order and scattered to rows of Y.
//!
//! Workers never share an output. For k ≥ 16 each owns a range of X's columns and reads all of A; below, each owns a range
//! of Y's rows and finds its part of every row of A by binary search. Both add in ascending row order, which is the order
//! of the built transpose as long as no column has more than [`PIECE`] entries; if one has, the transpose is built.

use super::spmm::{Output, spmm_at};
use crate::dense::Block;
use crate::error::Result;
use crate::order::{Affine, LANES, PIECE, fold_lanes};
use crate::plan::WorkPlan;
use crate::reshape::transpose::{column_counts, column_ranges, owned, scatter};
use crate::scalar::{Index as _, Scalar};
use crate::scale::{Scale, equal};
use crate::structure::{Segment, Structure, WorkRange};
use sapwood_skeleton::isa::{self, Level};
use sapwood_skeleton::math::Real;
use sapwood_skeleton::{Arena, ChunkPlan, Exec, rows};
use std::ops::Range;

/// Columns of X from which workers share columns, not rows; and what their numbers of columns are multiples of.
const TILE: usize = 16;

/// Y = α·(Âᵀ·X) + β·Y with A m × n, X m × k, Y n × k; `scale` is that of Â, not of its transpose.
///
/// The bits are those of building the transpose and multiplying with it. For repeated use build it:
/// [`crate::reshape::transpose`]. Memory beside the operands: n·(k + 2) numbers.
///
/// # Errors
/// [`crate::Error::Shape`] if the operands do not fit together, [`crate::Error::Memory`], [`crate::Error::Run`].
pub fn spmm_transposed<S: Structure, T: Real>(
    exec: Exec<'_>,
    a: &S,
    scale: Option<Scale<'_, T>>,
    x: &Block<T>,
    y: &mut Block<T>,
    how: Affine<T>,
) -> Result<()> {
    spmm_transposed_at(isa::level(), exec, a, scale, x, y, how)
}

/// [`spmm_transposed`] with the kernels of one instruction-set level, for comparing levels. The bits are the same.
///
/// # Errors
/// As [`spmm_transposed`].
pub fn spmm_transposed_at<S: Structure, T: Real>(
    level: Level,
    exec: Exec<'_>,
    a: &S,
    scale: Option<Scale<'_, T>>,
    x: &Block<T>,
    y: &mut Block<T>,
    how: Affine<T>,
) -> Result<()> {
    let (m, n) = a.shape();
    equal("the rows of X", m, x.rows())?;
    equal("the rows of Y", n, y.rows())?;
    equal("the columns of Y", x.cols(), y.cols())?;
    let scale = scale.map(Scale::transposed);
    if let Some(scale) = scale {
        scale.check((n, m))?;
    }
    if n == 0 || x.cols() == 0 {
        return Ok(());
    }
    let mut counts = column_counts(exec, a)?;
    if counts.iter().any(|&c| c > PIECE as u64) {
        let (t, _) = scatter::<S, u32>(exec, a, counts)?;
        return spmm_at(level, exec, &t, &WorkPlan::new(&t), scale, x, y, how);
    }
    let job = Job { a, right: scale.map_or(&[], |s| s.right), x };
    let out = Output { scale, x: x.as_slice(), how };
    if x.cols() >= TILE {
        return by_columns(level, exec, job, out, y);
    }
    exec.scan_counts(&mut counts)?;
    by_rows(level, exec, job, out, &column_ranges(exec, &counts)?, y)
}

/// What every worker reads.
struct Job<'a, S, T> {
    a: &'a S,
    /// One factor per row of A; empty if unscaled.
    right: &'a [T],
    x: &'a Block<T>,
}

impl<S: Structure, T: Real> Job<'_, S, T> {
    /// The factor of entry `p` of a segment.
    #[inline(always)]
    fn weight(&self, segment: &Segment<'_, S::Column, S::Value>, p: usize) -> T {
        let r = self.right.get(segment.row).copied();
        if S::Value::PATTERN {
            return r.unwrap_or(T::ONE);
        }
        let a = segment.values[p].to::<T>();
        r.map_or(a, |r| a * r)
    }
}

/// Rule (a): sums of `width` columns of X each, in a buffer of their own.
fn by_columns<S: Structure, T: Real>(
    level: Level,
    exec: Exec<'_>,
    job: Job<'_, S, T>,
    out: Output<'_, T>,
    y: &mut Block<T>,
) -> Result<()> {
    let (n, k) = y.shape();
    let width = k.div_ceil(exec.threads()).next_multiple_of(TILE).min(8 * TILE);
    let tiles = k.div_ceil(width);
    let mut sums = Block::<T>::zeros(tiles * n, width)?;
    exec.for_chunks_mut(
        &ChunkPlan::of(tiles, 1).dynamic(),
        rows(sums.as_mut_slice(), n * width),
        |worker, tile, sums| {
            let from = tile.start * width;
            isa::vectorized_at(
                level,
                #[inline(always)]
                || scatter_columns(&job, worker.arena(), from..(from + width).min(k), width, sums),
            );
            Ok(())
        },
    )?;
    finish(level, exec, &sums, out, y)
}

#[inline(always)]
fn scatter_columns<S: Structure, T: Real>(
    job: &Job<'_, S, T>,
    arena: &Arena,
    columns: Range<usize>,
    width: usize,
    sums: &mut [T],
) {
    let (m, _) = job.a.shape();
    let (x, k) = (job.x.as_slice(), job.x.cols());
    job.a.segments(
        WorkRange::rows(0..m),
        arena,
        #[inline(always)]
        |segment| {
            let x = &x[segment.row * k..][columns.clone()];
            for (p, j) in segment.columns.iter().enumerate() {
                let sums = &mut sums[j.to_usize() * width..][..x.len()];
                add_scaled(job.weight(&segment, p), x, sums);
            }
        },
    );
}

/// sums = fma(w, x, sums), in pieces of a known length where possible.
#[inline(always)]
fn add_scaled<T: Real>(w: T, x: &[T], sums: &mut [T]) {
    let (x_tiles, x_rest) = x.as_chunks::<TILE>();
    let (tiles, rest) = sums.as_chunks_mut::<TILE>();
    for (s, x) in tiles.iter_mut().zip(x_tiles) {
        // A copy, so that nothing but registers stands between the loads and the stores.
        let mut acc = *s;
        for q in 0..TILE {
            acc[q] = w.mul_add(x[q], acc[q]);
        }
        *s = acc;
    }
    for (s, &x) in rest.iter_mut().zip(x_rest) {
        *s = w.mul_add(x, *s);
    }
}

/// Rule (b): each chunk of `plan` owns rows of Y.
fn by_rows<S: Structure, T: Real>(
    level: Level,
    exec: Exec<'_>,
    job: Job<'_, S, T>,
    out: Output<'_, T>,
    plan: &ChunkPlan,
    y: &mut Block<T>,
) -> Result<()> {
    let (n, k) = y.shape();
    let width = if k == 1 { LANES } else { k };
    let mut sums = Block::<T>::zeros(n, width)?;
    // How many entries a row of Y has seen: the position in the transpose, for the lanes.
    let mut seen = Block::<u32>::zeros(n, 1)?;
    let parts = (rows(sums.as_mut_slice(), width), rows(seen.as_mut_slice(), 1));
    exec.for_chunks_mut(plan, parts, |worker, range, (sums, seen)| {
        isa::vectorized_at(
            level,
            #[inline(always)]
            || scatter_rows(&job, worker.arena(), range, sums, seen),
        );
        Ok(())
    })?;
    finish(level, exec, &sums, out, y)
}

#[inline(always)]
fn scatter_rows<S: Structure, T: Real>(
    job: &Job<'_, S, T>,
    arena: &Arena,
    range: Range<usize>,
    sums: &mut [T],
    seen: &mut [u32],
) {
    let (m, k) = job.x.shape();
    job.a.segments(
        WorkRange::rows(0..m),
        arena,
        #[inline(always)]
        |segment| {
            let x = job.x.row(segment.row);
            for p in owned(&segment, &range) {
                let j = segment.columns[p].to_usize() - range.start;
                let w = job.weight(&segment, p);
                if k == 1 {
                    let lane = &mut sums[j * LANES + seen[j] as usize % LANES];
                    *lane = w.mul_add(x[0], *lane);
                    seen[j] += 1;
                } else {
                    for (s, &x) in sums[j * k..][..k].iter_mut().zip(x) {
                        *s = w.mul_add(x, *s);
                    }
                }
            }
        },
    );
}

/// Writes Y from the sums: lanes where k = 1, else one or more tiles of n × their columns.
fn finish<T: Real>(level: Level, exec: Exec<'_>, sums: &Block<T>, out: Output<'_, T>, y: &mut Block<T>) -> Result<()> {
    let (n, k) = y.shape();
    let width = sums.cols();
    let sums = sums.as_slice();
    exec.for_chunks_mut(&ChunkPlan::even(n), rows(y.as_mut_slice(), k), |worker, range, y| {
        let row = worker.arena().take::<T>(k)?;
        isa::vectorized_at(
            level,
            #[inline(always)]
            || {
                for (j, y) in range.zip(y.chunks_exact_mut(k)) {
                    if k == 1 {
                        row[0] = fold_lanes(std::array::from_fn(|lane| sums[j * LANES + lane]));
                    } else {
                        for (tile, part) in row.chunks_mut(width).enumerate() {
                            part.copy_from_slice(&sums[(tile * n + j) * width..][..part.len()]);
                        }
                    }
                    out.finish(j, row, y);
                }
            },
        );
        Ok(())
    })?;
    Ok(())
}
