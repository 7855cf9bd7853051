//! Untrusted arrays to a checked matrix: the only way data from outside becomes a [`Csr`].
//!
//! Offsets, column numbers and lengths are tested before anything is built from them, rows are sorted stably, and
//! repeated entries are treated by a stated policy, never by what the caller claims. Nothing here panics.
//! Start with [`csr`] (arrays of any integer type) and [`tidy`] (arrays already in place).

use crate::any::Stored;
use crate::formats::csr::Csr;
use crate::scalar::Index;

/// What happens to entries at the same place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// They become one, their values added in the order they were read; a pattern has no values, there they collapse.
    #[default]
    Sum,
    /// They stay, in the order they were read.
    Keep,
    /// They are an error.
    Reject,
}

/// What was seen while checking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Entries beyond the first at the same place.
    pub duplicates: u64,
    /// Rows whose columns did not ascend.
    pub unsorted_rows: u64,
}

/// Why arrays are not a matrix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number below 0.
    #[error("{array}[{position}] is {value}: negative")]
    Negative {
        /// Name of the array.
        array: &'static str,
        /// Place in the array.
        position: usize,
        /// The number.
        value: i64,
    },
    /// Two entries at one place, where that is refused.
    #[error("row {row} has column {column} more than once (counted from 0)")]
    Repeated {
        /// Row of the entry.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// The number types are not those asked for.
    #[error("the matrix has {found}, but {wanted} were asked for")]
    Types {
        /// What was found: `u64 columns`.
        found: String,
        /// What was wanted.
        wanted: String,
    },
    /// Lengths, offsets or columns contradict each other.
    #[error(transparent)]
    Matrix(#[from] crate::Error),
}

/// `Result` with this module's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An integer that may come from outside.
pub trait Untrusted: Copy {
    /// The number, or `Err` with it if it is negative.
    fn number(self) -> Result<usize, i64>;
}

macro_rules! untrusted {
    ($($type:ty),*) => {$(
        impl Untrusted for $type {
            #[inline(always)]
            fn number(self) -> Result<usize, i64> {
                usize::try_from(self).map_err(|_| self as i64)
            }
        }
    )*};
}

untrusted!(i32, i64, u8, u16, u32, u64);

/// A matrix of `rows` x `cols` from CSR arrays of any origin: `rows` + 1 `offsets`, a column and a value per entry.
/// Unsorted rows are sorted, stably. Time O(rows + entries) for sorted rows.
///
/// # Errors
/// When an offset or a column is negative, when offsets do not start at 0, descend or do not end at the number of
/// entries, when a column is not below `cols`, when lengths differ, when a number does not fit `I` or `P`, and when
/// entries repeat that `duplicates` rejects. The message names the array, the row and the value.
pub fn csr<V: Stored, I: Index, P: Index>(
    rows: usize,
    cols: usize,
    offsets: &[impl Untrusted],
    columns: &[impl Untrusted],
    mut values: Vec<V>,
    duplicates: Duplicates,
) -> Result<(Csr<V, I, P>, Found)> {
    same_length("values", values.len(), columns.len())?;
    let mut offsets = self::offsets::<P>(rows, columns.len(), offsets)?;
    let mut columns = self::columns::<I, P>(cols, &offsets, columns)?;
    let found = tidy(&mut offsets, &mut columns, &mut values, duplicates)?;
    Ok((Csr::try_new(rows, cols, offsets, columns, values)?, found))
}

/// Says that `value` does not fit `T`, if it does not.
pub(crate) fn fits<T: Index>(what: &'static str, value: usize) -> Result<T> {
    let too_large = crate::Error::TooLarge { what, value, type_name: T::NAME, wider: T::WIDER };
    T::try_from_usize(value).ok_or(Error::Matrix(too_large))
}

fn same_length(array: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(crate::Error::Length { array, expected, found }.into())
}

fn offsets<P: Index>(rows: usize, entries: usize, array: &[impl Untrusted]) -> Result<Vec<P>> {
    let expected = rows.checked_add(1).ok_or(crate::Error::Overflow { what: "an array of offsets", rows, cols: 1 })?;
    same_length("offsets", array.len(), expected)?;
    let mut out = Vec::new();
    crate::error::reserve(&mut out, expected, "offsets")?;
    let mut before = 0;
    for (position, offset) in array.iter().enumerate() {
        let value = offset.number().map_err(|value| Error::Negative { array: "offsets", position, value })?;
        if position == 0 && value != 0 {
            return Err(crate::Error::FirstOffset { value }.into());
        }
        if value < before {
            return Err(crate::Error::Descending { row: position - 1, value, before }.into());
        }
        out.push(fits("offset", value)?);
        before = value;
    }
    if before != entries {
        return Err(crate::Error::LastOffset { row: rows, value: before, entries }.into());
    }
    Ok(out)
}

fn columns<I: Index, P: Index>(cols: usize, offsets: &[P], array: &[impl Untrusted]) -> Result<Vec<I>> {
    let mut out = Vec::new();
    crate::error::reserve(&mut out, array.len(), "columns")?;
    for (row, ends) in offsets.windows(2).enumerate() {
        for entry in ends[0].to_usize()..ends[1].to_usize() {
            let column =
                array[entry].number().map_err(|value| Error::Negative { array: "columns", position: entry, value })?;
            if column >= cols {
                return Err(crate::Error::Column { row, entry, column, cols }.into());
            }
            out.push(fits("column", column)?);
        }
    }
    Ok(out)
}

/// Sorts every row by column, stably, and treats repeated entries as `duplicates` says. `offsets` must ascend from 0 to
/// the length of `columns` and of `values`. Rows already sorted cost one comparison an entry; scratch memory is one
/// number an entry of the longest unsorted row.
///
/// # Errors
/// [`Error::Repeated`] under [`Duplicates::Reject`].
pub fn tidy<V: Stored, I: Index, P: Index>(
    offsets: &mut [P],
    columns: &mut Vec<I>,
    values: &mut Vec<V>,
    duplicates: Duplicates,
) -> Result<Found> {
    let mut found = Found::default();
    let mut order = Vec::new();
    for (row, ends) in offsets.windows(2).enumerate() {
        let range = ends[0].to_usize()..ends[1].to_usize();
        let (columns, values) = (&mut columns[range.clone()], &mut values[range]);
        if !columns.is_sorted() {
            found.unsorted_rows += 1;
            sort(columns, values, &mut order)?;
        }
        let mut repeated = columns.windows(2).filter(|pair| pair[0] == pair[1]);
        if let Some(first) = repeated.next() {
            if duplicates == Duplicates::Reject {
                return Err(Error::Repeated { row, column: first[0].to_usize() });
            }
            found.duplicates += 1 + repeated.count() as u64;
        }
    }
    if found.duplicates > 0 && duplicates == Duplicates::Sum {
        merge(offsets, columns, values);
    }
    Ok(found)
}

/// Sorts one row, stably.
fn sort<V: Stored, I: Index>(columns: &mut [I], values: &mut [V], order: &mut Vec<usize>) -> Result<()> {
    const SHORT: usize = 24;
    if V::PATTERN {
        columns.sort_unstable();
    } else if columns.len() <= SHORT {
        insertion(columns, values);
    } else {
        by_order(columns, values, order)?;
    }
    Ok(())
}

fn insertion<V: Stored, I: Index>(columns: &mut [I], values: &mut [V]) {
    for i in 1..columns.len() {
        let mut j = i;
        while j > 0 && columns[j - 1] > columns[j] {
            columns.swap(j - 1, j);
            values.swap(j - 1, j);
            j -= 1;
        }
    }
}

/// Sorts the numbers of the entries, then carries the entries along the cycles of that permutation.
fn by_order<V: Stored, I: Index>(columns: &mut [I], values: &mut [V], order: &mut Vec<usize>) -> Result<()> {
    order.clear();
    crate::error::reserve(order, columns.len(), "the order of a row")?;
    order.extend(0..columns.len());
    order.sort_unstable_by_key(|&i| (columns[i], i));
    for start in 0..order.len() {
        let mut to = start;
        loop {
            let from = std::mem::replace(&mut order[to], to);
            if from == start {
                break;
            }
            columns.swap(to, from);
            values.swap(to, from);
            to = from;
        }
    }
    Ok(())
}

/// Adds up entries at the same place of sorted rows, in place.
fn merge<V: Stored, I: Index, P: Index>(offsets: &mut [P], columns: &mut Vec<I>, values: &mut Vec<V>) {
    let (mut start, mut kept) = (0, 0);
    for end in offsets.iter_mut().skip(1) {
        let first = kept;
        for entry in start..end.to_usize() {
            if kept > first && columns[kept - 1] == columns[entry] {
                values[kept - 1] = values[kept - 1].plus(values[entry]);
            } else {
                columns[kept] = columns[entry];
                values[kept] = values[entry];
                kept += 1;
            }
        }
        start = end.to_usize();
        *end = P::truncate(kept);
    }
    columns.truncate(kept);
    values.truncate(kept);
    columns.shrink_to_fit();
    values.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::One;

    fn pattern(rows: usize, cols: usize, offsets: &[i64], columns: &[i32]) -> Result<(Csr<One>, Found)> {
        csr(rows, cols, offsets, columns, vec![One; columns.len()], Duplicates::Sum)
    }

    fn message(rows: usize, cols: usize, offsets: &[i64], columns: &[i32]) -> String {
        pattern(rows, cols, offsets, columns).unwrap_err().to_string()
    }

    #[test]
    fn offsets_that_do_not_ascend() {
        assert_eq!(message(3, 9, &[0, 2, 1, 2], &[0, 1]), "offsets descend at row 1: 1 follows 2");
    }

    #[test]
    fn first_offset_not_zero() {
        assert_eq!(message(1, 9, &[1, 2], &[0, 1]), "offsets[0] is 1, it must be 0");
    }

    #[test]
    fn last_offset_not_the_number_of_entries() {
        assert_eq!(message(2, 9, &[0, 1, 2], &[0, 1, 2]), "the last offset (row 2) is 2, but there are 3 columns");
        assert_eq!(message(1, 9, &[0, 4], &[0, 1]), "the last offset (row 1) is 4, but there are 2 columns");
    }

    #[test]
    fn column_beyond_the_last() {
        assert_eq!(message(2, 3, &[0, 1, 2], &[2, 3]), "columns[1] (row 1) is 3, the matrix has 3 columns");
    }

    #[test]
    fn negative_numbers_of_either_width() {
        assert_eq!(message(2, 3, &[0, -1, 1], &[0]), "offsets[1] is -1: negative");
        assert_eq!(message(1, 3, &[0, 2], &[1, -7]), "columns[1] is -7: negative");
        let wide = csr::<One, u32, u32>(1, 3, &[0i32, 1], &[i64::MIN], vec![One], Duplicates::Sum);
        assert_eq!(wide.unwrap_err().to_string(), "columns[0] is -9223372036854775808: negative");
    }

    #[test]
    fn arrays_of_unequal_length() {
        assert_eq!(message(3, 3, &[0, 1], &[0]), "offsets has 2 elements, 4 are needed");
        assert_eq!(message(0, 3, &[], &[]), "offsets has 0 elements, 1 are needed");
        let short = csr::<f64, u32, u32>(1, 3, &[0, 2], &[0, 1], vec![1.0], Duplicates::Sum);
        assert_eq!(short.unwrap_err().to_string(), "values has 1 elements, 2 are needed");
        assert!(csr::<One, u32, u64>(usize::MAX, 3, &[0], &[0; 0], vec![], Duplicates::Sum).is_err());
    }

    #[test]
    fn three_entries_in_a_matrix_without_columns() {
        // a malformed matrix of shape (3, 0) crashed a peer (torch #190045)
        assert_eq!(message(3, 0, &[0, 1, 2, 3], &[0, 0, 0]), "columns[0] (row 0) is 0, the matrix has 0 columns");
        let (empty, _) = pattern(3, 0, &[0, 0, 0, 0], &[]).unwrap();
        assert_eq!((empty.shape(), empty.entries()), ((3, 0), 0));
    }

    #[test]
    fn sizes_beyond_the_types() {
        let columns: Vec<u32> = (0..300).collect();
        let ones = || vec![One; 300];
        let small = csr::<One, u8, u8>(1, 300, &[0u32, 300], &columns, ones(), Duplicates::Sum).unwrap_err();
        assert_eq!(small.to_string(), "offset 300 does not fit u8; use u16");
        let small = csr::<One, u8, u16>(1, 300, &[0u32, 300], &columns, ones(), Duplicates::Sum).unwrap_err();
        assert_eq!(small.to_string(), "column 256 does not fit u8; use u16");
        let rows: Vec<u32> = (0..=300).collect();
        let (m, _) = csr::<One, u8, u16>(300, 3, &rows, &[2u8; 300], ones(), Duplicates::Sum).unwrap();
        assert_eq!(m.entries(), 300);
    }

    /// Values number the entries, so that their order shows.
    fn tidied(lengths: &[u32], columns: &[u32], duplicates: Duplicates) -> Result<(Csr<f64, u32, u32>, Found)> {
        let mut offsets = vec![0];
        offsets.extend(lengths.iter().scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        }));
        let values = (1..=columns.len()).map(|i| i as f64).collect();
        csr(lengths.len(), 1000, &offsets, columns, values, duplicates)
    }

    #[test]
    fn unsorted_rows_are_sorted_stably() {
        let (m, found) = tidied(&[4, 0, 2], &[5, 2, 5, 1, 0, 9], Duplicates::Keep).unwrap();
        assert_eq!((m.row(0), m.row_values(0)), (&[1, 2, 5, 5][..], &[4.0, 2.0, 1.0, 3.0][..]));
        assert_eq!((found.unsorted_rows, found.duplicates), (1, 1));
        // longer than insertion sort takes
        let columns: Vec<u32> = (0..200).map(|i| (i * 37 + 11) % 50).collect();
        let (m, _) = tidied(&[200], &columns, Duplicates::Keep).unwrap();
        let mut expected: Vec<(u32, f64)> = columns.iter().zip(1..).map(|(&c, i)| (c, f64::from(i))).collect();
        expected.sort_by_key(|e| e.0);
        assert!(m.row(0).iter().zip(m.row_values(0)).map(|(&c, &v)| (c, v)).eq(expected));
    }

    #[test]
    fn repeated_entries_by_policy() {
        let row: &[u32] = &[3, 1, 3, 3, 7];
        let (m, found) = tidied(&[5, 1], &[row, &[2]].concat(), Duplicates::Sum).unwrap();
        assert_eq!((m.row(0), m.row_values(0)), (&[1, 3, 7][..], &[2.0, 1.0 + 3.0 + 4.0, 5.0][..]));
        assert_eq!((m.row(1), m.row_values(1), found.duplicates), (&[2][..], &[6.0][..], 2));
        let (m, found) = tidied(&[5], row, Duplicates::Keep).unwrap();
        assert_eq!((m.row_values(0), found.duplicates), (&[2.0, 1.0, 3.0, 4.0, 5.0][..], 2));
        let error = tidied(&[0, 5], row, Duplicates::Reject).unwrap_err().to_string();
        assert_eq!(error, "row 1 has column 3 more than once (counted from 0)");
        assert!(tidied(&[3], &[1, 2, 3], Duplicates::Reject).is_ok());
    }

    #[test]
    fn repeated_entries_of_a_pattern_collapse() {
        let (m, found) = pattern(2, 3, &[0, 3, 5], &[1, 1, 1, 2, 0]).unwrap();
        assert_eq!((m.row(0), m.row(1), found.duplicates, found.unsorted_rows), (&[1][..], &[0, 2][..], 2, 1));
    }
}
