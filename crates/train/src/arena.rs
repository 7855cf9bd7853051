//! The one source of activations and gradients: blocks are taken, given back and taken again.
//!
//! A block goes back to the free list of its number of elements, and a request is served from that list alone. A pass
//! that asks for the same blocks in the same order therefore finds them all from its second time on: the arena does not
//! grow after the first epoch. Every byte is counted. What a taken block holds is unspecified.

use crate::{Error, Result};
use sapwood_sparse::{Block, Real};

/// Blocks that are free, and how much memory all blocks take.
#[derive(Debug)]
pub struct Arena<T: Real> {
    free: Vec<Block<T>>,
    bytes: Bytes,
}

/// Counts of an arena, in bytes of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bytes {
    /// Held by blocks, free or taken.
    pub held: u64,
    /// In blocks that are taken now.
    pub taken: u64,
    /// The most that was ever taken at one time.
    pub high_water: u64,
}

impl Bytes {
    /// Counts `bytes` more as taken; `new` if no free block served.
    pub(crate) fn take(&mut self, bytes: u64, new: bool) {
        self.held += if new { bytes } else { 0 };
        self.taken += bytes;
        self.high_water = self.high_water.max(self.taken);
    }

    /// Counts `bytes` less as taken.
    pub(crate) fn give(&mut self, bytes: u64) {
        self.taken = self.taken.saturating_sub(bytes);
    }
}

impl<T: Real> Default for Arena<T> {
    fn default() -> Self {
        Arena { free: Vec::new(), bytes: Bytes::default() }
    }
}

impl<T: Real> Arena<T> {
    /// An arena without blocks.
    pub fn new() -> Arena<T> {
        Self::default()
    }

    /// A `rows` × `cols` block of unspecified content.
    ///
    /// # Errors
    /// [`Error::Activation`] when the system has no memory.
    pub fn take(&mut self, rows: usize, cols: usize) -> Result<Block<T>> {
        let elements = rows.saturating_mul(cols);
        let free = self.free.iter().rposition(|b| b.as_slice().len() == elements);
        let failed = |source| Error::Activation { rows, cols, source };
        let block = match free {
            Some(at) => {
                let mut block = self.free.swap_remove(at);
                block.resize(rows, cols).map_err(failed)?;
                block
            }
            None => Block::zeros(rows, cols).map_err(failed)?,
        };
        self.bytes.take(bytes_of::<T>(rows, cols), free.is_none());
        Ok(block)
    }

    /// Gives a block back.
    pub fn give(&mut self, block: Block<T>) {
        self.bytes.give(bytes_of::<T>(block.rows(), block.cols()));
        self.free.push(block);
    }

    /// What is held and taken.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}

/// Bytes of the elements of a block.
pub(crate) fn bytes_of<T>(rows: usize, cols: usize) -> u64 {
    rows as u64 * cols as u64 * size_of::<T>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_by_size_and_are_counted() {
        let mut arena = Arena::<f32>::new();
        let a = arena.take(10, 4).unwrap();
        let b = arena.take(3, 2).unwrap();
        assert_eq!(arena.bytes(), Bytes { held: 184, taken: 184, high_water: 184 });
        let address = a.as_slice().as_ptr();
        arena.give(a);
        let c = arena.take(5, 8).unwrap();
        assert_eq!((c.rows(), c.cols(), c.as_slice().as_ptr()), (5, 8, address));
        arena.give(b);
        let small = arena.take(2, 2).unwrap();
        assert_eq!(arena.bytes(), Bytes { held: 200, taken: 176, high_water: 184 });
        arena.give(small);
        arena.give(c);
        assert_eq!(arena.bytes(), Bytes { held: 200, taken: 0, high_water: 184 });
    }

    #[test]
    fn a_repeated_pass_finds_all_its_blocks() {
        let mut arena = Arena::<f64>::new();
        let mut held = 0;
        for round in 0..3 {
            let a = arena.take(100, 3).unwrap();
            let b = arena.take(100, 7).unwrap();
            arena.give(a);
            let c = arena.take(100, 3).unwrap();
            let d = arena.take(100, 3).unwrap();
            for block in [d, c, b] {
                arena.give(block);
            }
            assert!(round == 0 || arena.bytes().held == held);
            held = arena.bytes().held;
        }
    }
}
