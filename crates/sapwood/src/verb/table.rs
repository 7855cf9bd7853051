//! Columns of text that stand below each other.

use std::io::{Result, Write};

/// Writes rows with every column as wide as its widest cell, two blanks between columns.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]], out: &mut dyn Write) -> Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &w)| format!("{cell:<w$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
