//! Scratch memory of a worker: taken inside a chunk, given back when the chunk ends, kept for the next one.

use crate::{Error, Result};
use bumpalo::Bump;
use bytemuck::{Pod, Zeroable};

/// Bytes that share a cache line, and the alignment of every slice of an arena.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Scratch memory. Many slices can live at once; all end with the chunk.
#[derive(Debug, Default)]
pub struct Arena {
    bump: Bump,
}

impl Arena {
    pub(crate) fn new() -> Arena {
        Arena::default()
    }

    /// `len` zeros, aligned to 64 bytes.
    ///
    /// # Errors
    /// [`Error::Memory`] if the size overflows or the system has no more memory.
    pub fn take<T: Pod>(&self, len: usize) -> Result<&mut [T]> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::Memory { needed: usize::MAX })?;
        let lines = self
            .bump
            .try_alloc_slice_fill_with(bytes.div_ceil(64), |_| Line([0; 64]))
            .map_err(|_| Error::Memory { needed: bytes })?;
        let raw: &mut [u8] = bytemuck::cast_slice_mut(lines);
        bytemuck::try_cast_slice_mut(&mut raw[..bytes]).map_err(|_| Error::Memory { needed: bytes })
    }

    /// Ends every slice; the memory stays.
    pub(crate) fn reset(&mut self) {
        self.bump.reset();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bump.allocated_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_zero_aligned_apart_and_reused() {
        let mut arena = Arena::new();
        for round in 0..3 {
            let a = arena.take::<f64>(100).unwrap();
            let b = arena.take::<u8>(3).unwrap();
            assert!(a.iter().all(|&x| x == 0.0) && b.iter().all(|&x| x == 0));
            assert_eq!(a.as_ptr().align_offset(64), 0);
            a.fill(round as f64 + 1.0);
            b.fill(7);
            assert!(a.iter().all(|&x| x == round as f64 + 1.0));
            arena.reset();
        }
        let before = arena.bytes();
        arena.take::<f64>(100).unwrap();
        assert_eq!(arena.bytes(), before);
        assert!(arena.take::<f64>(usize::MAX / 4).is_err());
        assert!(arena.take::<u32>(0).unwrap().is_empty());
    }
}
