//! Y = α·(Â·X) + β·Y for a sparse A in any format: SpMM, and SpMV where X has one column.
//!
//! [`spmm`] hands the items of a [`WorkPlan`] to the executor. An item of whole rows writes its rows of Y; an item that
//! is one piece of a heavy row writes its sums to a slot, and the slots of a row are merged from left to right at the
//! end. So the order of the sums is that of [`crate::order`] however the items were shared out.

use crate::dense::Block;
use crate::error::Result;
use crate::micro::{AtLevel, Micro, Run, Source, at_level};
use crate::order::{Affine, PIECE};
use crate::plan::WorkPlan;
use crate::scale::{Scale, equal};
use crate::scratch::Scratch;
use crate::structure::{Segment, Stretch, Structure, WorkRange};
use sapwood_skeleton::isa::{self, Level};
use sapwood_skeleton::math::Real;
use sapwood_skeleton::{Arena, ChunkPlan, Exec, Work, spans};
use std::ops::Range;

/// Rows that a micro-kernel gets at a time.
const BATCH: usize = 32;

/// Y = α·(Â·X) + β·Y with A m × n, X n × k, Y m × k, and Â = A or the scaled A.
///
/// `plan` must have been made for `a`. k = 1 sums in the Lanes8 order, k ≥ 2 in the Serial order; a stored value is
/// converted to `T`. NaN and infinities of X reach only rows with an entry in their column. Time O((nnz + m)·k).
///
/// # Errors
/// [`crate::Error::Shape`] and [`crate::Error::Plan`] if the operands do not fit together; [`crate::Error::Run`].
pub fn spmm<S: Structure, T: Real>(
    exec: Exec<'_>,
    a: &S,
    plan: &WorkPlan,
    scale: Option<Scale<'_, T>>,
    x: &Block<T>,
    y: &mut Block<T>,
    how: Affine<T>,
) -> Result<()> {
    spmm_at(isa::level(), exec, a, plan, scale, x, y, how)
}

/// [`spmm`] with the kernels of one instruction-set level, for comparing levels. The bits are the same.
///
/// # Errors
/// As [`spmm`].
pub fn spmm_at<S: Structure, T: Real>(
    level: Level,
    exec: Exec<'_>,
    a: &S,
    plan: &WorkPlan,
    scale: Option<Scale<'_, T>>,
    x: &Block<T>,
    y: &mut Block<T>,
    how: Affine<T>,
) -> Result<()> {
    let (rows, cols) = a.shape();
    plan.check((rows, cols), a.entries())?;
    equal("the rows of X", cols, x.rows())?;
    equal("the rows of Y", rows, y.rows())?;
    equal("the columns of Y", x.cols(), y.cols())?;
    if let Some(scale) = scale {
        scale.check((rows, cols))?;
    }
    if rows == 0 || x.cols() == 0 {
        return Ok(());
    }
    let from = Source::new(x.as_slice(), x.rows(), x.cols(), scale.map_or(&[], |s| s.right));
    let out = Output { scale, x: x.as_slice(), how };
    run(level, exec, a, plan, from, out, y.as_mut_slice())
}

/// A product whose operands fit.
fn run<S: Structure, T: Real>(
    level: Level,
    exec: Exec<'_>,
    a: &S,
    plan: &WorkPlan,
    from: Source<'_, T>,
    out: Output<'_, T>,
    y: &mut [T],
) -> Result<()> {
    let (items, k) = (plan.items(), from.k);
    let mut borders = Scratch::<u64>::take(2 * (items + 1))?;
    let (outputs, slots) = borders.as_mut_slice().split_at_mut(items + 1);
    plan.spans(k, outputs, slots);
    let mut partial = Scratch::<T>::take(plan.slots() * k)?;
    let chunks = ChunkPlan::of(items, 1).dynamic().work(work_of::<T>(a.entries(), items, k));
    let parts = (spans(&mut *y, outputs), spans(partial.as_mut_slice(), slots));
    exec.for_chunks_mut(&chunks, parts, |worker, item, (y, slot)| {
        let work = plan.range(item.start);
        let arena = worker.arena();
        // Where Y is read, the sums of a batch of rows stand apart from it.
        let batch = if out.overwrites() { 1 } else { BATCH };
        let (total, piece) = arena.take((batch + 1) * k)?.split_at_mut(batch * k);
        at_level(level, Item { a, work, arena, from, out, total, piece, y, slot });
        Ok(())
    })?;
    merge(level, plan, k, out, partial.as_mut_slice(), y);
    Ok(())
}

/// The work of one item, for the executor's decision whether threads pay.
fn work_of<T>(entries: usize, items: usize, k: usize) -> Work {
    let per_item = (entries * k) as f64 / items.max(1) as f64;
    Work { flops: 2.0 * per_item, bytes: per_item * size_of::<T>() as f64 }
}

/// One item of the work.
struct Item<'a, S, T> {
    a: &'a S,
    work: WorkRange,
    arena: &'a Arena,
    from: Source<'a, T>,
    out: Output<'a, T>,
    /// The sums of a row, or of a batch of rows.
    total: &'a mut [T],
    /// The sums of a later piece of a row.
    piece: &'a mut [T],
    /// The rows of Y.
    y: &'a mut [T],
    /// Where the sums go if the item is a piece of a heavy row.
    slot: &'a mut [T],
}

impl<S: Structure, T: Real> AtLevel<T> for Item<'_, S, T> {
    type Out = ();

    fn run<M: Micro<T>>(mut self, micro: M) {
        micro.enter(
            #[inline(always)]
            || {
                if WorkPlan::is_piece(self.work) {
                    return self.pieces(micro, self.work);
                }
                let (first, end) = (self.work.start.0, self.work.end.0);
                for row in (first..end).step_by(BATCH) {
                    let rows = row..end.min(row + BATCH);
                    if !self.batch(micro, rows.clone()) {
                        self.pieces(micro, WorkRange::rows(rows));
                    }
                }
            },
        );
    }
}

impl<S: Structure, T: Real> Item<'_, S, T> {
    /// Short rows that are stored one after the other, all at once; or says that they are none.
    #[inline(always)]
    fn batch<M: Micro<T>>(&mut self, micro: M, rows: Range<usize>) -> bool {
        let k = self.from.k;
        let mut ends = [0; BATCH];
        let ends = &mut ends[..rows.len()];
        let Some(entries) = self.a.stretch(rows.clone(), ends) else { return false };
        if entries.columns.len() > PIECE && longest(ends) > PIECE {
            return false;
        }
        let at = (rows.start - self.work.start.0) * k;
        let y = &mut self.y[at..at + rows.len() * k];
        let run = Run { entries, ends };
        if self.out.overwrites() {
            micro.sums(&run, &self.from, y);
            for (row, y) in rows.zip(y.chunks_exact_mut(k)) {
                self.out.finish_in_place(row, y);
            }
        } else {
            let total = &mut self.total[..rows.len() * k];
            micro.sums(&run, &self.from, total);
            for (row, (sums, y)) in rows.zip(total.chunks_exact_mut(k).zip(y.chunks_exact_mut(k))) {
                self.out.finish(row, sums, y);
            }
        }
        true
    }

    /// Rows of any length, or one piece of a heavy row, segment by segment.
    #[inline(always)]
    fn pieces<M: Micro<T>>(&mut self, micro: M, work: WorkRange) {
        let Item { a, arena, from, out, .. } = *self;
        let k = from.k;
        let in_slot = WorkPlan::is_piece(work);
        let first = self.work.start.0;
        let (total, piece, y, slot) = (&mut self.total[..k], &mut *self.piece, &mut *self.y, &mut *self.slot);
        a.segments(
            work,
            arena,
            #[inline(always)]
            |segment| {
                let sums = match segment.position {
                    _ if in_slot => &mut *slot,
                    0 => &mut *total,
                    _ => &mut *piece,
                };
                let Segment { columns, values, ahead, .. } = segment;
                let ends = [columns.len() as u32];
                micro.sums(&Run { entries: Stretch { columns, values, ahead }, ends: &ends }, &from, sums);
                if in_slot {
                    return;
                }
                if segment.position > 0 {
                    add(total, piece);
                }
                if segment.ends_row {
                    let at = (segment.row - first) * k;
                    out.finish(segment.row, total, &mut y[at..at + k]);
                }
            },
        );
    }
}

/// The most entries of a row, from where the rows end.
#[inline(always)]
fn longest(ends: &[u32]) -> usize {
    let mut start = 0;
    let lengths = ends.iter().map(|&end| end - std::mem::replace(&mut start, end));
    lengths.max().unwrap_or(0) as usize
}

/// total += piece.
#[inline(always)]
fn add<T: Real>(total: &mut [T], piece: &[T]) {
    for (t, &c) in total.iter_mut().zip(piece) {
        *t += c;
    }
}

/// Adds up the pieces of the heavy rows, from left to right, and writes their rows of Y.
fn merge<T: Real>(level: Level, plan: &WorkPlan, k: usize, out: Output<'_, T>, partial: &mut [T], y: &mut [T]) {
    isa::vectorized_at(
        level,
        #[inline(always)]
        || {
            for heavy in plan.heavy() {
                let pieces = &mut partial[heavy.slot * k..][..heavy.pieces * k];
                let (total, rest) = pieces.split_at_mut(k);
                for piece in rest.chunks_exact(k) {
                    add(total, piece);
                }
                out.finish(heavy.row, total, &mut y[heavy.row * k..][..k]);
            }
        },
    );
}

/// What happens between the sum of a row and Y.
#[derive(Clone, Copy)]
pub(super) struct Output<'a, T> {
    pub(super) scale: Option<Scale<'a, T>>,
    /// The operand, for the part of a row that it keeps of itself.
    pub(super) x: &'a [T],
    pub(super) how: Affine<T>,
}

impl<T: Real> Output<'_, T> {
    /// Y is not read.
    #[inline(always)]
    fn overwrites(self) -> bool {
        self.how.beta == T::ZERO
    }

    /// Writes row `row` of Y from its sums.
    #[inline(always)]
    pub(super) fn finish(self, row: usize, sums: &mut [T], y: &mut [T]) {
        self.scale_sums(row, sums);
        for (y, &s) in y.iter_mut().zip(&*sums) {
            self.how.write(s, y);
        }
    }

    /// The same where the sums stand in Y, which is overwritten.
    #[inline(always)]
    fn finish_in_place(self, row: usize, y: &mut [T]) {
        self.scale_sums(row, y);
        if self.how.alpha != T::ONE {
            y.iter_mut().for_each(|y| *y = self.how.alpha * *y);
        }
    }

    #[inline(always)]
    fn scale_sums(self, row: usize, sums: &mut [T]) {
        let Some(scale) = self.scale else { return };
        let left = scale.left[row];
        if scale.own.is_empty() {
            return sums.iter_mut().for_each(|t| *t = left * *t);
        }
        let own = scale.own[row];
        let k = sums.len();
        for (t, &x) in sums.iter_mut().zip(&self.x[row * k..][..k]) {
            *t = own.mul_add(x, left * *t);
        }
    }
}
