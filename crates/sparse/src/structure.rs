//! What a storage format must offer: its shape, and its rows as [`Segment`]s in canonical order.
//!
//! Formats implement [`Structure`] and know nothing of kernels, threads or instruction sets; kernels consume segments and
//! know no format's name.

use crate::order::PIECE;
use crate::scalar::{Index, Scalar};
use sapwood_skeleton::Arena;
use std::ops::Range;

/// One piece of a row in the canonical order: its entries from a multiple of [`PIECE`] to the next one or the row's end.
#[derive(Debug, Clone, Copy)]
pub struct Segment<'a, I, V> {
    /// The row.
    pub row: usize,
    /// Position of the first entry in the row: a multiple of [`PIECE`].
    pub position: usize,
    /// Number of the first entry, counted over the matrix row by row.
    pub entry: usize,
    /// Column numbers, ascending.
    pub columns: &'a [I],
    /// As many values; zero-sized for a pattern.
    pub values: &'a [V],
    /// Column numbers from this segment's first onwards, as far as they are known: a hint for prefetching, maybe empty.
    pub ahead: &'a [I],
    /// The row ends here. An empty row gives one empty segment.
    pub ends_row: bool,
}

/// A point between two entries: (row, position), the position a multiple of [`PIECE`].
pub type Place = (usize, usize);

/// The entries between two places, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkRange {
    /// Where it starts.
    pub start: Place,
    /// Where it ends; a place at position 0 of a row excludes that row.
    pub end: Place,
}

impl WorkRange {
    /// Whole rows.
    pub fn rows(rows: Range<usize>) -> WorkRange {
        WorkRange { start: (rows.start, 0), end: (rows.end, 0) }
    }
}

/// Bytes a matrix takes, by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Bytes {
    /// Column indices.
    pub indices: u64,
    /// Offsets of rows, blocks or groups.
    pub offsets: u64,
    /// Values.
    pub values: u64,
    /// Of all of these, bytes that hold padding.
    pub padding: u64,
}

impl Bytes {
    /// Indices, offsets and values together.
    pub fn total(self) -> u64 {
        self.indices + self.offsets + self.values
    }
}

/// A sparse matrix that can list its rows.
pub trait Structure: Sync {
    /// Type of the stored values.
    type Value: Scalar;
    /// Type of the column numbers in segments.
    type Column: Index;

    /// (rows, columns).
    fn shape(&self) -> (usize, usize);
    /// Stored entries.
    fn entries(&self) -> usize;
    /// Entries of `row`.
    fn row_len(&self, row: usize) -> usize;
    /// Storage.
    fn bytes(&self) -> Bytes;
    /// Calls `f` with the segments of `work`, rows ascending, positions ascending inside a row.
    ///
    /// Implementations are marked `#[inline(always)]` and so are the closures they are given: all of it is compiled into
    /// the kernel, for the kernel's instruction set.
    fn segments(&self, work: WorkRange, arena: &Arena, f: impl FnMut(Segment<'_, Self::Column, Self::Value>));

    /// The rows as one stretch, if the format stores their entries one after the other; else `None`, and the kernels take
    /// [`segments`](Structure::segments). A short cut that saves time where rows are short; `#[inline(always)]` as well.
    ///
    /// `ends` has one element per row and gets the end of each row in the stretch.
    #[inline(always)]
    fn stretch(&self, _rows: Range<usize>, _ends: &mut [u32]) -> Option<Stretch<'_, Self::Column, Self::Value>> {
        None
    }
}

/// The entries of consecutive rows.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<'a, I, V> {
    /// Column numbers, ascending inside each row.
    pub columns: &'a [I],
    /// As many values; zero-sized for a pattern.
    pub values: &'a [V],
    /// Column numbers from the first one onwards, as far as they are known: a hint for prefetching, maybe empty.
    pub ahead: &'a [I],
}

/// The positions of the piece that starts at `position` of a row of `len` entries.
#[inline(always)]
pub(crate) fn piece(position: usize, len: usize) -> Range<usize> {
    position..len.min(position + PIECE)
}
