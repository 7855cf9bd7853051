//! Writing Matrix Market: `coordinate`, numbers that read back to the same bits.

use std::io::{BufWriter, Write};

use super::super::text::Shortest;
use super::super::{Error, Result, WriteOptions};
use super::{Banner, ENTRY, Field, Layout, Symmetry};
use crate::any::AnyMatrix;
use crate::describe::is_symmetric;
use crate::formats::csr::Csr;
use crate::scalar::{Index, Scalar};
use crate::with_matrix;

/// Writes `matrix`, on request as its lower triangle.
pub(super) fn write(matrix: &AnyMatrix, options: &WriteOptions, out: &mut dyn Write) -> Result<()> {
    if options.symmetric && !with_matrix!(matrix, m => is_symmetric(m)) {
        return Err(Error::Unstorable { format: ENTRY.name, what: "one triangle only: the matrix is not symmetric" });
    }
    let symmetry = if options.symmetric { Symmetry::Symmetric } else { Symmetry::General };
    let mut out = BufWriter::new(out);
    with_matrix!(matrix, m => write_csr(m, symmetry, &mut out)).map_err(Error::Write)
}

fn write_csr<V: Scalar, I: Index, P: Index>(
    m: &Csr<V, I, P>,
    symmetry: Symmetry,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let field = if V::PATTERN { Field::Pattern } else { Field::Real };
    let banner = Banner { layout: Layout::Coordinate, field, symmetry };
    let stored = |row: usize| {
        let all = m.row(row);
        match symmetry {
            Symmetry::General => all.len(),
            _ => all.partition_point(|column| column.to_usize() <= row),
        }
    };
    let entries: usize = (0..m.rows()).map(stored).sum();
    writeln!(out, "%%MatrixMarket matrix {banner}")?;
    writeln!(out, "{} {} {entries}", m.rows(), m.cols())?;
    for row in 0..m.rows() {
        for (column, value) in m.row(row).iter().zip(m.row_values(row)).take(stored(row)) {
            match V::PATTERN {
                true => writeln!(out, "{} {}", row + 1, column.to_usize() + 1)?,
                false => writeln!(out, "{} {} {}", row + 1, column.to_usize() + 1, Shortest(value.widen()))?,
            }
        }
    }
    out.flush()
}
