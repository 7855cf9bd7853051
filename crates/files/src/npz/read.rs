//! Reading an archive of arrays. Start with [`Archive::open`].
//!
//! Sizes and checksums come from the directory at the end of the file, and are not believed: a member must lie inside the
//! file, inflate to exactly the size stated and have the checksum stated. A member is read only when it is asked for, and
//! memory grows with what has been inflated, never with what a field claims. Arrays of Python objects are pickles; they
//! are recognised and never opened.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::directory::{self, Member};
use crate::npy::{self, Array};
use crate::{Error, Result};

/// A file of arrays, open for reading.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    file: File,
    members: Vec<Member>,
    /// Where the directory begins: members end before.
    end: u64,
}

/// What a member that should hold words holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// Plain text: an array of NumPy's `U` type with one axis.
    Text(Vec<String>),
    /// Something else, named: an array of Python objects, or of numbers.
    Other(String),
}

impl Archive {
    /// Opens the archive and reads its directory.
    ///
    /// # Errors
    /// When the file cannot be opened, is no zip archive, is truncated, or has two members of one name.
    pub fn open(path: &Path) -> Result<Archive> {
        let mut file = crate::open::regular(path)?;
        let (members, end) = directory::read(&mut file).map_err(|e| e.at(path))?;
        Ok(Archive { path: path.to_owned(), file, members, end })
    }

    /// Names of the arrays, without `.npy`, in the order of the directory.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(Member::array)
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|n| n == name)
    }

    /// The array `name`, if there is one.
    ///
    /// # Errors
    /// When the member is damaged, encrypted, compressed by something else than deflate, or no array of plain numbers.
    pub fn array(&mut self, name: &str) -> Result<Option<Array>> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        npy::parse(&bytes, &self.place(name)).map(Some)
    }

    /// The words of the array `name`, if there is one.
    ///
    /// # Errors
    /// When the member is damaged or no array at all.
    pub fn words(&mut self, name: &str) -> Result<Option<Words>> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        npy::words(&bytes, &self.place(name)).map(Some)
    }

    /// What messages call a member.
    pub fn place(&self, name: &str) -> PathBuf {
        // not `join`: a name may begin with a slash
        PathBuf::from(format!("{}/{name}", self.path.display()))
    }

    fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(member) = self.members.iter().find(|m| m.array() == name).cloned() else { return Ok(None) };
        let found = content(&mut self.file, &member, self.end);
        found.map(Some).map_err(|e| e.of(&member.name).at(&self.path))
    }
}

/// Something wrong with an archive whose path is not at hand.
pub(super) enum Fault {
    Io(io::Error),
    Damage(String),
}

impl Fault {
    fn at(self, path: &Path) -> Error {
        match self {
            Fault::Io(source) => Error::io("read", path, source),
            Fault::Damage(message) => Error::Npz { path: path.to_owned(), message },
        }
    }

    fn of(self, member: &str) -> Fault {
        match self {
            Fault::Damage(message) => Fault::Damage(format!("member {member}: {message}")),
            io => io,
        }
    }
}

impl From<io::Error> for Fault {
    fn from(e: io::Error) -> Fault {
        Fault::Io(e)
    }
}

pub(super) fn damage<T>(message: impl Into<String>) -> std::result::Result<T, Fault> {
    Err(Fault::Damage(message.into()))
}

/// The content of a member, inflated and checked.
fn content(file: &mut File, member: &Member, end: u64) -> std::result::Result<Vec<u8>, Fault> {
    /// Deflate makes at most 1032 bytes of one.
    const MOST_RATIO: u64 = 1032;
    if member.flags & 1 != 0 {
        return damage("it is encrypted");
    }
    let stored = match member.method {
        0 => true,
        8 => false,
        other => return damage(format!("it is compressed by method {other}; only stored and deflated ones are read")),
    };
    let start = directory::content_start(file, member)?;
    if start.checked_add(member.packed).is_none_or(|stop| stop > end) {
        return damage(format!("its {} bytes from byte {start} do not end before the directory", member.packed));
    }
    if (stored && member.size != member.packed) || member.size / MOST_RATIO > member.packed {
        return damage(format!("{} bytes cannot become {}", member.packed, member.size));
    }
    file.seek(SeekFrom::Start(start))?;
    let packed = io::BufReader::with_capacity(1 << 16, (&mut *file).take(member.packed));
    let mut bytes = Vec::new();
    let limit = member.size + 1; // one byte more shows that there is more
    if stored {
        packed.take(limit).read_to_end(&mut bytes)?;
    } else if let Err(e) = DeflateDecoder::new(packed).take(limit).read_to_end(&mut bytes) {
        return match e.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                damage(format!("its compressed data is corrupt ({e})"))
            }
            io::ErrorKind::UnexpectedEof => damage("its compressed data ends too early"),
            _ => Err(Fault::Io(e)),
        };
    }
    if bytes.len() as u64 != member.size {
        let more = if bytes.len() as u64 > member.size { "more than" } else { "fewer than" };
        return damage(format!("it holds {more} the {} bytes stated", member.size));
    }
    let mut crc = Crc::new();
    crc.update(&bytes);
    if crc.sum() != member.crc {
        return damage("it is corrupt (checksum differs)");
    }
    Ok(bytes)
}
