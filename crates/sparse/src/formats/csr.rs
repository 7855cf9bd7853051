//! Compressed sparse rows: offsets, columns and values, the default format and the one readers build.
//!
//! A [`Csr`] always holds its invariants: offsets ascend from 0 to the number of entries, columns of a row ascend
//! (equal neighbours are kept duplicates) and lie below the number of columns. Start with [`Csr::try_new`].

use crate::error::{Error, Result, reserve};
use crate::scalar::{Index, One, Scalar};
use crate::structure::{Bytes, Segment, Stretch, Structure, WorkRange, piece};
use sapwood_skeleton::{Arena, ChunkPlan, Exec, Work};
use std::ops::Range;

/// A matrix in compressed sparse rows: values `V` ([`One`] for a pattern), columns `I`, offsets `P`.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<V, I = u32, P = u64> {
    pub(crate) cols: usize,
    /// rows + 1 of them; never empty.
    pub(crate) offsets: Vec<P>,
    pub(crate) columns: Vec<I>,
    pub(crate) values: Vec<V>,
}

impl<V: Scalar, I: Index, P: Index> Csr<V, I, P> {
    /// Checks and takes the three arrays of a rows × cols matrix.
    ///
    /// `offsets` has rows + 1 elements; the entries of row i are `offsets[i]..offsets[i + 1]` of `columns` and `values`.
    /// Columns of a row must not descend; duplicates are kept.
    ///
    /// # Errors
    /// The first fault found, with the name of the array, the row and the value.
    pub fn try_new(rows: usize, cols: usize, offsets: Vec<P>, columns: Vec<I>, values: Vec<V>) -> Result<Self> {
        let expected = rows.checked_add(1).ok_or(Error::Overflow { what: "offsets", rows, cols: 1 })?;
        if offsets.len() != expected {
            return Err(Error::Length { array: "offsets", expected, found: offsets.len() });
        }
        if values.len() != columns.len() {
            return Err(Error::Length { array: "values", expected: columns.len(), found: values.len() });
        }
        check_offsets(&offsets, columns.len())?;
        let matrix = Csr { cols, offsets, columns, values };
        (0..rows).try_for_each(|row| matrix.check_row(row))?;
        Ok(matrix)
    }

    /// [`try_new`](Csr::try_new), the rows checked by all workers: for matrices that are made again and again.
    ///
    /// # Errors
    /// As [`try_new`](Csr::try_new), or [`Error::Run`].
    pub fn try_new_on(
        exec: Exec<'_>,
        rows: usize,
        cols: usize,
        offsets: Vec<P>,
        columns: Vec<I>,
        values: Vec<V>,
    ) -> Result<Self> {
        if offsets.len() != rows + 1 || values.len() != columns.len() {
            return Csr::try_new(rows, cols, offsets, columns, values);
        }
        check_offsets(&offsets, columns.len())?;
        let matrix = Csr { cols, offsets, columns, values };
        let plan = ChunkPlan::of(rows, 4096).work(Work { flops: 8.0, bytes: 48.0 });
        exec.for_chunks(&plan, |_, _, mut range| {
            range.try_for_each(|row| matrix.check_row(row)).map_err(sapwood_skeleton::Error::other)
        })?;
        Ok(matrix)
    }

    fn check_row(&self, row: usize) -> Result<()> {
        let range = self.row_range(row);
        check_row(row, range.start, &self.columns[range], self.cols)
    }

    /// A rows × cols matrix without entries.
    ///
    /// # Errors
    /// [`Error::Memory`] for too many rows.
    pub fn empty(rows: usize, cols: usize) -> Result<Self> {
        let mut offsets = Vec::new();
        let n = rows.checked_add(1).ok_or(Error::Overflow { what: "offsets", rows, cols: 1 })?;
        reserve(&mut offsets, n, "the offsets of a matrix")?;
        offsets.resize(n, P::default());
        Ok(Csr { cols, offsets, columns: Vec::new(), values: Vec::new() })
    }

    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        (self.rows(), self.cols)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Stored entries.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The rows + 1 offsets.
    pub fn offsets(&self) -> &[P] {
        &self.offsets
    }

    /// Column numbers of all entries, row by row.
    pub fn columns(&self) -> &[I] {
        &self.columns
    }

    /// Values of all entries, row by row.
    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// Values of all entries, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [V] {
        &mut self.values
    }

    /// The entry numbers of `row`.
    #[inline(always)]
    pub fn row_range(&self, row: usize) -> Range<usize> {
        self.offsets[row].to_usize()..self.offsets[row + 1].to_usize()
    }

    /// The column numbers of `row`, ascending.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[I] {
        &self.columns[self.row_range(row)]
    }

    /// The values of `row`.
    #[inline(always)]
    pub fn row_values(&self, row: usize) -> &[V] {
        &self.values[self.row_range(row)]
    }

    /// Whether two entries share a row and a column.
    pub fn has_duplicates(&self) -> bool {
        (0..self.rows()).any(|i| self.row(i).windows(2).any(|w| w[0] == w[1]))
    }

    /// Offsets, columns and values.
    pub fn into_parts(self) -> (Vec<P>, Vec<I>, Vec<V>) {
        (self.offsets, self.columns, self.values)
    }

    /// The same pattern with other values, one per entry; no array is copied.
    ///
    /// # Errors
    /// [`Error::Length`] if their number differs.
    pub fn with_values<W: Scalar>(self, values: Vec<W>) -> Result<Csr<W, I, P>> {
        if values.len() != self.columns.len() {
            return Err(Error::Length { array: "values", expected: self.columns.len(), found: values.len() });
        }
        Ok(Csr { cols: self.cols, offsets: self.offsets, columns: self.columns, values })
    }

    /// The pattern alone; no array is copied.
    pub fn into_pattern(self) -> Csr<One, I, P> {
        let values = vec![One; self.columns.len()];
        Csr { cols: self.cols, offsets: self.offsets, columns: self.columns, values }
    }

    /// A copy with each value replaced.
    pub fn map_values<W: Scalar>(&self, f: impl FnMut(&V) -> W) -> Csr<W, I, P> {
        Csr {
            cols: self.cols,
            offsets: self.offsets.clone(),
            columns: self.columns.clone(),
            values: self.values.iter().map(f).collect(),
        }
    }

    /// A copy with other index and offset types.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if a column or the number of entries does not fit.
    pub fn retype<J: Index, Q: Index>(&self) -> Result<Csr<V, J, Q>> {
        let offsets = self.offsets.iter().map(|p| fit(p.to_usize(), "offset")).collect::<Result<_>>()?;
        let columns = self.columns.iter().map(|c| fit(c.to_usize(), "column")).collect::<Result<_>>()?;
        Ok(Csr { cols: self.cols, offsets, columns, values: self.values.clone() })
    }
}

/// `value` in the type `I`, or the error that names what it is.
pub(crate) fn fit<I: Index>(value: usize, what: &'static str) -> Result<I> {
    I::try_from_usize(value).ok_or(Error::TooLarge { what, value, type_name: I::NAME, wider: I::WIDER })
}

fn check_offsets<P: Index>(offsets: &[P], entries: usize) -> Result<()> {
    let value = offsets[0].to_usize();
    if value != 0 {
        return Err(Error::FirstOffset { value });
    }
    for (row, w) in offsets.windows(2).enumerate() {
        if w[1] < w[0] {
            return Err(Error::Descending { row, value: w[1].to_usize(), before: w[0].to_usize() });
        }
    }
    match offsets[offsets.len() - 1].to_usize() {
        value if value != entries => Err(Error::LastOffset { row: offsets.len() - 1, value, entries }),
        _ => Ok(()),
    }
}

fn check_row<I: Index>(row: usize, first: usize, columns: &[I], cols: usize) -> Result<()> {
    let ascending = columns.is_sorted();
    let below = columns.last().is_none_or(|c| c.to_usize() < cols);
    if ascending && below {
        return Ok(());
    }
    // The row is bad: find the first offender.
    for (i, &c) in columns.iter().enumerate() {
        let (entry, column) = (first + i, c.to_usize());
        if column >= cols {
            return Err(Error::Column { row, entry, column, cols });
        }
        if i > 0 && c < columns[i - 1] {
            return Err(Error::Unsorted { row, entry, column, before: columns[i - 1].to_usize() });
        }
    }
    Ok(())
}

impl<V: Scalar, I: Index, P: Index> Structure for Csr<V, I, P> {
    type Value = V;
    type Column = I;

    fn shape(&self) -> (usize, usize) {
        Csr::shape(self)
    }

    fn entries(&self) -> usize {
        Csr::entries(self)
    }

    #[inline(always)]
    fn row_len(&self, row: usize) -> usize {
        self.row_range(row).len()
    }

    fn bytes(&self) -> Bytes {
        Bytes {
            indices: size_of_val(self.columns.as_slice()) as u64,
            offsets: size_of_val(self.offsets.as_slice()) as u64,
            values: size_of_val(self.values.as_slice()) as u64,
            padding: 0,
        }
    }

    #[inline(always)]
    fn segments(&self, work: WorkRange, _: &Arena, mut f: impl FnMut(Segment<'_, I, V>)) {
        let (mut row, mut position) = work.start;
        while (row, position) < work.end {
            let entries = self.row_range(row);
            let part = piece(position, entries.len());
            let ends_row = part.end == entries.len();
            let (from, to) = (entries.start + part.start, entries.start + part.end);
            f(Segment {
                row,
                position,
                entry: from,
                columns: &self.columns[from..to],
                values: &self.values[from..to],
                ahead: &self.columns[from..],
                ends_row,
            });
            (row, position) = if ends_row { (row + 1, 0) } else { (row, part.end) };
        }
    }

    #[inline(always)]
    fn stretch(&self, rows: Range<usize>, ends: &mut [u32]) -> Option<Stretch<'_, I, V>> {
        let offsets = &self.offsets[rows.start..=rows.end];
        let (from, to) = (offsets[0].to_usize(), offsets[rows.len()].to_usize());
        if to - from > u32::MAX as usize {
            return None;
        }
        for (end, offset) in ends.iter_mut().zip(&offsets[1..]) {
            *end = (offset.to_usize() - from) as u32;
        }
        Some(Stretch { columns: &self.columns[from..to], values: &self.values[from..to], ahead: &self.columns[from..] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csr(rows: usize, cols: usize, ptr: &[u64], col: &[u32]) -> Result<Csr<One>> {
        Csr::try_new(rows, cols, ptr.to_vec(), col.to_vec(), vec![One; col.len()])
    }

    fn message(rows: usize, cols: usize, ptr: &[u64], col: &[u32]) -> String {
        csr(rows, cols, ptr, col).unwrap_err().to_string()
    }

    #[test]
    fn faults_name_array_row_and_value() {
        assert_eq!(message(2, 2, &[0, 1], &[0]), "offsets has 2 elements, 3 are needed");
        assert_eq!(message(1, 2, &[1, 1], &[0]), "offsets[0] is 1, it must be 0");
        assert_eq!(message(2, 2, &[0, 2, 1], &[0]), "offsets descend at row 1: 1 follows 2");
        assert_eq!(message(1, 2, &[0, 2], &[0]), "the last offset (row 1) is 2, but there are 1 columns");
        assert_eq!(message(2, 2, &[0, 1, 2], &[0, 2]), "columns[1] (row 1) is 2, the matrix has 2 columns");
        let unsorted = "columns[2] (row 1) is 0, after 1: sort the columns of each row first";
        assert_eq!(message(2, 2, &[0, 1, 3], &[0, 1, 0]), unsorted);
        let short = Csr::<f32>::try_new(1, 1, vec![0, 1], vec![0], vec![]).unwrap_err().to_string();
        assert_eq!(short, "values has 0 elements, 1 are needed");
    }

    #[test]
    fn empty_shapes_and_duplicates_are_fine() {
        assert_eq!(csr(0, 0, &[0], &[]).unwrap().shape(), (0, 0));
        assert_eq!(csr(0, 5, &[0], &[]).unwrap().shape(), (0, 5));
        assert_eq!(Csr::<f32>::empty(3, 0).unwrap().shape(), (3, 0));
        let twice = csr(1, 2, &[0, 3], &[1, 1, 1]).unwrap();
        assert!(twice.has_duplicates());
        assert!(!csr(3, 2, &[0, 1, 2, 2], &[1, 1]).unwrap().has_duplicates());
    }

    #[test]
    fn index_types_refuse_what_does_not_fit() {
        let wide = csr(1, 300, &[0, 300], &(0..300).collect::<Vec<_>>()).unwrap();
        let error = wide.retype::<u16, u8>().unwrap_err().to_string();
        assert_eq!(error, "offset 300 does not fit u8; use u16");
        assert!(wide.retype::<u8, u32>().is_err(), "column 256 does not fit u8");
        assert_eq!(wide.retype::<u16, u16>().unwrap().retype::<u32, u64>().unwrap(), wide);
    }
}
