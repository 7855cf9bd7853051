//! Readers and writers: what they accept, what they refuse and in which words, round trips, mutations, memory.

mod files;
mod gaps;
mod mtx;
mod mutations;
mod peak;
mod round_trips;
mod snap;

use sapwood_sparse::any::AnyMatrix;
use sapwood_sparse::io::{Error, Loaded, ReadOptions, Source, read_from};
use sapwood_sparse::{Index, Real, Scalar, with_matrix};

/// Reads `text` as a file of the name `name`.
fn read(name: &str, text: &str, options: &ReadOptions) -> Result<Loaded, Error> {
    read_from(Source::bytes(text.as_bytes(), name), options)
}

/// The message of the error that reading must give.
fn refused(name: &str, text: &str, options: &ReadOptions) -> String {
    match read(name, text, options) {
        Ok(loaded) => panic!("accepted: {:?}", loaded.matrix),
        Err(error) => error.to_string(),
    }
}

/// (row, column, value) of every entry, row by row.
fn entries(matrix: &AnyMatrix) -> Vec<(usize, usize, f64)> {
    with_matrix!(matrix, m => (0..m.rows())
        .flat_map(|row| m.row(row).iter().zip(m.row_values(row)).map(move |(c, v)| (row, c.to_usize(), v.widen().to_f64())))
        .collect())
}

fn places(matrix: &AnyMatrix) -> Vec<(usize, usize)> {
    entries(matrix).into_iter().map(|(row, column, _)| (row, column)).collect()
}
