//! Cutting mutable data into one part per chunk, so that chunks can write without locks.
//!
//! [`rows`], [`spans`] and [`per_chunk`] say how the items of a plan map to a slice; tuples of two to four of them are cut
//! together. The cut is checked against the plan before any chunk runs.

use crate::{ChunkPlan, Error, Result};
use std::marker::PhantomData;
use std::ops::Range;

/// Mutable data that falls into one part per chunk. Made by [`rows`], [`spans`], [`per_chunk`], or a tuple of these.
pub trait Parts: Sync + sealed::Sealed {
    /// What a chunk gets.
    type Part;

    /// Whether the data fits the plan.
    ///
    /// # Errors
    /// [`Error::Shape`] if not.
    fn check(&self, plan: &ChunkPlan) -> Result<()>;

    /// The part of chunk `chunk`, whose items are `range`.
    ///
    /// # Safety
    /// [`Parts::check`] accepted the plan, `range` is that of `chunk`, and each chunk is asked for at most once.
    #[expect(unsafe_code, reason = "hands out disjoint parts of one slice")]
    unsafe fn part(&self, chunk: usize, range: Range<usize>) -> Self::Part;
}

mod sealed {
    /// Only this module's types are `Parts`: others could hand out overlapping data.
    pub trait Sealed {}
}

/// A slice given away piece by piece.
struct Pieces<'a, T> {
    data: *mut T,
    len: usize,
    _owner: PhantomData<&'a mut [T]>,
}

#[expect(unsafe_code, reason = "the pieces of a slice are handed to several threads")]
// SAFETY: it stands for an exclusive borrow of a slice; pieces are disjoint (contract of `Parts::part`), so sharing it
// moves each element to at most one thread, which `T: Send` allows.
unsafe impl<T: Send> Sync for Pieces<'_, T> {}
#[expect(unsafe_code, reason = "as an exclusive borrow it may move between threads")]
// SAFETY: as `&mut [T]`, which is Send for `T: Send`.
unsafe impl<T: Send> Send for Pieces<'_, T> {}

impl<'a, T> Pieces<'a, T> {
    fn new(slice: &'a mut [T]) -> Self {
        Pieces { data: slice.as_mut_ptr(), len: slice.len(), _owner: PhantomData }
    }

    /// # Safety
    /// No element is handed out twice.
    #[expect(unsafe_code, reason = "makes a slice out of a piece")]
    unsafe fn get(&self, range: Range<usize>) -> &'a mut [T] {
        let range = range.start.min(self.len)..range.end.min(self.len);
        // SAFETY: the range lies inside the slice (clamped above), which is borrowed exclusively for 'a; the caller never
        // asks twice for an element, so the borrows are disjoint.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(range.start), range.len()) }
    }
}

/// See [`rows`].
pub struct Rows<'a, T> {
    pieces: Pieces<'a, T>,
    stride: usize,
}

/// Item i owns the `stride` elements from i·`stride`; a chunk gets those of its items.
pub fn rows<T: Send>(slice: &mut [T], stride: usize) -> Rows<'_, T> {
    Rows { pieces: Pieces::new(slice), stride }
}

impl<T> sealed::Sealed for Rows<'_, T> {}

impl<'a, T: Send> Parts for Rows<'a, T> {
    type Part = &'a mut [T];

    fn check(&self, plan: &ChunkPlan) -> Result<()> {
        let fits = plan.items().checked_mul(self.stride) == Some(self.pieces.len);
        let got = self.pieces.len / self.stride.max(1);
        if fits { Ok(()) } else { Err(Error::Shape { plan: plan.items(), got, what: "a row-wise output" }) }
    }

    #[expect(unsafe_code, reason = "see the trait")]
    unsafe fn part(&self, _: usize, range: Range<usize>) -> Self::Part {
        // SAFETY: chunks of a plan do not overlap and each is asked for once.
        unsafe { self.pieces.get(range.start * self.stride..range.end * self.stride) }
    }
}

/// See [`spans`].
pub struct Spans<'a, T> {
    pieces: Pieces<'a, T>,
    offsets: &'a [u64],
}

/// Item i owns the elements `offsets[i]..offsets[i + 1]`, as the rows of a CSR matrix do; a chunk gets those of its items.
pub fn spans<'a, T: Send>(slice: &'a mut [T], offsets: &'a [u64]) -> Spans<'a, T> {
    Spans { pieces: Pieces::new(slice), offsets }
}

impl<T> sealed::Sealed for Spans<'_, T> {}

impl<'a, T: Send> Parts for Spans<'a, T> {
    type Part = &'a mut [T];

    fn check(&self, plan: &ChunkPlan) -> Result<()> {
        let items = self.offsets.len().saturating_sub(1);
        if items != plan.items() {
            return Err(Error::Shape { plan: plan.items(), got: items, what: "a list of offsets" });
        }
        if let Some(index) = (1..self.offsets.len()).find(|&i| self.offsets[i] < self.offsets[i - 1]) {
            return Err(Error::Borders { index, value: self.offsets[index], before: self.offsets[index - 1] });
        }
        let total = self.offsets.last().map_or(0, |&o| o as usize);
        if total == self.pieces.len {
            Ok(())
        } else {
            Err(Error::Shape { plan: total, got: self.pieces.len, what: "a ragged output" })
        }
    }

    #[expect(unsafe_code, reason = "see the trait")]
    unsafe fn part(&self, _: usize, range: Range<usize>) -> Self::Part {
        if range.is_empty() {
            return &mut [];
        }
        // SAFETY: offsets ascend (checked) and chunks do not overlap, so neither do their spans.
        unsafe { self.pieces.get(self.offsets[range.start] as usize..self.offsets[range.end] as usize) }
    }
}

/// See [`per_chunk`].
pub struct PerChunk<'a, T>(Pieces<'a, T>);

/// Chunk c owns element c, and gets it as a slice of one.
pub fn per_chunk<T: Send>(slice: &mut [T]) -> PerChunk<'_, T> {
    PerChunk(Pieces::new(slice))
}

impl<T> sealed::Sealed for PerChunk<'_, T> {}

impl<'a, T: Send> Parts for PerChunk<'a, T> {
    type Part = &'a mut [T];

    fn check(&self, plan: &ChunkPlan) -> Result<()> {
        if self.0.len == plan.chunks() {
            Ok(())
        } else {
            Err(Error::Shape { plan: plan.chunks(), got: self.0.len, what: "an output with one element per chunk" })
        }
    }

    #[expect(unsafe_code, reason = "see the trait")]
    unsafe fn part(&self, chunk: usize, _: Range<usize>) -> Self::Part {
        // SAFETY: each chunk is asked for once.
        unsafe { self.0.get(chunk..chunk + 1) }
    }
}

impl<A: Parts, B: Parts> sealed::Sealed for (A, B) {}

impl<A: Parts, B: Parts> Parts for (A, B) {
    type Part = (A::Part, B::Part);

    fn check(&self, plan: &ChunkPlan) -> Result<()> {
        self.0.check(plan)?;
        self.1.check(plan)
    }

    #[expect(unsafe_code, reason = "see the trait")]
    unsafe fn part(&self, chunk: usize, range: Range<usize>) -> Self::Part {
        // SAFETY: passed on to both; they are different slices.
        unsafe { (self.0.part(chunk, range.clone()), self.1.part(chunk, range)) }
    }
}

impl<A: Parts, B: Parts, C: Parts> sealed::Sealed for (A, B, C) {}

impl<A: Parts, B: Parts, C: Parts> Parts for (A, B, C) {
    type Part = (A::Part, B::Part, C::Part);

    fn check(&self, plan: &ChunkPlan) -> Result<()> {
        self.0.check(plan)?;
        self.1.check(plan)?;
        self.2.check(plan)
    }

    #[expect(unsafe_code, reason = "see the trait")]
    unsafe fn part(&self, chunk: usize, range: Range<usize>) -> Self::Part {
        // SAFETY: passed on to all three; they are different slices.
        unsafe { (self.0.part(chunk, range.clone()), self.1.part(chunk, range.clone()), self.2.part(chunk, range)) }
    }
}

impl<A: Parts, B: Parts, C: Parts, D: Parts> sealed::Sealed for (A, B, C, D) {}

impl<A: Parts, B: Parts, C: Parts, D: Parts> Parts for (A, B, C, D) {
    type Part = (A::Part, B::Part, C::Part, D::Part);

    fn check(&self, plan: &ChunkPlan) -> Result<()> {
        self.0.check(plan)?;
        self.1.check(plan)?;
        self.2.check(plan)?;
        self.3.check(plan)
    }

    #[expect(unsafe_code, reason = "see the trait")]
    unsafe fn part(&self, chunk: usize, range: Range<usize>) -> Self::Part {
        // SAFETY: passed on to all four; they are different slices.
        unsafe {
            (
                self.0.part(chunk, range.clone()),
                self.1.part(chunk, range.clone()),
                self.2.part(chunk, range.clone()),
                self.3.part(chunk, range),
            )
        }
    }
}

/// [`Parts::part`] for the executor, which runs each chunk of a checked plan once.
#[expect(unsafe_code, reason = "the executor keeps the contract of `Parts::part`")]
pub(crate) fn take<P: Parts>(parts: &P, chunk: usize, range: Range<usize>) -> P::Part {
    // SAFETY: `Exec` calls it from `for_chunks` after `check`, with the chunk's own range, once per chunk.
    unsafe { parts.part(chunk, range) }
}

/// Puts `n` elements made by `f` into `out` by way of `write`, which must run the given writer on every chunk of a plan
/// over `n` items. Each element is first touched by the worker that makes it.
#[expect(unsafe_code, reason = "elements are made in place, in parallel")]
pub(crate) fn fill_by<T: Send>(
    out: &mut Vec<T>,
    n: usize,
    write: impl FnOnce(Rows<'_, std::mem::MaybeUninit<T>>) -> Result<()>,
) -> Result<()> {
    out.clear();
    out.try_reserve_exact(n).map_err(|_| Error::Memory { needed: n.saturating_mul(size_of::<T>()) })?;
    write(rows(&mut out.spare_capacity_mut()[..n], 1))?;
    // SAFETY: `write` returned Ok, so every chunk ran and every one of the n elements has been written.
    unsafe { out.set_len(n) };
    Ok(())
}
