//! Leaves: folding the elements of a tile into accumulators, in the order of the canonical tree.
//!
//! `generic.rs` does what any operator's expressions say. The others are loops by hand for operators whose expressions they
//! recognise, one file each, one line in [`ALL`]; they have the same bits (tested). A leaf knows the elements of one lane and
//! of one chunk; what is above is `blocked.rs`.

mod fold;
mod generic;
mod moments;

use crate::dtype::Scalar;
use crate::monoids::{Params, ReduceOp};

/// Accumulators of up to `capacity` elements: part p begins `p · capacity` words after the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acc {
    pub(super) data: *mut u64,
    pub(super) capacity: usize,
}

impl Acc {
    /// Where part p begins.
    ///
    /// # Safety
    /// The memory has room for p + 1 parts.
    #[expect(unsafe_code, reason = "untyped memory")]
    pub(super) unsafe fn part(self, p: usize) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { self.data.add(p * self.capacity).cast() }
    }
}

/// Elements to fold: `rows` rows of `cols` elements, a row `stride` elements after the one before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    pub(super) data: *const u8,
    /// The places (i64) of the elements among the reduced ones, in the same arrangement without gaps; null where not asked for.
    pub(super) index: *const i64,
    pub(super) stride: usize,
    pub(super) rows: usize,
    pub(super) cols: usize,
}

/// How the elements of a tile are folded.
///
/// All methods: memory has the sizes said, types are those of the operator's parts; scratch has [`Leaf::scratch`] words.
pub(super) trait Leaf: Send + Sync + std::fmt::Debug {
    /// Types of the accumulator's parts.
    fn parts(&self) -> &[Scalar];
    /// Folds each row (1 to 4096 elements, lanes strided); the value of row r becomes element r of `out`.
    ///
    /// # Safety
    /// See the trait.
    #[expect(unsafe_code, reason = "untyped memory")]
    unsafe fn rows(&self, x: &Tile, out: Acc, scratch: *mut u64);
    /// Folds the rows in order into the lanes `acc`, one per column; `fresh` starts them.
    ///
    /// # Safety
    /// See the trait.
    #[expect(unsafe_code, reason = "untyped memory")]
    unsafe fn columns(&self, x: &Tile, acc: Acc, fresh: bool, scratch: *mut u64);
    /// acc = acc ⊕ other for the first `n` elements.
    ///
    /// # Safety
    /// See the trait.
    #[expect(unsafe_code, reason = "untyped memory")]
    unsafe fn combine(&self, n: usize, acc: Acc, other: Acc, scratch: *mut u64);
    /// Whether [`Leaf::columns`] must see all rows of a lane at once.
    fn whole_lanes(&self) -> bool {
        false
    }
    /// Words of scratch memory, for tiles of at most `cols` columns.
    fn scratch(&self, _cols: usize) -> usize {
        0
    }
}

/// Makes the leaf of an operator whose expressions it recognises.
type Make = fn(&dyn ReduceOp, &Params, Scalar) -> Option<Box<dyn Leaf>>;

/// Every leaf by hand.
static ALL: &[Make] = &[fold::leaf, moments::leaf];

/// The leaf of an operator for elements held as `x`.
pub(super) fn leaf(op: &'static dyn ReduceOp, params: &Params, x: Scalar) -> Box<dyn Leaf> {
    ALL.iter().find_map(|make| make(op, params, x)).unwrap_or_else(|| generic::leaf(op, params, x))
}

#[cfg(test)]
mod tests;
