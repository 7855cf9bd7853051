//! Dropping entries: the matrix that keeps some of the entries of another, in storage that is used again and again.
//!
//! A training run draws new edges every epoch and compacts the columns of one pattern into the same target; after the
//! first call nothing is allocated.

use crate::error::{Result, reserve};
use crate::formats::csr::Csr;
use crate::scalar::{Index, Scalar};
use crate::scratch::Scratch;
use sapwood_skeleton::{ChunkPlan, Exec, Work, rows, spans};

/// Rows handled at a time.
const ROWS: usize = 256;

impl<V: Scalar, I: Index, P: Index> Csr<V, I, P> {
    /// Makes `out` the matrix of the entries whose number satisfies `keep`, of the same shape.
    ///
    /// `keep` is asked twice per entry and must answer the same. `out` is a matrix of any content, typically the one of
    /// the previous call: its storage is reused and grows at most once, to the size of this matrix.
    ///
    /// # Errors
    /// [`crate::Error::Memory`], [`crate::Error::Run`]; `out` is then 0 × 0.
    pub fn compact_into(&self, exec: Exec<'_>, keep: impl Fn(usize) -> bool + Sync, out: &mut Self) -> Result<()> {
        let value = |e: usize| if V::PATTERN { V::default() } else { self.values[e] };
        self.compact_map_into(exec, keep, value, out)
    }

    /// [`compact_into`](Csr::compact_into) with other values: that of entry e is `value(e)`, which may be asked for entries
    /// that are not kept.
    ///
    /// # Errors
    /// As [`compact_into`](Csr::compact_into).
    pub fn compact_map_into<W: Scalar>(
        &self,
        exec: Exec<'_>,
        keep: impl Fn(usize) -> bool + Sync,
        value: impl Fn(usize) -> W + Sync,
        out: &mut Csr<W, I, P>,
    ) -> Result<()> {
        let mut parts = Parts { offsets: std::mem::take(&mut out.offsets), ..Parts::default() };
        parts.columns = std::mem::take(&mut out.columns);
        parts.values = std::mem::take(&mut out.values);
        let done = self.compact_parts(exec, keep, value, &mut parts);
        out.cols = self.cols;
        if done.is_err() {
            parts = Parts { offsets: vec![P::default()], ..Parts::default() };
            out.cols = 0;
        }
        (out.offsets, out.columns, out.values) = (parts.offsets, parts.columns, parts.values);
        done
    }

    fn compact_parts<W: Scalar>(
        &self,
        exec: Exec<'_>,
        keep: impl Fn(usize) -> bool + Sync,
        value: impl Fn(usize) -> W + Sync,
        out: &mut Parts<P, I, W>,
    ) -> Result<()> {
        let m = self.rows();
        let mut starts = Scratch::<u64>::take(m + 1)?;
        let starts = starts.as_mut_slice();
        starts[m] = 0;
        let per_row = self.entries() as f64 / m.max(1) as f64;
        let plan = ChunkPlan::of(m, ROWS).dynamic().work(Work { flops: 4.0 * per_row, bytes: 8.0 * per_row });
        exec.for_chunks_mut(&plan, rows(&mut starts[..m], 1), |_, range, counts| {
            for (row, count) in range.zip(counts) {
                *count = self.row_range(row).filter(|&e| keep(e)).count() as u64;
            }
            Ok(())
        })?;
        let total = exec.scan_counts(starts)? as usize;
        out.resize(m + 1, total, self.entries())?;
        let starts: &[u64] = starts;
        let parts = (spans(&mut out.columns, starts), spans(&mut out.values, starts), rows(&mut out.offsets[1..], 1));
        exec.for_chunks_mut(&plan, parts, |_, range, (columns, values, ends)| {
            let mut at = 0;
            let room = columns.len().min(values.len());
            let (columns, values) = (&mut columns[..room], &mut values[..room]);
            for (row, end) in range.clone().zip(ends) {
                let entries = self.row_range(row);
                for (e, &column) in entries.clone().zip(&self.columns[entries]) {
                    // Written always, overwritten unless kept: no branch on the draw.
                    if at < room {
                        columns[at] = column;
                        values[at] = value(e);
                    }
                    at += usize::from(keep(e));
                }
                *end = P::truncate(starts[range.start] as usize + at);
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// The arrays of the matrix being made.
struct Parts<P, I, W> {
    offsets: Vec<P>,
    columns: Vec<I>,
    values: Vec<W>,
}

impl<P, I, W> Default for Parts<P, I, W> {
    fn default() -> Self {
        Parts { offsets: Vec::new(), columns: Vec::new(), values: Vec::new() }
    }
}

impl<P: Index, I: Index, W: Scalar> Parts<P, I, W> {
    /// Lengths for `entries` entries, and room for `most`.
    fn resize(&mut self, offsets: usize, entries: usize, most: usize) -> Result<()> {
        reserve(&mut self.offsets, offsets, "the offsets of a compacted matrix")?;
        reserve(&mut self.columns, most, "the columns of a compacted matrix")?;
        reserve(&mut self.values, most, "the values of a compacted matrix")?;
        self.offsets.resize(offsets, P::default());
        self.columns.resize(entries, I::default());
        self.values.resize(entries, W::default());
        self.offsets[0] = P::default();
        Ok(())
    }
}
