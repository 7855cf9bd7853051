//! NumPy `.npy` arrays of plain numbers: both byte orders and both axis orders are read,
//! little-endian C order is written.
//!
//! The header is parsed by `npyz`, after `check` has made sure that it cannot overflow or
//! recurse; the numbers are converted here, in one pass. Memory stays bounded by the file's size.

use std::io::Write;
use std::path::Path;

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, WriterBuilder};

use crate::npz::Words;
use crate::{Error, Result};

pub mod raw;

const LONGEST_HEADER: usize = 1 << 16; // NumPy itself refuses more than 10 000 bytes
const DEEPEST_HEADER: usize = 8;

/// The items of an array, in C order (last axis fastest).
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Data {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    Bool(Vec<bool>),
}

/// A dense array of any number of axes; no axes is a single number.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The items; as many as the product of `shape`.
    pub data: Data,
}

/// Runs `$body` with `$items` bound to the vector inside, whatever its type.
macro_rules! each_type {
    ($data:expr, $items:ident => $body:expr) => {
        match $data {
            Data::F64($items) => $body,
            Data::F32($items) => $body,
            Data::I64($items) => $body,
            Data::U64($items) => $body,
            Data::I32($items) => $body,
            Data::U32($items) => $body,
            Data::Bool($items) => $body,
        }
    };
}

impl Data {
    /// Number of items.
    pub fn len(&self) -> usize {
        each_type!(self, items => items.len())
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// NumPy's name of the type: `float64`, `uint32`, ...
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::F64(_) => "float64",
            Self::F32(_) => "float32",
            Self::I64(_) => "int64",
            Self::U64(_) => "uint64",
            Self::I32(_) => "int32",
            Self::U32(_) => "uint32",
            Self::Bool(_) => "bool",
        }
    }
}

/// Reads an array from `path` (compressed or not, as [`crate::open`]).
///
/// # Errors
/// When the file cannot be read, its header is malformed, its type is not one of [`Data`]'s, or
/// its length differs from what the header says.
pub fn read(path: &Path) -> Result<Array> {
    parse(&crate::read(path)?, path)
}

/// Reads an array from bytes in memory, for example a member of an `.npz`; `path` stands in messages.
///
/// # Errors
/// As [`read`].
pub fn parse(bytes: &[u8], path: &Path) -> Result<Array> {
    array(bytes).map_err(|message| Error::Npy { path: path.to_owned(), message })
}

/// Reads words from bytes in memory: an array of NumPy's `U` type with one axis. Anything else is named, not read.
pub(crate) fn words(bytes: &[u8], path: &Path) -> Result<Words> {
    text(bytes).map_err(|message| Error::Npy { path: path.to_owned(), message })
}

/// Writes `array` to `path`, atomically.
///
/// # Errors
/// When the number of items is not the product of the shape, or the file cannot be written.
pub fn write(path: &Path, array: &Array) -> Result<()> {
    check_shape(path, array)?;
    crate::write_atomic(path, |out| encode(array, out))
}

/// Whether there are as many items as the shape says; `path` stands in the message.
pub(crate) fn check_shape(path: &Path, array: &Array) -> Result<()> {
    let expected = array.shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis));
    if expected != Some(array.data.len()) {
        return Err(Error::Shape {
            path: path.to_owned(),
            shape: array.shape.clone(),
            expected: expected.map_or("too many".to_owned(), |n| n.to_string()),
            found: array.data.len(),
        });
    }
    Ok(())
}

/// Writes header and items; the shape must fit.
pub(crate) fn encode(array: &Array, out: &mut dyn Write) -> std::io::Result<()> {
    let shape: Vec<u64> = array.shape.iter().map(|&axis| axis as u64).collect();
    let header = npyz::WriteOptions::new_header_only().dtype(dtype(&array.data)?).shape(&shape);
    let out = header.writer(out).write_header_only()?;
    each_type!(&array.data, items => items.iter().try_for_each(|item| item.store(out)))
}

/// An item as stored: little-endian.
trait Store {
    fn store(&self, out: &mut dyn Write) -> std::io::Result<()>;
}

macro_rules! store {
    ($($t:ty),*) => {
        $(impl Store for $t {
            fn store(&self, out: &mut dyn Write) -> std::io::Result<()> {
                out.write_all(&self.to_le_bytes())
            }
        })*
    };
}

store!(f64, f32, i64, u64, i32, u32);

impl Store for bool {
    fn store(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&[u8::from(*self)])
    }
}

fn dtype(data: &Data) -> std::io::Result<DType> {
    let text = match data {
        Data::F64(_) => "<f8",
        Data::F32(_) => "<f4",
        Data::I64(_) => "<i8",
        Data::U64(_) => "<u8",
        Data::I32(_) => "<i4",
        Data::U32(_) => "<u4",
        Data::Bool(_) => "|b1",
    };
    text.parse().map(DType::new_scalar).map_err(std::io::Error::other)
}

fn array(bytes: &[u8]) -> Result<Array, String> {
    let start = check(bytes)?;
    let header = NpyHeader::from_reader(bytes).map_err(|e| e.to_string())?;
    let shape: Vec<usize> = header
        .shape()
        .iter()
        .map(|&axis| usize::try_from(axis).map_err(|_| format!("an axis of {axis} items is too long")))
        .collect::<Result<_, _>>()?;
    let unsupported = || {
        let kind = header.dtype().descr();
        format!("items of type {kind} are not supported, convert to float64, float32, whole numbers or bool")
    };
    let DType::Plain(kind) = header.dtype() else { return Err(unsupported()) };
    let size = match (kind.type_char(), kind.num_bytes()) {
        (TypeChar::Float | TypeChar::Int | TypeChar::Uint, Some(size @ (4 | 8))) => size,
        (TypeChar::Int | TypeChar::Uint, Some(size @ (1 | 2))) => size,
        (TypeChar::Bool, Some(1)) => 1,
        _ => return Err(unsupported()),
    };
    let body = &bytes[start..];
    let expected = header.len().checked_mul(size as u64);
    if expected != Some(body.len() as u64) {
        return Err(format!(
            "shape {shape:?} of {size}-byte items does not fit the {} bytes after the header at byte {start}",
            body.len()
        ));
    }
    let big = kind.endianness() == Endianness::Big;
    let c_order = header.order() == Order::C;
    macro_rules! items {
        ($variant:ident, $t:ty) => {
            items!($variant, $t, $t)
        };
        ($variant:ident, $t:ty, $wide:ty) => {{
            let from = if big { <$t>::from_be_bytes } else { <$t>::from_le_bytes };
            let items: Vec<$wide> = body.as_chunks().0.iter().map(|&item| <$wide>::from(from(item))).collect();
            Data::$variant(if c_order { items } else { to_c_order(&items, &shape) })
        }};
    }
    let data = match (kind.type_char(), size) {
        (TypeChar::Float, 8) => items!(F64, f64),
        (TypeChar::Float, 4) => items!(F32, f32),
        (TypeChar::Int, 8) => items!(I64, i64),
        (TypeChar::Uint, 8) => items!(U64, u64),
        (TypeChar::Int, 4) => items!(I32, i32),
        (TypeChar::Uint, 4) => items!(U32, u32),
        // short whole numbers are widened
        (TypeChar::Int, 2) => items!(I32, i16, i32),
        (TypeChar::Uint, 2) => items!(U32, u16, u32),
        (TypeChar::Int, 1) => items!(I32, i8, i32),
        (TypeChar::Uint, 1) => items!(U32, u8, u32),
        (TypeChar::Bool, _) => {
            let items: Vec<bool> = body.iter().map(|&item| item != 0).collect();
            Data::Bool(if c_order { items } else { to_c_order(&items, &shape) })
        }
        _ => return Err(unsupported()),
    };
    Ok(Array { shape, data })
}

fn text(bytes: &[u8]) -> Result<Words, String> {
    let start = check(bytes)?;
    let header = NpyHeader::from_reader(bytes).map_err(|e| e.to_string())?;
    let other = |what: String| Ok(Words::Other(what));
    let kind = match header.dtype() {
        DType::Plain(kind) => kind,
        structured => return other(format!("an array of type {}", structured.descr())),
    };
    let size = match (kind.type_char(), kind.num_bytes()) {
        (TypeChar::UnicodeStr, Some(size)) if size % 4 == 0 => size,
        _ if kind.uses_pickled_array() => {
            return other("an array of Python objects, which would have to be unpickled".into());
        }
        _ => return other(format!("an array of type {kind}")),
    };
    if header.shape().len() != 1 {
        return other(format!("an array of {} axes", header.shape().len()));
    }
    let body = &bytes[start..];
    if header.len().checked_mul(size as u64) != Some(body.len() as u64) {
        return Err(format!(
            "{} words of {size} bytes do not fit the {} bytes after the header",
            header.len(),
            body.len()
        ));
    }
    if size == 0 {
        // nothing bounds the number of words that take no bytes
        return other("an array of empty words".into());
    }
    let from = if kind.endianness() == Endianness::Big { u32::from_be_bytes } else { u32::from_le_bytes };
    let word = |item: &[u8]| {
        let codes: Vec<u32> = item.as_chunks().0.iter().map(|&code| from(code)).collect();
        let length = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1); // padded with zeros
        codes[..length]
            .iter()
            .map(|&code| char::from_u32(code).ok_or_else(|| format!("{code:#x} is no character")))
            .collect()
    };
    Ok(Words::Text(body.chunks_exact(size).map(word).collect::<Result<_, _>>()?))
}

/// Makes sure that `npyz` can parse the header without overflow, deep recursion or a large
/// allocation, and returns where the items start.
fn check(bytes: &[u8]) -> Result<usize, String> {
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err("it does not start with \\x93NUMPY".to_owned());
    }
    let (start, length) = match bytes {
        [_, _, _, _, _, _, 1, _, a, b, ..] => (10, u32::from(u16::from_le_bytes([*a, *b]))),
        [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([*a, *b, *c, *d])),
        [_, _, _, _, _, _, 1..=3, ..] | [_, _, _, _, _, _] => {
            return Err("the file ends inside the header".to_owned());
        }
        [_, _, _, _, _, _, version, ..] => return Err(format!("unknown format version {version}")),
        _ => return Err("the file ends inside the header".to_owned()),
    };
    let length = length as usize;
    if length > LONGEST_HEADER {
        return Err(format!("the header claims {length} bytes, more than {LONGEST_HEADER}"));
    }
    let Some(text) = bytes.get(start..start + length) else {
        return Err(format!("the header claims {length} bytes, the file ends before"));
    };
    check_text(text)?;
    Ok(start + length)
}

/// A dictionary of strings, booleans and integers, not nested deeply, whose integers (the shape)
/// have a product that fits 64 bits.
fn check_text(text: &[u8]) -> Result<(), String> {
    let (mut depth, mut quote, mut product) = (0usize, None, 1u64);
    let mut number: Option<u64> = None;
    let too_large = || "the product of the shape does not fit 64 bits".to_owned();
    let mut previous = 0;
    for &c in text.iter().chain(b" ") {
        if let Some(mark) = quote {
            // escapes and triple quotes would need a real tokenizer; no header has them
            if c == b'\\' || (c == mark && previous == mark) {
                return Err("an escape or an empty string in the header".to_owned());
            }
            if c == mark {
                quote = None;
            }
            previous = c;
            continue;
        }
        if c.is_ascii_digit() {
            let digit = u64::from(c - b'0');
            let next = number.unwrap_or(0).checked_mul(10).and_then(|n| n.checked_add(digit));
            number = Some(next.ok_or_else(too_large)?);
            continue;
        }
        if let Some(n) = number.take() {
            product = product.checked_mul(n.max(1)).ok_or_else(too_large)?;
        }
        match c {
            b'\'' | b'"' => (quote, previous) = (Some(c), c),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' | b':' | b' ' | b'\n' => {}
            c if b"TrueFalse".contains(&c) => {}
            c => return Err(format!("unexpected byte {c:#04x} in the header")),
        }
        if depth > DEEPEST_HEADER {
            return Err("brackets in the header are nested too deeply".to_owned());
        }
    }
    Ok(())
}

/// Reorders items stored first axis fastest into C order.
fn to_c_order<T: Copy>(items: &[T], shape: &[usize]) -> Vec<T> {
    let mut step = Vec::with_capacity(shape.len()); // distance in `items` along each axis
    let mut distance = 1;
    for &axis in shape {
        step.push(distance);
        distance *= axis;
    }
    let mut at = vec![0; shape.len()];
    let mut from = 0;
    let mut out = Vec::with_capacity(items.len());
    while out.len() < items.len() {
        out.push(items[from]);
        for axis in (0..shape.len()).rev() {
            at[axis] += 1;
            from += step[axis];
            if at[axis] < shape[axis] {
                break;
            }
            from -= step[axis] * shape[axis];
            at[axis] = 0;
        }
    }
    out
}
