//! Writing edge lists.

use std::io::{BufWriter, Write};

use super::super::text::Shortest;
use super::super::{Error, Result, WriteOptions};
use super::ENTRY;
use crate::any::AnyMatrix;
use crate::describe::is_symmetric;
use crate::formats::csr::Csr;
use crate::scalar::{Index, Scalar};
use crate::with_matrix;

/// Writes an edge list with its number of nodes; values are written unless the matrix is a pattern.
pub(super) fn write(matrix: &AnyMatrix, options: &WriteOptions, out: &mut dyn Write) -> Result<()> {
    let (rows, cols) = matrix.shape();
    if rows != cols {
        return Err(Error::Unstorable { format: ENTRY.name, what: "a matrix that is not square" });
    }
    let mut out = BufWriter::new(out);
    if options.symmetric && !with_matrix!(matrix, m => is_symmetric(m)) {
        return Err(Error::Unstorable { format: ENTRY.name, what: "each pair once: the matrix is not symmetric" });
    }
    with_matrix!(matrix, m => write_csr(m, options.symmetric, &mut out)).map_err(Error::Write)
}

fn write_csr<V: Scalar, I: Index, P: Index>(m: &Csr<V, I, P>, once: bool, out: &mut impl Write) -> std::io::Result<()> {
    let kept = |row, column| !once || column >= row;
    let edges: usize = (0..m.rows()).map(|row| m.row(row).iter().filter(|c| kept(row, c.to_usize())).count()).sum();
    writeln!(out, "# Nodes: {} Edges: {edges}", m.rows())?;
    for row in 0..m.rows() {
        for (column, value) in m.row(row).iter().map(|c| c.to_usize()).zip(m.row_values(row)) {
            match V::PATTERN {
                _ if !kept(row, column) => {}
                true => writeln!(out, "{row}\t{column}")?,
                false => writeln!(out, "{row}\t{column}\t{}", Shortest(value.widen()))?,
            }
        }
    }
    out.flush()
}
