//! The transpose by a parallel counting sort that also says where each entry came from.
//!
//! Every worker owns a range of output rows (input columns), finds its part of each input row by binary search, and
//! writes to its own stretch of the output. Entries of an output row keep the order of the input's rows, so the result
//! is canonical and the same for any number of workers.

use crate::error::{Result, reserve};
use crate::formats::csr::{Csr, fit};
use crate::plan::WorkPlan;
use crate::scalar::{Index, Scalar};
use crate::structure::{Segment, Structure, WorkRange};
use sapwood_skeleton::{ChunkPlan, Exec, rows, spans};
use std::ops::Range;

/// Aᵀ, and for each of its entries the number of the entry of `a` it came from (to carry values or gradients).
///
/// Time O(entries + rows + columns); memory of the result, plus a counter per column and thread.
///
/// # Errors
/// [`crate::Error::TooLarge`] if a row number does not fit `I`, [`crate::Error::Memory`], [`crate::Error::Run`].
pub fn transpose<V: Scalar, I: Index, P: Index>(exec: Exec<'_>, a: &Csr<V, I, P>) -> Result<(Csr<V, I, P>, Vec<u64>)> {
    let counts = column_counts(exec, a)?;
    let (t, sources) = scatter::<_, I>(exec, a, counts)?;
    let offsets = t.offsets.iter().map(|&o| fit(o as usize, "offset")).collect::<Result<_>>()?;
    Ok((Csr { cols: t.cols, offsets, columns: t.columns, values: t.values }, sources))
}

/// The entries of each column, and a last element of 0.
pub(crate) fn column_counts<S: Structure>(exec: Exec<'_>, a: &S) -> Result<Vec<u64>> {
    let (_, cols) = a.shape();
    let plan = WorkPlan::new(a);
    let shares = exec.threads().min(plan.items()).max(1);
    let per_share = plan.items().div_ceil(shares);
    let mut counts = zeros(shares * (cols + 1), "a counter per column and thread")?;
    // Shares differ with the number of threads, the sums of their counts do not.
    exec.for_chunks_mut(&ChunkPlan::of(shares, 1), rows(&mut counts, cols + 1), |worker, share, counts| {
        for item in share.start * per_share..(share.end * per_share).min(plan.items()) {
            a.segments(plan.range(item), worker.arena(), |segment| {
                for c in segment.columns {
                    counts[c.to_usize()] += 1;
                }
            });
        }
        Ok(())
    })?;
    let (total, others) = counts.split_at_mut(cols + 1);
    for other in others.chunks_exact(cols + 1) {
        for (t, &c) in total.iter_mut().zip(other) {
            *t += c;
        }
    }
    counts.truncate(cols + 1);
    Ok(counts)
}

/// The transpose of any format as CSR with column type `J`, from the counts of its columns; and the source entries.
#[expect(clippy::type_complexity, reason = "a matrix and a list")]
pub(crate) fn scatter<S: Structure, J: Index>(
    exec: Exec<'_>,
    a: &S,
    counts: Vec<u64>,
) -> Result<(Csr<S::Value, J>, Vec<u64>)> {
    let (m, _) = a.shape();
    if m > 0 {
        fit::<J>(m - 1, "row")?;
    }
    let mut offsets = counts;
    let total = exec.scan_counts(&mut offsets)? as usize;
    let (mut columns, mut values, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    exec.fill(&mut columns, total, |_| J::default())?;
    exec.fill(&mut values, total, |_| S::Value::default())?;
    exec.fill(&mut sources, total, |_| 0u64)?;
    let plan = column_ranges(exec, &offsets)?;
    let parts = (spans(&mut columns, &offsets), spans(&mut values, &offsets), spans(&mut sources, &offsets));
    exec.for_chunks_mut(&plan, parts, |worker, range, (columns, values, sources)| {
        let arena = worker.arena();
        let next = arena.take::<u64>(range.len())?;
        for (next, &start) in next.iter_mut().zip(&offsets[range.clone()]) {
            *next = start - offsets[range.start];
        }
        a.segments(WorkRange::rows(0..m), arena, |segment| {
            for p in owned(&segment, &range) {
                let next = &mut next[segment.columns[p].to_usize() - range.start];
                let at = *next as usize;
                *next += 1;
                columns[at] = J::truncate(segment.row);
                values[at] = segment.values[p];
                sources[at] = (segment.entry + p) as u64;
            }
        });
        Ok(())
    })?;
    Ok((Csr { cols: m, offsets, columns, values }, sources))
}

/// Ranges of columns of about equal entries, one per thread.
pub(crate) fn column_ranges(exec: Exec<'_>, offsets: &[u64]) -> Result<ChunkPlan> {
    let total = offsets.last().copied().unwrap_or(0);
    Ok(ChunkPlan::by_weight(offsets, total.div_ceil(exec.threads() as u64))?)
}

/// The positions of a segment whose columns lie in `range`.
#[inline(always)]
pub(crate) fn owned<I: Index, V>(segment: &Segment<'_, I, V>, range: &Range<usize>) -> Range<usize> {
    let inside = |end: &I| end.to_usize() >= range.start && end.to_usize() < range.end;
    if segment.columns.first().is_none_or(inside) && segment.columns.last().is_none_or(inside) {
        return 0..segment.columns.len();
    }
    let from = segment.columns.partition_point(|c| c.to_usize() < range.start);
    let to = segment.columns.partition_point(|c| c.to_usize() < range.end);
    from..to
}

fn zeros(len: usize, what: &'static str) -> Result<Vec<u64>> {
    let mut vec = Vec::new();
    reserve(&mut vec, len, what)?;
    vec.resize(len, 0);
    Ok(vec)
}
