//! What a matrix looks like: degrees, empty rows and columns, symmetry. Reads the matrix, changes nothing.
//!
//! Start with [`describe`].

use crate::error::{Result, reserve};
use crate::formats::csr::Csr;
use crate::scalar::{Index, Scalar};

/// Facts of a matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Stored entries.
    pub entries: usize,
    /// Entries of the fullest row.
    pub max_degree: usize,
    /// Entries per row; 0 without rows.
    pub mean_degree: f64,
    /// Rows without an entry.
    pub empty_rows: usize,
    /// Columns without an entry.
    pub empty_cols: usize,
    /// Entries on the diagonal.
    pub self_loops: usize,
    /// For every entry there is one across the diagonal, whatever the values.
    pub symmetric: bool,
    /// Columns ascend strictly in every row.
    pub canonical: bool,
}

/// Looks at every entry. Time O(entries · log(largest degree)), memory one bit a column or 8 bytes an entry, whichever
/// is less.
///
/// # Errors
/// When the system has no memory for the marks of the columns.
pub fn describe<V: Scalar, I: Index, P: Index>(m: &Csr<V, I, P>) -> Result<Description> {
    let (rows, cols) = m.shape();
    let degrees = || (0..rows).map(|row| m.row_range(row).len());
    Ok(Description {
        rows,
        cols,
        entries: m.entries(),
        max_degree: degrees().max().unwrap_or(0),
        mean_degree: if rows == 0 { 0.0 } else { m.entries() as f64 / rows as f64 },
        empty_rows: degrees().filter(|&d| d == 0).count(),
        empty_cols: cols - used_columns(m)?,
        self_loops: (0..rows).map(|row| equal(m.row(row), row)).sum(),
        symmetric: is_structurally_symmetric(m),
        canonical: !m.has_duplicates(),
    })
}

/// Columns with at least one entry.
fn used_columns<V: Scalar, I: Index, P: Index>(m: &Csr<V, I, P>) -> Result<usize> {
    if m.cols() / 64 > m.entries() {
        let mut columns = Vec::new();
        reserve(&mut columns, m.entries(), "the columns in use")?;
        columns.extend_from_slice(m.columns());
        columns.sort_unstable();
        columns.dedup();
        return Ok(columns.len());
    }
    let words = m.cols().div_ceil(64);
    let mut marks = Vec::new();
    reserve(&mut marks, words, "the marks of the columns")?;
    marks.resize(words, 0u64);
    for column in m.columns() {
        marks[column.to_usize() / 64] |= 1 << (column.to_usize() % 64);
    }
    Ok(marks.iter().map(|word| word.count_ones() as usize).sum())
}

/// How often `column` stands in a sorted row.
fn equal<I: Index>(row: &[I], column: usize) -> usize {
    let start = row.partition_point(|c| c.to_usize() < column);
    row[start..].iter().take_while(|c| c.to_usize() == column).count()
}

/// Values of the entries at (row, column): none, one, or more if duplicates were kept.
fn at<V: Scalar, I: Index, P: Index>(m: &Csr<V, I, P>, row: usize, column: usize) -> &[V] {
    let first = m.row(row).partition_point(|c| c.to_usize() < column);
    let count = equal(m.row(row), column);
    &m.row_values(row)[first..first + count]
}

fn is_structurally_symmetric<V: Scalar, I: Index, P: Index>(m: &Csr<V, I, P>) -> bool {
    m.rows() == m.cols() && all_places(m, |row, column| equal(m.row(column), row) > 0)
}

/// Whether there are the same entries across the diagonal as on this side of it, with equal values (a NaN equals none).
/// Time O(entries · log(largest degree)).
pub fn is_symmetric<V: Scalar, I: Index, P: Index>(m: &Csr<V, I, P>) -> bool {
    m.rows() == m.cols() && all_places(m, |row, column| at(m, row, column) == at(m, column, row))
}

fn all_places<V: Scalar, I: Index, P: Index>(m: &Csr<V, I, P>, is: impl Fn(usize, usize) -> bool) -> bool {
    (0..m.rows()).all(|row| m.row(row).iter().all(|column| is(row, column.to_usize())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::One;

    fn pattern(rows: usize, cols: usize, offsets: &[u32], columns: &[u32]) -> Csr<One, u32, u32> {
        Csr::try_new(rows, cols, offsets.to_vec(), columns.to_vec(), vec![One; columns.len()]).unwrap()
    }

    #[test]
    fn facts_of_a_small_graph() {
        // 0-1, 1-1, 1-2 one way, 3 alone
        let d = describe(&pattern(4, 4, &[0, 1, 4, 4, 4], &[1, 0, 1, 2])).unwrap();
        assert_eq!((d.max_degree, d.mean_degree, d.empty_rows, d.empty_cols), (3, 1.0, 2, 1));
        assert_eq!((d.self_loops, d.symmetric, d.canonical), (1, false, true));
        assert!(describe(&pattern(2, 2, &[0, 1, 2], &[1, 0])).unwrap().symmetric);
    }

    #[test]
    fn without_rows_or_columns() {
        let d = describe(&pattern(0, 0, &[0], &[])).unwrap();
        assert_eq!((d.mean_degree, d.max_degree, d.symmetric, d.canonical), (0.0, 0, true, true));
        assert!(!describe(&pattern(0, 5, &[0], &[])).unwrap().symmetric);
        assert_eq!(describe(&pattern(0, 5, &[0], &[])).unwrap().empty_cols, 5);
        assert_eq!(describe(&pattern(3, 0, &[0, 0, 0, 0], &[])).unwrap().empty_rows, 3);
    }

    #[test]
    fn few_entries_in_many_columns() {
        let wide = 1 << 50;
        let m: Csr<One, u64, u32> = Csr::try_new(1, wide, vec![0, 3], vec![7, 7, 1 << 49], vec![One; 3]).unwrap();
        let d = describe(&m).unwrap();
        assert_eq!((d.empty_cols, d.canonical), (wide - 2, false));
    }

    #[test]
    fn values_take_part_in_symmetry() {
        let m = |v: [f32; 3]| Csr::<f32>::try_new(2, 2, vec![0, 1, 3], vec![1, 0, 1], v.to_vec()).unwrap();
        assert!(is_symmetric(&m([2.0, 2.0, 5.0])));
        assert!(!is_symmetric(&m([2.0, 3.0, 5.0])));
        let kept = |v: [f32; 3]| Csr::<f32>::try_new(2, 2, vec![0, 2, 3], vec![1, 1, 0], v.to_vec()).unwrap();
        assert!(!is_symmetric(&kept([1.0, 1.0, 1.0])));
        assert!(describe(&kept([1.0; 3])).unwrap().symmetric);
    }
}
