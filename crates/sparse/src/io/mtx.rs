//! Matrix Market (Boisvert, Pozo & Remington, NISTIR 5935, 1996): a banner, comments, a size line, 1-based entries.
//!
//! Read: `coordinate` and `array`, `real`, `integer` and `pattern`, `general`, `symmetric` and `skew-symmetric`.
//! Coordinate entries stand one on a line, array values anywhere. The zeros of an array are not stored.
//! Start with [`read`]; what a banner may say is in [`Banner`].

mod banner;
mod write;

pub use banner::{Banner, Field, Layout, Symmetry};

use super::bound::{self, room};
use super::build::{Mirror, Numbers, Triplets};
use super::text::{Cursor, Wrong, newline, space};
use super::{Entry, Error, Loaded, ReadOptions, Result, Source, Values};
use crate::any::Stored;
use crate::scalar::One;

/// This format.
pub(super) const ENTRY: Entry = Entry {
    name: "mtx",
    summary: "Matrix Market: coordinate or array text with a banner",
    extensions: &["mtx", "mm"],
    sniff: banner::starts,
    read,
    write: write::write,
};

const ADVICE: &str = "--nodes N with N not below the rows accepts them";

/// Reads a Matrix Market file as a matrix.
///
/// # Errors
/// `file:line` for whatever is not as the banner says; and the errors of [`super::read`].
pub fn read(source: Source<'_>, options: &ReadOptions) -> Result<Loaded> {
    source.no_edge_options(options, ENTRY.name)?;
    match options.values {
        Values::Pattern => matrix::<One>(source, options),
        Values::F32 | Values::StoredF32 => matrix::<f32>(source, options),
        Values::F64 | Values::StoredF64 => matrix::<f64>(source, options),
    }
}

fn matrix<V: Stored>(source: Source<'_>, options: &ReadOptions) -> Result<Loaded> {
    let name = source.name.clone();
    let mut blocks = source.blocks();
    let mut parser = Parser::<V>::new(&name, options);
    let mut line = 1;
    while let Some(text) = blocks.next(line, parser.cut())? {
        let mut cursor = Cursor::new(text, line);
        parser.block(&mut cursor)?;
        line = cursor.line;
        let each = parser.from.width() + parser.to.width() + size_of::<V>();
        bound::memory(&name, "the entries", parser.from.len() as u128 * each as u128, options)?;
    }
    parser.complete(line.saturating_sub(1).max(1))?;
    bound::rows(parser.rows, blocks.taken(), options, || name.clone(), ADVICE)?;
    super::finish(parser.triplets(), &name, options)
}

/// What is known so far.
struct Parser<'o, V> {
    name: String,
    options: &'o ReadOptions,
    banner: Option<Banner>,
    sized: bool,
    rows: u64,
    cols: u64,
    /// Entries or values that the text must hold.
    declared: u128,
    found: u64,
    /// Array: place of the next value.
    next: (u64, u64),
    from: Numbers,
    to: Numbers,
    values: Vec<V>,
}

impl<'o, V: Stored> Parser<'o, V> {
    fn new(name: &str, options: &'o ReadOptions) -> Self {
        Self {
            name: name.to_owned(),
            options,
            banner: None,
            sized: false,
            rows: 0,
            cols: 0,
            declared: 0,
            found: 0,
            next: (0, 0),
            from: Numbers::new(),
            to: Numbers::new(),
            values: Vec::new(),
        }
    }

    fn wrong(&self, line: u64, wrong: Wrong) -> Error {
        Error::line(&self.name, line, wrong)
    }

    /// Where blocks may end: array values may all stand on one line.
    fn cut(&self) -> fn(u8) -> bool {
        match self.banner {
            Some(banner) if banner.layout == Layout::Array => space,
            _ => newline,
        }
    }

    fn block(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let banner = match self.banner {
            Some(banner) => banner,
            None => self.head(cursor)?,
        };
        while !self.sized && !cursor.is_at_end() {
            let line = cursor.line;
            self.sizes(banner, cursor).map_err(|wrong| self.wrong(line, wrong))?;
        }
        match banner.layout {
            Layout::Coordinate => self.entries(banner, cursor),
            Layout::Array => self.array(banner, cursor),
        }
    }

    /// The banner: the first line, or what the caller assumes.
    fn head(&mut self, cursor: &mut Cursor<'_>) -> Result<Banner> {
        let first = cursor.clone().rest_of_line();
        let banner = match self.options.assume {
            Some(assumed) if !banner::starts(first) => assumed,
            _ => Banner::parse(cursor.rest_of_line()).map_err(|wrong| self.wrong(1, wrong))?,
        };
        self.banner = Some(banner);
        Ok(banner)
    }

    /// A comment, a blank line, or the size line.
    fn sizes(&mut self, banner: Banner, cursor: &mut Cursor<'_>) -> Result<(), Wrong> {
        cursor.blanks();
        match cursor.peek() {
            b'%' => _ = cursor.rest_of_line(),
            b'\n' => _ = cursor.line_end(),
            _ => {
                self.rows = cursor.index("the number of rows")?;
                cursor.blanks();
                self.cols = cursor.index("the number of columns")?;
                cursor.blanks();
                self.declared = match banner.layout {
                    Layout::Coordinate => u128::from(cursor.index("the number of entries")?),
                    Layout::Array => banner.values(self.rows, self.cols),
                };
                cursor.blanks();
                if !cursor.line_end() {
                    return Err(cursor.surplus(match banner.layout {
                        Layout::Coordinate => "sizes (`rows columns entries`)",
                        Layout::Array => "sizes (`rows columns`)",
                    }));
                }
                banner.fits(self.rows, self.cols)?;
                self.next = (banner.first_row(0), 0);
                self.sized = true;
            }
        }
        Ok(())
    }

    /// Lines `row column [value]`.
    fn entries(&mut self, banner: Banner, cursor: &mut Cursor<'_>) -> Result<()> {
        while !cursor.is_at_end() {
            cursor.blanks();
            if cursor.line_end() {
                continue;
            }
            let line = cursor.line;
            let (row, column, value) = self.entry(banner, cursor).map_err(|wrong| self.wrong(line, wrong))?;
            self.push(row, column, value)?;
        }
        Ok(())
    }

    /// One entry, counted from 0, and its line's end.
    #[inline(always)]
    fn entry(&mut self, banner: Banner, cursor: &mut Cursor<'_>) -> Result<(u64, u64, Option<f64>), Wrong> {
        if u128::from(self.found) == self.declared {
            return Err(Wrong::TooMany { what: banner.counted(), declared: self.found });
        }
        self.found += 1;
        let row = place(cursor, "row", self.rows)?;
        if !cursor.blanks() {
            return Err(cursor.no_separator());
        }
        let column = place(cursor, "column", self.cols)?;
        let apart = cursor.blanks();
        let value = match banner.field {
            Field::Pattern => None,
            _ if !apart && !cursor.is_at_line_end() => return Err(cursor.no_separator()),
            Field::Integer => Some(cursor.integer("value")? as f64),
            Field::Real => Some(cursor.float()?),
        };
        cursor.blanks();
        if !cursor.line_end() {
            return Err(cursor.surplus(match banner.field {
                Field::Pattern => "entry (`row column`)",
                _ => "entry (`row column value`)",
            }));
        }
        banner.allows(row, column)?;
        Ok((row, column, value))
    }

    /// Values column by column, those of a triangle only where the rest follows from it.
    fn array(&mut self, banner: Banner, cursor: &mut Cursor<'_>) -> Result<()> {
        loop {
            cursor.blanks();
            if cursor.line_end() {
                continue;
            }
            if cursor.is_at_end() {
                return Ok(());
            }
            let value = self.value(banner, cursor).map_err(|wrong| self.wrong(cursor.line, wrong))?;
            let (row, column) = self.next;
            if value != 0.0 {
                self.push(row, column, Some(value))?;
            }
            self.next =
                if row + 1 < self.rows { (row + 1, column) } else { (banner.first_row(column + 1), column + 1) };
        }
    }

    fn value(&mut self, banner: Banner, cursor: &mut Cursor<'_>) -> Result<f64, Wrong> {
        if u128::from(self.found) == self.declared {
            return Err(Wrong::TooMany { what: banner.counted(), declared: self.found });
        }
        self.found += 1;
        match banner.field {
            Field::Integer => Ok(cursor.integer("value")? as f64),
            Field::Real | Field::Pattern => cursor.float(),
        }
    }

    #[inline(always)]
    fn push(&mut self, row: u64, column: u64, value: Option<f64>) -> Result<()> {
        self.from.push(row, &self.name)?;
        self.to.push(column, &self.name)?;
        if let Some(value) = value {
            room(&mut self.values, &self.name)?;
            self.values.push(V::from_f64(value));
        }
        Ok(())
    }

    /// Refuses a text that ended too early, at line `last`.
    fn complete(&self, last: u64) -> Result<()> {
        let Some(banner) = self.banner else {
            return Err(self.wrong(1, banner::missing()));
        };
        if !self.sized {
            return Err(self.wrong(last, Wrong::Missing { what: "the size line" }));
        }
        if u128::from(self.found) == self.declared {
            return Ok(());
        }
        let wrong = Wrong::TooFew { found: self.found, declared: self.declared, what: banner.counted() };
        Err(self.wrong(last, wrong))
    }

    fn triplets(self) -> Triplets<V> {
        let Self { rows, cols, from, to, values, .. } = self;
        let (valued, mirror) = match self.banner {
            Some(banner) => (banner.field != Field::Pattern, banner.mirror()),
            None => (false, Mirror::No),
        };
        let values = valued.then_some(values);
        Triplets { format: ENTRY.name, rows, cols, from, to, values, mirror, originals: None }
    }
}

/// A row or column of an entry, counted from 1 in the text and from 0 here.
#[inline(always)]
fn place(cursor: &mut Cursor<'_>, what: &'static str, count: u64) -> Result<u64, Wrong> {
    let number = cursor.index(what)?;
    if number == 0 {
        return Err(Wrong::Zero { what });
    }
    if number > count {
        return Err(Wrong::Beyond { what, found: number, last: count });
    }
    Ok(number - 1)
}
