//! Moving elements between memory and tiles: strides on one side, no gaps on the other, types converted on the way.

use super::kernel::Memory;
use super::space::{Reach, Run, Space};
use crate::dtype::{Dtype, Scalar};
use half::{bf16, f16};
use sapwood_skeleton::isa;

/// A rectangle of the space: `rows` by `cols` from (`row`, `col`), and what the loops outside add to a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rect {
    pub(super) row: usize,
    pub(super) rows: usize,
    pub(super) col: usize,
    pub(super) cols: usize,
}

/// A piece of a row that is walked with one stride.
struct Piece {
    /// Place of the first element.
    from: usize,
    stride: usize,
    /// First element in the tile, and how many.
    at: usize,
    len: usize,
}

/// Calls `f` on the pieces of a rectangle, in the order of the tile.
#[inline]
fn pieces(space: &Space, reach: &Reach, base: usize, rect: &Rect, mut f: impl FnMut(Piece)) {
    let (rows, cols) = (&space.rows, &space.cols);
    let stride = reach.inner_stride(cols);
    let even = reach.is_even(space, cols);
    let inner = cols.loops.last().map_or(1, |&l| space.extents[l]);
    for r in 0..rect.rows {
        let row = base + reach.at(space, rows, rect.row + r);
        if even {
            f(Piece { from: row + rect.col * stride, stride, at: r * rect.cols, len: rect.cols });
            continue;
        }
        let mut done = 0;
        while done < rect.cols {
            let flat = rect.col + done;
            let len = (inner - flat % inner).min(rect.cols - done);
            f(Piece { from: row + reach.at(space, cols, flat), stride, at: r * rect.cols + done, len });
            done += len;
        }
    }
}

/// Whether a rectangle lies in memory without gaps, one row after another.
pub(super) fn is_flat(space: &Space, reach: &Reach, rect: &Rect) -> bool {
    let even = |run: &Run| reach.is_even(space, run);
    let (row, col) = (reach.inner_stride(&space.rows), reach.inner_stride(&space.cols));
    let cols_fit = rect.cols == 1 || even(&space.cols) && col == 1;
    let rows_fit = rect.rows == 1 || even(&space.rows) && row == rect.cols;
    cols_fit && rows_fit
}

/// Copies `n` elements with strides, through `f`.
///
/// # Safety
/// The elements lie at the places.
#[expect(unsafe_code, reason = "untyped memory")]
#[inline(always)]
unsafe fn strided<A: Copy, B>(from: (*const A, usize), to: (*mut B, usize), n: usize, f: impl Fn(A) -> B) {
    // SAFETY: the caller's; a stride of 0 reads one element, and writing has strides above 0.
    unsafe {
        match (from.1, to.1) {
            (1, 1) => {
                let (a, b) = (std::slice::from_raw_parts(from.0, n), std::slice::from_raw_parts_mut(to.0, n));
                isa::vectorized(
                    #[inline(always)]
                    || b.iter_mut().zip(a).for_each(|(b, &a)| *b = f(a)),
                );
            }
            (0, 1) => {
                let value = from.0.read();
                std::slice::from_raw_parts_mut(to.0, n).iter_mut().for_each(|b| *b = f(value));
            }
            _ => (0..n).for_each(|i| to.0.add(i * to.1).write(f(from.0.add(i * from.1).read()))),
        }
    }
}

/// Reads a rectangle into `out`, rows one after another, in the register type.
///
/// # Safety
/// `data` is the memory that `memory` describes, `base` a place in it, and `out` has room.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn read(space: &Space, memory: &Memory, data: *const u8, base: usize, rect: &Rect, out: *mut u8) {
    macro_rules! run {
        ($a:ty, $b:ty, |$x:ident| $e:expr) => {
            pieces(space, &memory.reach, base, rect, |p| {
                // SAFETY: places stay inside the memory for every index of the space.
                unsafe {
                    let from = (data.cast::<$a>().add(p.from), p.stride);
                    strided(from, (out.cast::<$b>().add(p.at), 1), p.len, |$x| $e);
                }
            })
        };
    }
    match memory.dtype {
        Dtype::F16 => run!(f16, f32, |x| x.to_f32()),
        Dtype::Bf16 => run!(bf16, f32, |x| x.to_f32()),
        Dtype::F32 | Dtype::I32 | Dtype::U32 => run!(u32, u32, |x| x),
        Dtype::F64 | Dtype::I64 | Dtype::U64 => run!(u64, u64, |x| x),
        Dtype::I8 => run!(i8, i32, |x| i32::from(x)),
        Dtype::I16 => run!(i16, i32, |x| i32::from(x)),
        Dtype::U8 => run!(u8, u32, |x| u32::from(x)),
        Dtype::U16 => run!(u16, u32, |x| u32::from(x)),
        Dtype::Bool => run!(u8, u8, |x| u8::from(x != 0)),
    }
}

/// Writes a tile, rows one after another, to a rectangle of memory.
///
/// # Safety
/// As [`read`]; nobody else reads or writes the rectangle.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn write(space: &Space, memory: &Memory, data: *mut u8, base: usize, rect: &Rect, from: *const u8) {
    macro_rules! run {
        ($a:ty, $b:ty, |$x:ident| $e:expr) => {
            pieces(space, &memory.reach, base, rect, |p| {
                // SAFETY: places stay inside the memory for every index of the space.
                unsafe {
                    let to = (data.cast::<$b>().add(p.from), p.stride.max(1));
                    strided((from.cast::<$a>().add(p.at), 1), to, p.len, |$x| $e);
                }
            })
        };
    }
    match memory.dtype {
        Dtype::F16 => run!(f32, f16, |x| f16::from_f32(x)),
        Dtype::Bf16 => run!(f32, bf16, |x| bf16::from_f32(x)),
        Dtype::F32 | Dtype::I32 | Dtype::U32 => run!(u32, u32, |x| x),
        Dtype::F64 | Dtype::I64 | Dtype::U64 => run!(u64, u64, |x| x),
        Dtype::I8 | Dtype::U8 => run!(u32, u8, |x| x as u8),
        Dtype::I16 | Dtype::U16 => run!(u32, u16, |x| x as u16),
        Dtype::Bool => run!(u8, u8, |x| x),
    }
}

/// Writes the place of each element of a rectangle, as `reach` counts it, to `out`.
///
/// # Safety
/// `out` has room.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn places(space: &Space, reach: &Reach, base: usize, rect: &Rect, out: *mut i64) {
    pieces(space, reach, base, rect, |p| {
        for i in 0..p.len {
            // SAFETY: the caller's.
            unsafe { out.add(p.at + i).write((p.from + i * p.stride) as i64) };
        }
    });
}

/// Repeats a vector of kept values over a tile: element r for all of row r, or element c for all of column c.
///
/// # Safety
/// The vector has one element per row (or column), `out` room for the tile.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn expand(kind: Scalar, by_row: bool, rect: &Rect, from: *const u8, out: *mut u8) {
    let size = kind.dtype().bytes();
    macro_rules! run {
        ($t:ty) => {
            for r in 0..rect.rows {
                // SAFETY: the caller's.
                unsafe {
                    let from = if by_row { (from.cast::<$t>().add(r), 0) } else { (from.cast::<$t>(), 1) };
                    strided(from, (out.cast::<$t>().add(r * rect.cols), 1), rect.cols, |x| x);
                }
            }
        };
    }
    match size {
        1 => run!(u8),
        4 => run!(u32),
        _ => run!(u64),
    }
}

/// Picks along one axis: element i of `out` is the one at place i (from `places`) plus label i times `stride`. Gives the
/// first label outside `0..extent`.
///
/// # Safety
/// As [`read`]; `labels` has as many elements as the rectangle.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn pick(
    space: &Space,
    (memory, stride, extent): &(Memory, usize, usize),
    data: *const u8,
    base: usize,
    rect: &Rect,
    labels: *const i64,
    out: *mut u8,
) -> Option<i64> {
    let mut wrong = None;
    let kind = memory.dtype.scalar();
    let size = kind.dtype().bytes();
    pieces(space, &memory.reach, base, rect, |p| {
        for i in 0..p.len {
            // SAFETY: the label is checked before its element is read.
            unsafe {
                let label = labels.add(p.at + i).read();
                if label < 0 || label >= *extent as i64 {
                    wrong = wrong.or(Some(label));
                    continue;
                }
                let place = p.from + i * p.stride + label as usize * stride;
                one_element(memory.dtype, data, place, out.add((p.at + i) * size));
            }
        }
    });
    wrong
}

/// Reads one element in its register type.
///
/// # Safety
/// The element lies at the place, `out` has room for it.
#[expect(unsafe_code, reason = "untyped memory")]
unsafe fn one_element(dtype: Dtype, data: *const u8, place: usize, out: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        match dtype {
            Dtype::F16 => out.cast::<f32>().write(data.cast::<f16>().add(place).read().to_f32()),
            Dtype::Bf16 => out.cast::<f32>().write(data.cast::<bf16>().add(place).read().to_f32()),
            Dtype::F32 | Dtype::I32 | Dtype::U32 => out.cast::<u32>().write(data.cast::<u32>().add(place).read()),
            Dtype::F64 | Dtype::I64 | Dtype::U64 => out.cast::<u64>().write(data.cast::<u64>().add(place).read()),
            Dtype::I8 => out.cast::<i32>().write(data.cast::<i8>().add(place).read().into()),
            Dtype::I16 => out.cast::<i32>().write(data.cast::<i16>().add(place).read().into()),
            Dtype::U8 => out.cast::<u32>().write(data.add(place).read().into()),
            Dtype::U16 => out.cast::<u32>().write(data.cast::<u16>().add(place).read().into()),
            Dtype::Bool => out.write(u8::from(data.add(place).read() != 0)),
        }
    }
}
