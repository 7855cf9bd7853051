//! Arrays as they are stored: type, axes and bytes, for readers that know more types than [`super::Data`] or that can walk
//! an array in either order of axes without copying it.

use super::check;
use crate::{Error, Result};
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, WriterBuilder};
use std::path::Path;

/// Kind of the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    Float,
    Int,
    Uint,
    Bool,
}

/// An array as it is stored, its items little-endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    /// Kind of the items.
    pub kind: Kind,
    /// Bytes of an item.
    pub size: usize,
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// Whether the first axis is the fastest one, not the last.
    pub column_major: bool,
    /// The items.
    pub bytes: Vec<u8>,
}

/// Reads an array of numbers or truth values, of 1 to 8 bytes an item.
///
/// # Errors
/// When the file cannot be read, its header is malformed, its type is another, or its length differs from what the header
/// says.
pub fn read(path: &Path) -> Result<Raw> {
    raw(crate::read(path)?).map_err(|message| Error::Npy { path: path.to_owned(), message })
}

/// Writes an array, atomically.
///
/// # Errors
/// When the bytes are not what shape and size say, there is no such type, or the file cannot be written.
pub fn write(path: &Path, raw: &Raw) -> Result<()> {
    let expected = raw.shape.iter().try_fold(raw.size, |n, &axis| n.checked_mul(axis));
    if expected != Some(raw.bytes.len()) {
        return Err(Error::Shape {
            path: path.to_owned(),
            shape: raw.shape.clone(),
            expected: expected.map_or("too many".to_owned(), |n| (n / raw.size.max(1)).to_string()),
            found: raw.bytes.len() / raw.size.max(1),
        });
    }
    crate::write_atomic(path, |out| {
        let letter = match raw.kind {
            Kind::Float => 'f',
            Kind::Int => 'i',
            Kind::Uint => 'u',
            Kind::Bool => 'b',
        };
        let order = if raw.size == 1 { '|' } else { '<' };
        let text = format!("{order}{letter}{}", raw.size);
        let dtype = text.parse().map(DType::new_scalar).map_err(std::io::Error::other)?;
        let shape: Vec<u64> = raw.shape.iter().map(|&axis| axis as u64).collect();
        let order = if raw.column_major { Order::Fortran } else { Order::C };
        let header = npyz::WriteOptions::new_header_only().dtype(dtype).shape(&shape).order(order);
        header.writer(&mut *out).write_header_only()?;
        out.write_all(&raw.bytes)
    })
}

fn raw(mut bytes: Vec<u8>) -> Result<Raw, String> {
    let start = check(&bytes)?;
    let header = NpyHeader::from_reader(&bytes[..]).map_err(|e| e.to_string())?;
    let unsupported = || format!("items of type {} are not supported", header.dtype().descr());
    let DType::Plain(plain) = header.dtype() else { return Err(unsupported()) };
    let (kind, size) = match (plain.type_char(), plain.num_bytes()) {
        (TypeChar::Float, Some(size @ (2 | 4 | 8))) => (Kind::Float, size),
        (TypeChar::Int, Some(size @ (1 | 2 | 4 | 8))) => (Kind::Int, size),
        (TypeChar::Uint, Some(size @ (1 | 2 | 4 | 8))) => (Kind::Uint, size),
        (TypeChar::Bool, Some(1)) => (Kind::Bool, 1),
        _ => return Err(unsupported()),
    };
    let (big, column_major) = (plain.endianness() == Endianness::Big, header.order() == Order::Fortran);
    let shape = header
        .shape()
        .iter()
        .map(|&axis| usize::try_from(axis).map_err(|_| format!("an axis of {axis} items is too long")));
    let shape = shape.collect::<Result<Vec<usize>, String>>()?;
    bytes.drain(..start);
    if header.len().checked_mul(size as u64) != Some(bytes.len() as u64) {
        let found = bytes.len();
        return Err(format!(
            "shape {shape:?} of {size}-byte items does not fit the {found} bytes after the header at byte {start}"
        ));
    }
    if big {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    Ok(Raw { kind, size, shape, column_major, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        for (kind, size) in [(Kind::Float, 2), (Kind::Float, 8), (Kind::Int, 1), (Kind::Uint, 2), (Kind::Bool, 1)] {
            for column_major in [false, true] {
                let raw = Raw { kind, size, shape: vec![2, 3], column_major, bytes: (0..6 * size as u8).collect() };
                write(&path, &raw).unwrap();
                assert_eq!(read(&path).unwrap(), raw);
            }
        }
        let wrong = Raw { kind: Kind::Int, size: 4, shape: vec![2], column_major: false, bytes: vec![0; 4] };
        assert!(write(&path, &wrong).is_err());
    }

    #[test]
    fn big_endian_items_are_turned_and_short_files_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.npy");
        let mut file = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
        file.extend(format!("{:<70}", "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }").bytes());
        file.extend([1, 2, 3, 4]);
        std::fs::write(&path, &file).unwrap();
        assert_eq!(read(&path).unwrap().bytes, [2, 1, 4, 3]);
        file.pop();
        std::fs::write(&path, &file).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("does not fit"));
    }
}
