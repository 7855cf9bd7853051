//! The project's only dense storage: a row-major block of numbers whose memory starts on a cache line.
//!
//! Rows follow each other without padding, so row i starts at element i·cols. Start with [`Block::zeros`].

use crate::error::{Error, Result, reserve};
use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;
use std::ops::Range;

/// 64 bytes on a cache line: the unit in which blocks and scratch are stored.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Line([u8; 64]);

/// Lines needed for `len` elements of `T`.
pub(crate) fn lines_for<T>(len: usize) -> Option<usize> {
    let bytes = len.checked_mul(size_of::<T>())?;
    (bytes <= isize::MAX as usize).then(|| bytes.div_ceil(size_of::<Line>()))
}

/// The first `len` elements held by `lines`.
#[inline]
pub(crate) fn elements<T: Pod>(lines: &[Line], len: usize) -> &[T] {
    bytemuck::cast_slice(&bytemuck::cast_slice::<Line, u8>(lines)[..len * size_of::<T>()])
}

/// The first `len` elements held by `lines`, to be changed.
#[inline]
pub(crate) fn elements_mut<T: Pod>(lines: &mut [Line], len: usize) -> &mut [T] {
    bytemuck::cast_slice_mut(&mut bytemuck::cast_slice_mut::<Line, u8>(lines)[..len * size_of::<T>()])
}

/// A dense rows × cols matrix, row-major, in memory aligned to 64 bytes.
#[derive(Clone)]
pub struct Block<T> {
    lines: Vec<Line>,
    rows: usize,
    cols: usize,
    _type: PhantomData<T>,
}

impl<T: Pod> Block<T> {
    /// rows × cols zeros.
    ///
    /// # Errors
    /// [`Error::Overflow`] or [`Error::Memory`], before anything is allocated.
    pub fn zeros(rows: usize, cols: usize) -> Result<Block<T>> {
        let mut block = Block::default();
        block.resize(rows, cols)?;
        Ok(block)
    }

    /// Element (i, j) is `f(i, j)`.
    ///
    /// # Errors
    /// As [`Block::zeros`].
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Result<Block<T>> {
        let mut block = Block::zeros(rows, cols)?;
        for i in 0..rows {
            for (j, x) in block.row_mut(i).iter_mut().enumerate() {
                *x = f(i, j);
            }
        }
        Ok(block)
    }

    /// A copy of row-major data.
    ///
    /// # Errors
    /// [`Error::Length`] if there are not rows · cols elements, else as [`Block::zeros`].
    pub fn from_slice(rows: usize, cols: usize, data: &[T]) -> Result<Block<T>> {
        if rows.checked_mul(cols) != Some(data.len()) {
            let expected = rows.saturating_mul(cols);
            return Err(Error::Length { array: "dense data", expected, found: data.len() });
        }
        let mut block = Block::zeros(rows, cols)?;
        block.as_mut_slice().copy_from_slice(data);
        Ok(block)
    }

    /// Changes the shape and reuses the storage: nothing is allocated unless the block becomes larger than it ever was.
    /// The elements are then unspecified (zero where the storage is new).
    ///
    /// # Errors
    /// As [`Block::zeros`]; the block is unchanged.
    pub fn resize(&mut self, rows: usize, cols: usize) -> Result<()> {
        let what = "a dense block";
        let lines = rows.checked_mul(cols).and_then(lines_for::<T>).ok_or(Error::Overflow { what, rows, cols })?;
        if lines > self.lines.len() {
            reserve(&mut self.lines, lines, what)?;
            self.lines.resize(lines, Line::zeroed());
        }
        (self.rows, self.cols) = (rows, cols);
        Ok(())
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns: the distance of two rows in elements.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// All elements, row by row.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        elements(&self.lines, self.rows * self.cols)
    }

    /// All elements, row by row.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        elements_mut(&mut self.lines, self.rows * self.cols)
    }

    /// Row `i` < rows.
    #[inline]
    pub fn row(&self, i: usize) -> &[T] {
        &self.as_slice()[self.span(i)]
    }

    /// Row `i` < rows.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        let span = self.span(i);
        &mut self.as_mut_slice()[span]
    }

    #[inline]
    fn span(&self, i: usize) -> Range<usize> {
        i * self.cols..(i + 1) * self.cols
    }
}

impl<T> Default for Block<T> {
    /// 0 × 0.
    fn default() -> Self {
        Block { lines: Vec::new(), rows: 0, cols: 0, _type: PhantomData }
    }
}

impl<T: Pod + PartialEq> PartialEq for Block<T> {
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape() && self.as_slice() == other.as_slice()
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for Block<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block {} x {} ", self.rows, self.cols)?;
        f.debug_list().entries((0..self.rows).map(|i| self.row(i))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_aligned_and_reused() {
        let mut b = Block::<f32>::from_fn(5, 7, |i, j| (10 * i + j) as f32).unwrap();
        assert_eq!(b.as_slice().as_ptr() as usize % 64, 0);
        assert_eq!(b.row(4), [40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0]);
        let at = b.as_slice().as_ptr();
        b.resize(2, 3).unwrap();
        b.resize(7, 5).unwrap();
        assert_eq!(b.as_slice().as_ptr(), at);
        assert_eq!(b.as_slice().len(), 35);
        b.row_mut(6)[4] = 1.5;
        assert_eq!(b.as_slice()[34], 1.5);
    }

    #[test]
    fn empty_blocks_have_rows_or_columns() {
        let wide = Block::<f64>::zeros(0, 9).unwrap();
        assert_eq!((wide.shape(), wide.as_slice().len()), ((0, 9), 0));
        let tall = Block::<f64>::zeros(4, 0).unwrap();
        assert!(tall.row(3).is_empty());
    }

    #[test]
    fn absurd_sizes_are_refused_before_allocating() {
        assert!(matches!(Block::<f32>::zeros(usize::MAX, 2), Err(Error::Overflow { .. })));
        assert!(matches!(Block::<f64>::zeros(1 << 61, 1), Err(Error::Overflow { .. })));
        let error = Block::<f64>::zeros(1 << 57, 1).unwrap_err().to_string();
        assert_eq!(error, format!("a dense block needs {} bytes of memory, which the system refused", 1u64 << 60));
        assert!(matches!(Block::from_slice(2, 2, &[1.0f32]), Err(Error::Length { expected: 4, found: 1, .. })));
    }
}
