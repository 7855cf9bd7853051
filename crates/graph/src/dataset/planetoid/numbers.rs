//! Values of a pickle as what a data set needs: whole numbers, arrays, matrices by rows, lists of neighbours.

use super::pickle::Pickle;
use super::value::{Dtype, Filled, Kind, Span, Value};
use crate::{Error, Result};
use std::borrow::Cow;

/// An array with its numbers; at most two axes.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Rows and columns; a row for each item of an array with one axis.
    pub(super) shape: (usize, usize),
    pub(super) axes: usize,
    /// Row by row.
    pub(super) items: Items,
}

impl Numbers {
    /// Appends row `i`.
    pub(super) fn append(&self, i: usize, out: &mut Vec<f32>) {
        let columns = self.shape.1;
        out.extend((i * columns..(i + 1) * columns).map(|at| self.items.real(at) as f32));
    }
}

#[derive(Debug)]
pub(super) enum Items {
    Whole(Vec<i64>),
    Real(Vec<f64>),
}

impl Items {
    pub(super) fn len(&self) -> usize {
        match self {
            Items::Whole(items) => items.len(),
            Items::Real(items) => items.len(),
        }
    }

    /// Item `i` as a real number.
    pub(super) fn real(&self, i: usize) -> f64 {
        match self {
            Items::Whole(items) => items[i] as f64,
            Items::Real(items) => items[i],
        }
    }

    fn to_c_order(&self, (rows, columns): (usize, usize)) -> Items {
        fn turned<T: Copy>(items: &[T], rows: usize, columns: usize) -> Vec<T> {
            (0..rows).flat_map(|i| (0..columns).map(move |j| items[j * rows + i])).collect()
        }
        match self {
            Items::Whole(items) => Items::Whole(turned(items, rows, columns)),
            Items::Real(items) => Items::Real(turned(items, rows, columns)),
        }
    }
}

impl Pickle<'_> {
    /// An error about the object `value`.
    pub(super) fn wrong(&self, value: Value, what: impl std::fmt::Display) -> Error {
        match self.object(value) {
            Some(object) => Error::file(self.file, format!("the object at byte {}: {what}", object.at)),
            None => Error::file(self.file, what.to_string()),
        }
    }

    fn object(&self, value: Value) -> Option<&super::value::Object> {
        match value {
            Value::Object(number) => self.objects.get(number as usize),
            _ => None,
        }
    }

    pub(super) fn kind(&self, value: Value) -> Option<&Kind> {
        self.object(value).map(|object| &object.kind)
    }

    /// What messages call `value`.
    pub(super) fn name(&self, value: Value) -> &'static str {
        match value {
            Value::None => "None",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "a whole number",
            Value::Real(_) => "a number",
            Value::Global(_) => "a name",
            Value::Object(_) => self.kind(value).map_or("nothing", Kind::name),
        }
    }

    fn span<'s>(&'s self, span: &'s Span) -> &'s [u8] {
        match span {
            Span::File(range) => self.bytes.get(range.clone()).unwrap_or_default(),
            Span::Owned(bytes) => bytes,
        }
    }

    /// Bytes that bytes or text take in the file; a byte takes one or two as Latin-1 text.
    fn stored_length(&self, value: Value) -> usize {
        match self.kind(value) {
            Some(Kind::Bytes(span) | Kind::Text(span)) => self.span(span).len(),
            Some(&Kind::Latin1(text)) => match self.kind(text) {
                Some(Kind::Text(span)) => self.span(span).len(),
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Whether `value` is this word.
    pub(super) fn is_word(&self, value: Value, word: &str) -> bool {
        match self.kind(value) {
            Some(Kind::Bytes(span) | Kind::Text(span)) => self.span(span) == word.as_bytes(),
            _ => false,
        }
    }

    /// Bytes or text as bytes.
    fn bytes_of(&self, value: Value) -> Result<Cow<'_, [u8]>> {
        match self.kind(value) {
            Some(Kind::Bytes(span) | Kind::Text(span)) => Ok(self.span(span).into()),
            Some(&Kind::Latin1(text)) => self.latin1(text).map(Cow::Owned),
            _ => Err(self.wrong(value, format!("{} where bytes are needed", self.name(value)))),
        }
    }

    fn latin1(&self, text: Value) -> Result<Vec<u8>> {
        let Some(Kind::Text(span)) = self.kind(text) else {
            return Err(self.wrong(text, "no text"));
        };
        let text_of = std::str::from_utf8(self.span(span)).map_err(|_| self.wrong(text, "the text is not UTF-8"))?;
        let byte = |c: char| u8::try_from(u32::from(c)).map_err(|_| self.wrong(text, "a character that is no byte"));
        text_of.chars().map(byte).collect()
    }

    /// A whole number, Python's or NumPy's.
    pub(super) fn whole(&self, value: Value) -> Option<i64> {
        match value {
            Value::Int(number) => Some(number),
            Value::Object(_) => match self.kind(value) {
                // no more is decoded than a number has, however often this one is used
                Some(&Kind::Scalar(dtype, item)) if self.stored_length(item) <= 2 * dtype.size => {
                    let bytes = self.bytes_of(item).ok()?;
                    match decode(dtype, &bytes) {
                        Some(Items::Whole(items)) if bytes.len() == dtype.size => items.first().copied(),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The items of a list or tuple.
    pub(super) fn sequence(&self, value: Value) -> Option<&[Value]> {
        match self.kind(value) {
            Some(Kind::List(items) | Kind::Tuple(items)) => Some(items),
            _ => None,
        }
    }

    /// Lengths of axes.
    pub(super) fn shape(&self, value: Value) -> Result<Vec<usize>> {
        let axes = self.sequence(value).ok_or_else(|| self.wrong(value, "a shape must be a tuple"))?;
        let axis = |&v: &Value| self.whole(v).and_then(|n| usize::try_from(n).ok());
        axes.iter().map(axis).collect::<Option<_>>().ok_or_else(|| self.wrong(value, "a shape of no whole numbers"))
    }

    /// The numbers of an array of one or two axes.
    pub(super) fn array(&self, value: Value) -> Result<Numbers> {
        let filled = match self.kind(value) {
            Some(&Kind::Array(Some(filled))) => filled,
            Some(Kind::Array(None)) => return Err(self.wrong(value, "an array without items")),
            _ => return Err(self.wrong(value, format!("{} where an array is needed", self.name(value)))),
        };
        let Filled { shape, dtype, fortran, data } = filled;
        let axes = self.shape(shape)?;
        let (rows, columns) = match axes[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => return Err(self.wrong(value, format!("an array of {} axes, one or two are read", axes.len()))),
        };
        let bytes = self.bytes_of(data)?;
        let expected = rows.checked_mul(columns).and_then(|n| n.checked_mul(dtype.size));
        if expected != Some(bytes.len()) {
            let size = dtype.size;
            let what = format!("shape {axes:?} of {size}-byte items does not fit its {} bytes", bytes.len());
            return Err(self.wrong(value, what));
        }
        let items = decode(dtype, &bytes).ok_or_else(|| self.wrong(value, "a number beyond 63 bits"))?;
        let items = if fortran && axes.len() == 2 { items.to_c_order((rows, columns)) } else { items };
        Ok(Numbers { shape: (rows, columns), axes: axes.len(), items })
    }
}

/// The numbers in `bytes`, whose length is a multiple of the size of an item; `None` for one beyond 63 bits.
fn decode(dtype: Dtype, bytes: &[u8]) -> Option<Items> {
    macro_rules! items {
        ($t:ty, $into:ty) => {{
            let from = if dtype.big { <$t>::from_be_bytes } else { <$t>::from_le_bytes };
            bytes.as_chunks().0.iter().map(move |&item| <$into>::from(from(item)))
        }};
    }
    Some(match (dtype.kind, dtype.size) {
        (b'i', 1) => Items::Whole(items!(i8, i64).collect()),
        (b'i', 2) => Items::Whole(items!(i16, i64).collect()),
        (b'i', 4) => Items::Whole(items!(i32, i64).collect()),
        (b'i', 8) => Items::Whole(items!(i64, i64).collect()),
        (b'u', 1) => Items::Whole(items!(u8, i64).collect()),
        (b'u', 2) => Items::Whole(items!(u16, i64).collect()),
        (b'u', 4) => Items::Whole(items!(u32, i64).collect()),
        (b'u', 8) => Items::Whole(items!(u64, u64).map(|n| i64::try_from(n).ok()).collect::<Option<_>>()?),
        (b'f', 4) => Items::Real(items!(f32, f64).collect()),
        (b'f', 8) => Items::Real(items!(f64, f64).collect()),
        (b'b', 1) => Items::Whole(bytes.iter().map(|&b| i64::from(b != 0)).collect()),
        _ => return None,
    })
}
