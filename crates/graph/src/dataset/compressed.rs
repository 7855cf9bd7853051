//! A matrix by rows as other programs store it (SciPy's csr), checked: offsets must fit, columns may stand in any order and
//! repeat, in which case their values are added, as SciPy does.

use crate::features::FeatureMatrix;
use crate::{Error, Result};
use sapwood_sparse::{Block, Csr};

/// The parts of a csr matrix, not checked yet.
#[derive(Debug)]
pub(super) struct Compressed {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) offsets: Vec<i64>,
    pub(super) indices: Vec<i64>,
    pub(super) values: Vec<f64>,
}

impl Compressed {
    /// What is wrong with the parts.
    pub(super) fn check(&self) -> Result<(), String> {
        let entries = self.indices.len();
        if self.values.len() != entries {
            return Err(format!("{} values for {entries} column numbers", self.values.len()));
        }
        if self.rows.checked_add(1) != Some(self.offsets.len()) {
            return Err(format!("{} offsets for {} rows, one more than rows is needed", self.offsets.len(), self.rows));
        }
        if self.rows as u64 >= u64::from(u32::MAX) || self.columns as u64 > u64::from(u32::MAX) {
            return Err(format!("{} x {} is more than 32 bits can number", self.rows, self.columns));
        }
        if let Some(row) = self.offsets.windows(2).position(|w| w[0] > w[1]) {
            return Err(format!("the offsets fall after row {row} (from 0)"));
        }
        let ends = (self.offsets[0], self.offsets[self.rows]);
        if ends != (0, entries as i64) {
            return Err(format!("the offsets go from {} to {}, not from 0 to {entries}", ends.0, ends.1));
        }
        let outside = |&&c: &&i64| usize::try_from(c).map_or(true, |c| c >= self.columns);
        match self.indices.iter().find(outside) {
            Some(column) => Err(format!("column {column} is outside of 0 to {}", self.columns as i64 - 1)),
            None => Ok(()),
        }
    }

    /// Columns, ascending, and values of row `i` of a checked matrix.
    pub(super) fn row(&self, i: usize) -> Vec<(u32, f64)> {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        let columns = self.indices[range.clone()].iter().map(|&c| c as u32);
        let mut row: Vec<(u32, f64)> = columns.zip(self.values[range].iter().copied()).collect();
        if !row.is_sorted_by(|a, b| a.0 < b.0) {
            row.sort_by_key(|entry| entry.0); // stable: repeated columns are added in the order of the file
            row.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        }
        row
    }
}

/// Rows put together one after the other.
#[derive(Debug)]
pub(super) struct Rows {
    offsets: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Rows {
    pub(super) fn new() -> Rows {
        Rows { offsets: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// The next row, columns ascending; an empty one for a node without features.
    pub(super) fn push(&mut self, row: &[(u32, f64)]) {
        self.columns.extend(row.iter().map(|entry| entry.0));
        self.values.extend(row.iter().map(|entry| entry.1 as f32));
        self.offsets.push(self.columns.len() as u64);
    }

    pub(super) fn finish(self, columns: usize) -> Result<FeatureMatrix> {
        let rows = self.offsets.len() - 1;
        Ok(FeatureMatrix::Sparse(Csr::try_new(rows, columns, self.offsets, self.columns, self.values)?))
    }
}

/// The features of a checked matrix.
pub(super) fn sparse(matrix: &Compressed) -> Result<FeatureMatrix> {
    let mut rows = Rows::new();
    (0..matrix.rows).for_each(|i| rows.push(&matrix.row(i)));
    rows.finish(matrix.columns)
}

/// Features of an array.
pub(super) fn dense(rows: usize, columns: usize, items: &[f32]) -> Result<FeatureMatrix> {
    Ok(FeatureMatrix::Dense(Block::from_slice(rows, columns, items)?))
}

/// Refuses features that are no finite numbers, and a width that no matrix with so few entries has.
pub(super) fn check_features(file: &str, matrix: &FeatureMatrix) -> Result<()> {
    if let Some((row, column)) = matrix.first_not_finite() {
        let what = format!("the feature at row {row}, column {column} (from 0) is no finite 32-bit number");
        return Err(Error::file(file, what));
    }
    if matrix.cols() > (1 << 20) && matrix.cols() as u64 / 64 > matrix.entries() {
        let what = format!("{} features for {} entries; number the features from 0", matrix.cols(), matrix.entries());
        return Err(Error::file(file, what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(offsets: &[i64], indices: &[i64]) -> Compressed {
        let values = (0..indices.len()).map(|i| i as f64 + 1.0).collect();
        Compressed { rows: 2, columns: 3, offsets: offsets.to_vec(), indices: indices.to_vec(), values }
    }

    #[test]
    fn rows_are_sorted_and_repeats_added() {
        let m = matrix(&[0, 4, 5], &[2, 0, 2, 1, 0]);
        m.check().unwrap();
        assert_eq!(m.row(0), [(0, 2.0), (1, 4.0), (2, 4.0)]);
        assert_eq!(m.row(1), [(0, 5.0)]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        for (offsets, indices, what) in [
            (&[0, 1][..], &[0][..], "2 offsets for 2 rows"),
            (&[0, 2, 1], &[0], "the offsets fall after row 1"),
            (&[1, 1, 1], &[0], "from 1 to 1, not from 0 to 1"),
            (&[0, 1, 2], &[0], "from 0 to 2, not from 0 to 1"),
            (&[-1, 0, 1], &[0], "from -1 to 1"),
            (&[0, 1, 1], &[3], "column 3 is outside of 0 to 2"),
            (&[0, 1, 1], &[-1], "column -1 is outside"),
        ] {
            let text = matrix(offsets, indices).check().unwrap_err();
            assert!(text.contains(what), "{text}");
        }
        let mut m = matrix(&[0, 1, 1], &[0]);
        m.values.push(0.0);
        assert!(m.check().unwrap_err().contains("2 values for 1 column numbers"));
        m = Compressed { rows: usize::MAX, ..matrix(&[0], &[]) };
        assert!(m.check().is_err());
    }
}
