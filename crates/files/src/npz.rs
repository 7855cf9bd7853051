//! NumPy `.npz`: several arrays in one file, a zip archive. [`write()`] stores its members without compression; [`Archive`]
//! reads what NumPy writes, compressed or not, of any size.
//!
//! The same arrays give the same bytes: members carry no date. Archives above 4 GiB are not written (they would need
//! zip64).

mod directory;
mod read;

pub use read::{Archive, Words};

use std::io::{self, Write};
use std::path::Path;

use flate2::Crc;

use crate::npy::{self, Array};
use crate::{Error, Result};

/// 1 January 1980, the first date that a zip archive knows.
const DATE: u16 = 1 << 5 | 1;
const VERSION: u16 = 20; // 2.0: what every reader knows

/// Writes arrays to `path` under their names, atomically; `numpy.load` then gives `file[name]`.
///
/// # Errors
/// As [`npy::write`]; more than 65 534 arrays, a name longer than 65 531 bytes, or more than 4 GiB.
pub fn write(path: &Path, arrays: &[(&str, &Array)]) -> Result<()> {
    arrays.iter().try_for_each(|(_, array)| npy::check_shape(path, array))?;
    crate::write_atomic(path, |out| archive(arrays, out)).map_err(|e| match e {
        Error::Io { source, .. } => Error::io("write", path, source),
        other => other,
    })
}

fn archive(arrays: &[(&str, &Array)], out: &mut dyn Write) -> io::Result<()> {
    let mut at = 0u32;
    let mut directory = Vec::new();
    for (name, array) in arrays {
        let mut body = Vec::new();
        npy::encode(array, &mut body)?;
        let member = Member::new(format!("{name}.npy"), &body, at)?;
        let head = member.local();
        out.write_all(&head)?;
        out.write_all(&body)?;
        at = sum(at, head.len() + body.len())?;
        directory.extend(member.central());
    }
    out.write_all(&directory)?;
    out.write_all(&end(arrays.len(), directory.len(), at)?)
}

/// What both headers of a member say.
struct Member {
    name: String,
    crc: u32,
    size: u32,
    at: u32,
}

impl Member {
    fn new(name: String, body: &[u8], at: u32) -> io::Result<Member> {
        small(name.len())?;
        let mut crc = Crc::new();
        crc.update(body);
        Ok(Member { crc: crc.sum(), size: sum(0, body.len())?, name, at })
    }

    /// Version, flags (none), method (stored), time, date, checksum, both sizes, length of the name, nothing extra.
    fn facts(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for word in [VERSION, 0, 0, 0, DATE] {
            out.extend(word.to_le_bytes());
        }
        for word in [self.crc, self.size, self.size] {
            out.extend(word.to_le_bytes());
        }
        out.extend((self.name.len() as u16).to_le_bytes());
        out.extend([0, 0]);
        out
    }

    fn local(&self) -> Vec<u8> {
        [b"PK\x03\x04", &self.facts()[..], self.name.as_bytes()].concat()
    }

    fn central(&self) -> Vec<u8> {
        // After the facts: no comment, disk 0, no attributes, then where the local header is.
        let place = [&[0; 10][..], &self.at.to_le_bytes()].concat();
        [b"PK\x01\x02", &VERSION.to_le_bytes()[..], &self.facts(), &place, self.name.as_bytes()].concat()
    }
}

fn end(members: usize, directory: usize, at: u32) -> io::Result<Vec<u8>> {
    let count = small(members)?.to_le_bytes();
    let mut out = [b"PK\x05\x06", &[0; 4][..], &count, &count].concat();
    sum(at, directory)?;
    out.extend((directory as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    Ok(out)
}

fn small(count: usize) -> io::Result<u16> {
    u16::try_from(count).ok().filter(|&c| c < u16::MAX).ok_or_else(too_large)
}

fn sum(at: u32, more: usize) -> io::Result<u32> {
    u32::try_from(more).ok().and_then(|more| at.checked_add(more)).filter(|&n| n < u32::MAX).ok_or_else(too_large)
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "more than an .npz file without zip64 can hold (4 GiB)")
}
