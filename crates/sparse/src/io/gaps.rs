//! `gaps` text: a pattern whose rows are written as differences of column numbers, small where neighbours are near.
//!
//! `# sapwood gaps 1`, `# rows R cols C entries E`, then one line a row: empty, or `column0 - row` followed by
//! `column_j - column_(j-1) - 1`. Columns ascend strictly. Rows cost a line each, so nothing declared is believed.

use std::io::{BufWriter, Write};

use super::bound;
use super::build::{AscendingRows, Numbers};
use super::text::{Cursor, Wrong, newline, space};
use super::{Entry, Error, Facts, Loaded, ReadOptions, Result, Source, Values, WriteOptions};
use crate::any::AnyMatrix;
use crate::formats::csr::Csr;
use crate::scalar::{Index, One, Scalar};
use crate::with_width;

/// This format.
pub(super) const ENTRY: Entry = Entry {
    name: "gaps",
    summary: "pattern as text: column gaps, one line a row",
    extensions: &["gaps"],
    sniff: |head| head.starts_with(MAGIC),
    read,
    write,
};

const MAGIC: &[u8] = b"# sapwood gaps";
const FIRST: &[u8] = b"# sapwood gaps 1";

/// Reads a `gaps` file as a matrix.
///
/// # Errors
/// `file:line` for whatever is not as the header says; and the errors of [`super::read`].
pub fn read(source: Source<'_>, options: &ReadOptions) -> Result<Loaded> {
    source.no_edge_options(options, ENTRY.name)?;
    if options.assume.is_some() {
        return Err(source.refuses("--assume", "Matrix Market files", ENTRY.name));
    }
    let name = source.name.clone();
    let mut blocks = source.blocks();
    let mut parser = Parser::new(&name);
    let mut line = 1;
    loop {
        let cut = if line < 3 { newline } else { space };
        let Some(text) = blocks.next(line, cut)? else { break };
        let mut cursor = Cursor::new(text, line);
        parser.block(&mut cursor)?;
        line = cursor.line;
        let bytes = parser.columns.len() as u128 * parser.columns.width() as u128;
        bound::memory(&name, "the entries", bytes, options)?;
    }
    parser.complete(line.saturating_sub(1).max(1))?;
    parser.matrix(options)
}

/// The numbers of the second line.
#[derive(Clone, Copy)]
struct Sizes {
    rows: u64,
    cols: u64,
    entries: u64,
}

struct Parser {
    name: String,
    sizes: Option<Sizes>,
    /// Ends of the rows read.
    offsets: Numbers,
    columns: Numbers,
    /// The column before, in the row that is being read.
    before: Option<u64>,
}

impl Parser {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), sizes: None, offsets: Numbers::new(), columns: Numbers::new(), before: None }
    }

    fn wrong(&self, line: u64, wrong: Wrong) -> Error {
        Error::line(&self.name, line, wrong)
    }

    fn block(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        while !cursor.is_at_end() {
            let line = cursor.line;
            match (line, self.sizes) {
                (1, _) => first_line(cursor.rest_of_line()).map_err(|w| self.wrong(line, w))?,
                (_, None) => {
                    self.sizes = Some(second_line(cursor.rest_of_line()).map_err(|w| self.wrong(line, w))?);
                    self.offsets.push(0, &self.name)?;
                }
                (_, Some(sizes)) => self.row(sizes, cursor)?,
            }
        }
        Ok(())
    }

    /// Rows finished so far.
    fn rows(&self) -> u64 {
        (self.offsets.len() as u64).saturating_sub(1)
    }

    /// Numbers up to the end of the row or of the block.
    fn row(&mut self, sizes: Sizes, cursor: &mut Cursor<'_>) -> Result<()> {
        let row = self.rows();
        loop {
            cursor.blanks();
            if cursor.is_at_end() {
                return Ok(());
            }
            if cursor.line_end() {
                return if row < sizes.rows { self.end_row() } else { Ok(()) };
            }
            if row >= sizes.rows {
                let declared = sizes.rows;
                return Err(self.wrong(cursor.line, Wrong::TooMany { what: "rows", declared }));
            }
            let column = column(cursor, row, self.before, sizes.cols).map_err(|w| self.wrong(cursor.line, w))?;
            self.before = Some(column);
            self.columns.push(column, &self.name)?;
        }
    }

    fn end_row(&mut self) -> Result<()> {
        self.before = None;
        self.offsets.push(self.columns.len() as u64, &self.name)
    }

    /// Refuses a text that ended too early, at line `last`.
    fn complete(&mut self, last: u64) -> Result<()> {
        let Some(sizes) = self.sizes else {
            return Err(self.wrong(last, Wrong::Missing { what: "the line `# rows R cols C entries E`" }));
        };
        if self.before.is_some() {
            self.end_row()?; // a blank behind the last number, and no line end
        }
        if self.rows() < sizes.rows {
            let declared = u128::from(sizes.rows);
            return Err(self.wrong(last, Wrong::TooFew { found: self.rows(), declared, what: "rows" }));
        }
        let (found, declared) = (self.columns.len() as u64, sizes.entries);
        if found != declared {
            let message = format!("the header declares {declared} entries, but the rows hold {found}");
            return Err(self.wrong(2, Wrong::Header(message)));
        }
        Ok(())
    }

    fn matrix(mut self, options: &ReadOptions) -> Result<Loaded> {
        self.offsets.shrink();
        self.columns.shrink();
        let Some(Sizes { rows, cols, .. }) = self.sizes else {
            return Err(self.wrong(1, Wrong::Missing { what: "sizes" }));
        };
        let pattern = AscendingRows { rows, cols, offsets: self.offsets, columns: self.columns };
        let name = &self.name;
        let matrix = match options.values {
            Values::Pattern | Values::StoredF32 | Values::StoredF64 => pattern.build::<One>(name, options),
            Values::F32 => pattern.build::<f32>(name, options),
            Values::F64 => pattern.build::<f64>(name, options),
        };
        Ok(Loaded { matrix: matrix?, facts: Facts { format: ENTRY.name, ..Facts::default() } })
    }
}

fn first_line(line: &[u8]) -> Result<(), Wrong> {
    if line.trim_ascii_end() == FIRST {
        return Ok(());
    }
    Err(Wrong::Header("the first line must be `# sapwood gaps 1`".to_owned()))
}

fn second_line(line: &[u8]) -> Result<Sizes, Wrong> {
    let text = String::from_utf8_lossy(line);
    let words: Vec<&str> = text.split_whitespace().collect();
    let ["#", "rows", rows, "cols", cols, "entries", entries] = words[..] else {
        return Err(Wrong::Header("the second line must be `# rows R cols C entries E`".to_owned()));
    };
    let number = |what, word: &str| Cursor::new(word.as_bytes(), 2).index(what);
    Ok(Sizes {
        rows: number("the number of rows", rows)?,
        cols: number("the number of columns", cols)?,
        entries: number("the number of entries", entries)?,
    })
}

/// The column that the number here stands for.
#[inline(always)]
fn column(cursor: &mut Cursor<'_>, row: u64, before: Option<u64>, cols: u64) -> Result<u64, Wrong> {
    let column = match before {
        Some(before) => i128::from(before) + 1 + i128::from(cursor.index("gap")?),
        None => i128::from(row) + i128::from(cursor.integer("distance from the diagonal")?),
    };
    if cursor.peek() == b',' {
        return Err(cursor.surplus("number"));
    }
    match u64::try_from(column) {
        Ok(column) if column < cols => Ok(column),
        Ok(found) => Err(Wrong::Column { found, cols }),
        Err(_) => Err(Wrong::Negative { what: "column", found: column.to_string() }),
    }
}

/// Writes the pattern of `matrix`.
fn write(matrix: &AnyMatrix, options: &WriteOptions, out: &mut dyn Write) -> Result<()> {
    let refuse = |what| Err(Error::Unstorable { format: ENTRY.name, what });
    match matrix {
        AnyMatrix::Pattern(_) if options.symmetric => refuse("one triangle only"),
        AnyMatrix::Pattern(pattern) if with_width!(pattern, m => m.has_duplicates()) => refuse("repeated entries"),
        AnyMatrix::Pattern(pattern) => {
            let mut out = BufWriter::new(out);
            with_width!(pattern, m => write_csr(m, &mut out)).map_err(Error::Write)
        }
        _ => refuse("values (--pattern drops them)"),
    }
}

fn write_csr<V: Scalar, I: Index, P: Index>(m: &Csr<V, I, P>, out: &mut impl Write) -> std::io::Result<()> {
    out.write_all(FIRST)?;
    writeln!(out, "\n# rows {} cols {} entries {}", m.rows(), m.cols(), m.entries())?;
    for row in 0..m.rows() {
        let mut before = None;
        for column in m.row(row).iter().map(|c| c.to_usize()) {
            match before {
                Some(before) => write!(out, " {}", column - before - 1)?,
                None => write!(out, "{}", column as i128 - row as i128)?,
            }
            before = Some(column);
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}
