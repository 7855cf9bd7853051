//! Columns of text that stand below each other.

use std::io::{Result, Write};

/// Writes rows with every column as wide as its widest cell, two blanks between columns.
pub(crate) fn aligned<R: AsRef<[String]>>(rows: &[R], out: &mut dyn Write) -> Result<()> {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |column: usize| rows.iter().map(|row| row.as_ref()[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows.iter().map(AsRef::as_ref) {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &w)| format!("{cell:<w$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
