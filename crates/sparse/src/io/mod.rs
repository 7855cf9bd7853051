//! Files: one format per file of this folder, one line of [`ALL`] per format.
//!
//! A reader takes text of unknown origin to a checked matrix. It never panics, never trusts a declared size (memory
//! depends on the bytes that are really there, see `bound`), and says `file:line` when something is wrong.
//! Start with [`read`]; formats are recognised by content, then by extension. Compression is `sapwood-files`' matter.

mod bound;
mod build;
pub mod gaps;
pub mod mtx;
mod options;
pub mod snap;
mod text;

pub use options::{Duplicates, ReadOptions, Values, WriteOptions};
pub use text::Wrong;

use std::io::{BufRead, Cursor, Write};
use std::path::{Path, PathBuf};

use crate::any::{AnyMatrix, AnyWidth, Stored};
use crate::check;
use crate::formats::csr::Csr;
use build::Triplets;
use text::Blocks;

/// A file format.
pub struct Entry {
    /// Name, as messages and `--format` spell it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Endings of file names, without the point and without `.gz`.
    pub extensions: &'static [&'static str],
    /// Whether the first bytes of a file (decompressed, without a byte order mark) can only be this format.
    pub sniff: fn(&[u8]) -> bool,
    /// Reads a matrix.
    pub read: fn(Source<'_>, &ReadOptions) -> Result<Loaded>,
    /// Writes a matrix.
    pub write: fn(&AnyMatrix, &WriteOptions, &mut dyn Write) -> Result<()>,
}

/// Every format. The last one takes what nothing else claims.
pub static ALL: &[Entry] = &[mtx::ENTRY, gaps::ENTRY, snap::ENTRY];

/// A matrix from a file.
#[derive(Debug)]
pub struct Loaded {
    /// The matrix: rows ascending, duplicates treated as asked for.
    pub matrix: AnyMatrix,
    /// What was seen on the way.
    pub facts: Facts,
}

/// What a reader saw.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Facts {
    /// Name of the format.
    pub format: &'static str,
    /// Entries beyond the first at the same place (merged or kept, as [`ReadOptions::duplicates`] says).
    pub duplicates: u64,
    /// Rows whose entries did not ascend.
    pub unsorted_rows: u64,
    /// With [`ReadOptions::relabel`]: the id in the file of every node.
    pub originals: Option<Vec<u64>>,
}

/// What can go wrong with a file of a matrix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or written.
    #[error(transparent)]
    Files(#[from] sapwood_files::Error),
    /// Reading stopped, or the compressed data is truncated or corrupt.
    #[error("cannot read {name}")]
    Read {
        /// The file.
        name: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Writing stopped.
    #[error("cannot write a matrix")]
    Write(#[source] std::io::Error),
    /// A line is not as it must be.
    #[error("{name}:{line}: {wrong}")]
    Line {
        /// The file.
        name: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        wrong: Wrong,
    },
    /// More rows than the size of the file makes believable.
    #[error(
        "{place}: {rows} rows are too many for {taken} bytes of text (their offsets alone take {bytes} bytes); {advice}"
    )]
    Rows {
        /// The file, and the line where there is one.
        place: String,
        /// Rows asked for.
        rows: u64,
        /// Bytes of text, decompressed.
        taken: u64,
        /// Bytes wanted.
        bytes: u128,
        /// What to do.
        advice: &'static str,
    },
    /// The arrays do not fit.
    #[error("{name}: {what} would take {bytes} bytes; {available} are available")]
    Memory {
        /// The file.
        name: String,
        /// Which arrays.
        what: &'static str,
        /// Bytes wanted.
        bytes: u128,
        /// Bytes at hand, or the reason why none.
        available: String,
    },
    /// The arrays of the matrix are not a matrix.
    #[error("{name}: {fault}")]
    Check {
        /// The file.
        name: String,
        /// What is wrong.
        fault: crate::check::Error,
    },
    /// An option that the format has no use for.
    #[error("{name}: {option} is for {meant}, but the format of this file is `{format}`")]
    Option {
        /// The file.
        name: String,
        /// The option.
        option: &'static str,
        /// What it is for.
        meant: &'static str,
        /// The format found.
        format: &'static str,
    },
    /// The format cannot store this matrix.
    #[error("{format} files cannot store {what}")]
    Unstorable {
        /// Name of the format.
        format: &'static str,
        /// What is in the way.
        what: &'static str,
    },
    /// No format has this ending.
    #[error("{}: no format has this ending; use one of {known}", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
        /// Endings of all formats.
        known: String,
    },
}

/// `Result` with this module's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    fn line(name: &str, line: u64, wrong: Wrong) -> Self {
        Self::Line { name: name.to_owned(), line, wrong }
    }

    fn read(name: &str, source: std::io::Error) -> Self {
        Self::Read { name: name.to_owned(), source }
    }
}

/// Text to read a matrix from, and the name that messages give them.
pub struct Source<'a> {
    bytes: Box<dyn BufRead + Send + 'a>,
    name: String,
}

impl<'a> Source<'a> {
    /// The file at `path`, decompressed by its content; `-` is standard input.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<Source<'static>> {
        let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
        Ok(Source { bytes: sapwood_files::open(path)?, name })
    }

    /// Text in memory, not compressed.
    pub fn bytes(bytes: &'a [u8], name: &str) -> Source<'a> {
        Source::stream(Cursor::new(bytes), name)
    }

    /// Text from anywhere, not compressed.
    pub fn stream(bytes: impl BufRead + Send + 'a, name: &str) -> Source<'a> {
        Source { bytes: Box::new(bytes), name: name.to_owned() }
    }

    /// The complaint that `option` is set, which is for `meant`, while the file has the format `format`.
    fn refuses(&self, option: &'static str, meant: &'static str, format: &'static str) -> Error {
        Error::Option { name: self.name.clone(), option, meant, format }
    }

    /// Refuses the options that are for edge lists only.
    fn no_edge_options(&self, options: &ReadOptions, format: &'static str) -> Result<()> {
        let set =
            [(options.undirected, "--undirected"), (options.one_based, "--one-based"), (options.relabel, "--relabel")];
        match set.iter().find(|(set, _)| *set) {
            Some((_, option)) => Err(self.refuses(option, "edge lists", format)),
            None => Ok(()),
        }
    }

    /// The first bytes, without a byte order mark, still to be read afterwards.
    fn peek(&mut self) -> Result<Vec<u8>> {
        const HEAD: usize = 64;
        let mut head = vec![0; HEAD];
        let mut filled = 0;
        while filled < HEAD {
            match self.bytes.read(&mut head[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::read(&self.name, e)),
            }
        }
        head.truncate(filled);
        let rest = std::mem::replace(&mut self.bytes, Box::new(std::io::empty()));
        self.bytes = Box::new(std::io::Read::chain(Cursor::new(head.clone()), rest));
        Ok(head.strip_prefix(b"\xef\xbb\xbf").map_or(head.clone(), <[u8]>::to_vec))
    }

    fn blocks(self) -> Blocks<'a> {
        Blocks::new(self.bytes, &self.name)
    }
}

/// Reads the matrix in the file at `path` (`-` is standard input). Time is linear in the bytes of the text; memory is
/// at most 2.2 times the bytes of the matrix, and bounded by the text (see `bound`).
///
/// # Errors
/// When the file cannot be read, when a line of it is wrong (`file:line`), when its sizes are not believable, and when
/// it holds repeated entries that `options` refuses.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Loaded> {
    read_from(Source::open(path)?, options)
}

/// [`read`] from any source.
///
/// # Errors
/// As [`read`].
pub fn read_from(mut source: Source<'_>, options: &ReadOptions) -> Result<Loaded> {
    let head = source.peek()?;
    let format = recognise(&head, Path::new(&source.name), options);
    (format.read)(source, options)
}

/// [`read`] into one value type: a file without values gives ones (repeated entries are counted when they are summed),
/// `One` drops the values. Indices are 32-bit and offsets 64-bit.
///
/// # Errors
/// As [`read`], and when the matrix has 2^32 − 1 rows or columns or more.
pub fn read_as<V: Stored>(source: Source<'_>, options: &ReadOptions) -> Result<(Csr<V>, Facts)> {
    let name = source.name.clone();
    let options = ReadOptions { values: V::ASKED, ..options.clone() };
    let loaded = read_from(source, &options)?;
    let values = |name: &str| format!("{name} values");
    let [found, ..] = loaded.matrix.types().map(values);
    let wrong = || check::Error::Types { found, wanted: values(V::NAME) };
    let matrix = V::open(loaded.matrix).ok_or_else(wrong).and_then(AnyWidth::into_csr);
    Ok((matrix.map_err(|fault| Error::Check { name, fault })?, loaded.facts))
}

/// Writes `matrix` to `path` in the format that the ending of its name says; the file appears whole or not at all.
///
/// # Errors
/// When no format has this ending, when the format cannot store the matrix, and when writing fails.
pub fn write(path: &Path, matrix: &AnyMatrix, options: &WriteOptions) -> Result<()> {
    let format = by_ending(path).ok_or_else(|| {
        let known: Vec<String> = ALL.iter().flat_map(|f| f.extensions).map(|e| format!(".{e}")).collect();
        Error::Ending { path: path.to_owned(), known: known.join(", ") }
    })?;
    let mut refused = None;
    let written = sapwood_files::write_atomic(path, |out| match (format.write)(matrix, options, out) {
        Ok(()) => Ok(()),
        Err(Error::Write(e)) => Err(e),
        Err(other) => {
            refused = Some(other);
            Err(std::io::ErrorKind::Unsupported.into())
        }
    });
    match refused {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

/// The format of a file: by its first bytes, then by its ending, then an edge list.
fn recognise(head: &[u8], path: &Path, options: &ReadOptions) -> &'static Entry {
    let last = &ALL[ALL.len() - 1];
    if let Some(format) = ALL.iter().find(|f| (f.sniff)(head)) {
        return format;
    }
    if options.assume.is_some() {
        return ALL.iter().find(|f| f.name == mtx::ENTRY.name).unwrap_or(last);
    }
    by_ending(path).unwrap_or(last)
}

/// The format whose extension `path` has, before `.gz` or `.zst`.
fn by_ending(path: &Path) -> Option<&'static Entry> {
    let lower = path.file_name()?.to_str()?.to_ascii_lowercase();
    let plain = lower.strip_suffix(".gz").or(lower.strip_suffix(".zst")).unwrap_or(&lower);
    let (_, ending) = plain.rsplit_once('.')?;
    ALL.iter().find(|f| f.extensions.contains(&ending))
}

/// What a text holds, as a matrix whose number types fit it.
fn finish<V: Stored>(read: Triplets<V>, name: &str, options: &ReadOptions) -> Result<Loaded> {
    let stored = matches!(options.values, Values::StoredF32 | Values::StoredF64);
    if options.values == Values::Pattern || (stored && read.values.is_none()) {
        return read.without_values().build(name, options);
    }
    read.build(name, options)
}
