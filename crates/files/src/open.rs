//! Opening: gzip and Zstandard are recognised by their first bytes, never by the file's name.
//!
//! Every stream made here puts the file's name into the errors it returns while being read, so a
//! truncated or corrupt file is named however far away from [`open`] the reading happens.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::gzip::Members;
use crate::zst::Frames;
use crate::{Error, Result};

const BUFFER: usize = 128 << 10; // bytes of one read call

/// Opens `path` for reading, decompressing gzip (any number of members) and Zstandard (any number
/// of frames) by their magic bytes; everything else is passed through. `-` is standard input.
///
/// # Errors
/// When the file cannot be opened or its first bytes cannot be read. Errors of the returned
/// stream, among them truncated and corrupt compressed data, name the file.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    if path == Path::new("-") {
        let input = BufReader::with_capacity(BUFFER, io::stdin());
        return stream(input, Path::new("standard input"));
    }
    stream(BufReader::with_capacity(BUFFER, regular(path)?), path)
}

/// Reads the whole of `path` as it is stored, compressed or not.
///
/// # Errors
/// When the file cannot be opened or read.
pub fn stored(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular(path)?.read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    Ok(bytes)
}

/// Opens a file. A named pipe, a socket or a device is refused: opening or reading it could wait for ever. What this
/// process was given open (`/dev/stdin`, `/dev/fd/63` of a shell's `<(...)`) and `/dev/null` do not wait so.
///
/// # Errors
/// When there is no such file, when it may not be read, or when it is no file.
pub(crate) fn regular(path: &Path) -> Result<File> {
    let fail = |e| Error::io("open", path, e);
    let kind = std::fs::metadata(path).map_err(fail)?.file_type();
    let given = [Path::new("/dev/fd"), Path::new("/dev/stdin"), Path::new("/dev/null"), Path::new("/proc/self/fd")];
    if !kind.is_file() && !kind.is_dir() && !given.iter().any(|prefix| path.starts_with(prefix)) {
        let what = "it is a named pipe, a socket or a device, not a file; copy what it gives to a file";
        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, what)));
    }
    File::open(path).map_err(fail)
}

/// Reads the whole of `path`, decompressed as [`open`] does; `-` is standard input.
///
/// # Errors
/// When the file cannot be opened or read, or is truncated or corrupt.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut stream = open(path)?;
    stream.read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    Ok(bytes)
}

/// Decompresses bytes in memory (embedded data) as [`open`] does; `name` stands in messages.
///
/// # Errors
/// When the bytes are truncated or corrupt.
pub fn decode(bytes: &[u8], name: &str) -> Result<Vec<u8>> {
    let path = Path::new(name);
    let fail = |e| Error::io("read", path, e);
    let mut out = Vec::new();
    check_not_cut(bytes, path)?;
    match magic(bytes) {
        Magic::Plain => out.extend_from_slice(bytes),
        Magic::Gzip => {
            Members::new(bytes).read_to_end(&mut out).map_err(|e| fail(plain_cause(e)))?;
        }
        Magic::Zstandard => {
            Frames::new(bytes).read_to_end(&mut out).map_err(fail)?;
        }
    }
    Ok(out)
}

/// Finds `dir/name`, `dir/name.gz` or `dir/name.zst`, in this order. A folder or a dangling link of that name is found too:
/// opening it then says what is wrong, where skipping it would silently do without.
pub fn find(dir: &Path, name: &str) -> Option<PathBuf> {
    let there = |path: &PathBuf| path.symlink_metadata().is_ok();
    ["", ".gz", ".zst"].iter().map(|suffix| dir.join(format!("{name}{suffix}"))).find(there)
}

#[derive(Debug, PartialEq)]
enum Magic {
    Plain,
    Gzip,
    Zstandard,
}

/// An empty file has no first bytes to go by; a name that says it is compressed tells that it lost them.
fn check_not_cut(start: &[u8], path: &Path) -> Result<()> {
    let compressed = path.extension().is_some_and(|e| e == "gz" || e == "zst");
    if start.is_empty() && compressed {
        let cause = io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty, not even a compressed nothing");
        return Err(Error::io("read", path, cause));
    }
    Ok(())
}

fn magic(start: &[u8]) -> Magic {
    match start {
        [0x1f, 0x8b, ..] => Magic::Gzip,
        // a frame, or a skippable frame (RFC 8878, 3.1.2)
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Magic::Zstandard,
        _ => Magic::Plain,
    }
}

fn stream<R: BufRead + Send + 'static>(mut source: R, path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let mut start = Vec::with_capacity(4);
    // not `fill_buf`: a pipe may hand over its first bytes one by one
    source.by_ref().take(4).read_to_end(&mut start).map_err(|e| Error::io("read", path, e))?;
    let kind = magic(&start);
    check_not_cut(&start, path)?;
    let whole = Cursor::new(start).chain(source);
    Ok(match kind {
        Magic::Plain => named(whole, path),
        Magic::Gzip => named(BufReader::with_capacity(BUFFER, Members::new(whole)), path),
        Magic::Zstandard => named(BufReader::with_capacity(BUFFER, Frames::new(whole)), path),
    })
}

fn named<R: BufRead + Send + 'static>(inner: R, path: &Path) -> Box<dyn BufRead + Send> {
    Box::new(Named { inner, path: path.to_owned() })
}

/// A stream whose errors say which file they are about.
struct Named<R> {
    inner: R,
    path: PathBuf,
}

impl<R: BufRead> Read for Named<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out).map_err(|e| name_in(&self.path, e))
    }
}

impl<R: BufRead> BufRead for Named<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf().map_err(|e| name_in(&self.path, e))
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

/// Keeps the kind: callers retry `Interrupted`.
fn name_in(path: &Path, e: io::Error) -> io::Error {
    let kind = e.kind();
    io::Error::new(kind, format!("{}: {}", path.display(), plain_cause(e)))
}

/// The gzip decoder reports truncation as a bare "unexpected end of file".
fn plain_cause(e: io::Error) -> io::Error {
    match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::new(e.kind(), "compressed data ends too early, the file is truncated")
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            io::Error::new(io::ErrorKind::InvalidData, format!("compressed data is corrupt ({e})"))
        }
        _ => e,
    }
}
