//! The upper part of the canonical tree, fed from left to right: blocked lanes, then levels of blocked lanes.
//!
//! Holds vectors of accumulators: one chain of the tree for each kept element of a tile. At each level there is the lane that
//! is being filled and, as in a binary counter, the finished blocks of lanes: at most one of each size.

use super::leaves::{Acc, Leaf};
use crate::tree::{CHUNK, LANES, RUN};

/// Accumulators of a level: a lane, and a block of each size from 1 to 128 lanes with one to spare.
const SLOTS: usize = 9;
const LEVELS: usize = 6;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Level {
    /// Elements in the lane.
    filled: u64,
    /// Lanes in the blocks.
    lanes: u64,
    /// Blocks.
    blocks: u64,
}

/// Words of the state of all levels.
const STATE: usize = LEVELS * size_of::<Level>() / 8;

/// See the module. All of it lies in the memory that it is given: this is a handle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocked {
    memory: *mut u64,
    /// Words of one accumulator, and elements of it.
    words: usize,
    capacity: usize,
}

/// Words of memory for the tree over `extent` elements.
pub(super) fn words(extent: usize, parts: usize, capacity: usize) -> usize {
    let mut levels = 1;
    let mut covered = CHUNK;
    while covered < extent && levels < LEVELS {
        covered = covered.saturating_mul(CHUNK);
        levels += 1;
    }
    // One more level for what the last chunk hands up.
    STATE + (levels + 1).min(LEVELS) * SLOTS * parts * capacity
}

#[expect(unsafe_code, reason = "accumulators in untyped memory")]
impl Blocked {
    /// An empty tree in `memory`.
    ///
    /// # Safety
    /// The memory has [`words`] words.
    pub(super) unsafe fn new(memory: *mut u64, parts: usize, capacity: usize) -> Blocked {
        let mut tree = Blocked { memory, words: parts * capacity, capacity };
        // SAFETY: the caller's.
        unsafe { (0..LEVELS).for_each(|l| *tree.level(l) = Level::default()) };
        tree
    }

    /// The tree that stands in `memory`, made by [`Blocked::new`].
    pub(super) fn standing(memory: *mut u64, parts: usize, capacity: usize) -> Blocked {
        Blocked { memory, words: parts * capacity, capacity }
    }

    unsafe fn level(&mut self, level: usize) -> &mut Level {
        // SAFETY: the state stands before the slots.
        unsafe { &mut *self.memory.cast::<Level>().add(level) }
    }

    unsafe fn state(&self, level: usize) -> Level {
        // SAFETY: as `level`.
        unsafe { self.memory.cast::<Level>().add(level).read() }
    }

    /// Slot 0 of a level is its lane, the others are its blocks.
    unsafe fn slot(&self, level: usize, slot: usize) -> Acc {
        // SAFETY: the memory has SLOTS slots for each level that the extent can reach.
        Acc { data: unsafe { self.memory.add(STATE + (level * SLOTS + slot) * self.words) }, capacity: self.capacity }
    }

    /// Where the next lane of the lowest level can be made in place; [`Blocked::lane`] takes it.
    ///
    /// # Safety
    /// The memory is as [`Blocked::new`] asks.
    pub(super) unsafe fn next_lane(&self) -> Acc {
        // SAFETY: at most eight blocks stand at a level.
        unsafe { self.slot(0, 1 + self.state(0).blocks as usize) }
    }

    /// Takes the lane that was made in [`Blocked::next_lane`].
    ///
    /// # Safety
    /// Here and below: accumulators have `n` elements, scratch is the leaf's.
    pub(super) unsafe fn lane(&mut self, leaf: &dyn Leaf, n: usize, scratch: *mut u64) {
        // SAFETY: the caller's.
        unsafe { self.block(leaf, n, 0, 0, scratch) }
    }

    /// Takes an aligned block of `lanes` lanes (a power of two), or the last, shorter one of a chunk.
    pub(super) unsafe fn take_block(&mut self, leaf: &dyn Leaf, n: usize, from: Acc, lanes: usize, scratch: *mut u64) {
        // SAFETY: the caller's; both have the same arrangement.
        unsafe {
            self.copy(from, self.next_lane());
            self.block(leaf, n, 0, lanes.ilog2(), scratch);
        }
    }

    /// Takes one element (an inner tree, or a chunk of the run's own).
    pub(super) unsafe fn element(&mut self, leaf: &dyn Leaf, n: usize, from: Acc, scratch: *mut u64) {
        // SAFETY: the caller's.
        unsafe { self.push(leaf, n, 0, from, scratch) }
    }

    /// The value of all that was taken, copied to `out`; false for nothing.
    pub(super) unsafe fn finish(&mut self, leaf: &dyn Leaf, n: usize, out: Acc, scratch: *mut u64) -> bool {
        // SAFETY: the caller's.
        unsafe {
            for level in 0..LEVELS {
                if self.state(level).filled > 0 {
                    self.close_lane(leaf, n, level, scratch);
                }
                while self.state(level).blocks > 1 {
                    self.merge_last(leaf, n, level, scratch);
                }
                let above =
                    level + 1 < LEVELS && (level + 1..LEVELS).map(|l| self.state(l)).any(|l| l.filled + l.blocks > 0);
                if self.state(level).blocks == 0 {
                    if above {
                        continue;
                    }
                    return false;
                }
                let value = self.slot(level, 1);
                *self.level(level) = Level::default();
                if !above {
                    self.copy(value, out);
                    return true;
                }
                self.push(leaf, n, level + 1, value, scratch);
            }
            false
        }
    }

    unsafe fn copy(&self, from: Acc, to: Acc) {
        // SAFETY: accumulators have `words` words and are apart or the same.
        unsafe { std::ptr::copy(from.data, to.data, self.words) }
    }

    unsafe fn push(&mut self, leaf: &dyn Leaf, n: usize, level: usize, from: Acc, scratch: *mut u64) {
        // SAFETY: the caller's.
        unsafe {
            let lane = self.slot(level, 0);
            if self.state(level).filled == 0 {
                self.copy(from, lane);
            } else {
                leaf.combine(n, lane, from, scratch);
            }
            self.level(level).filled += 1;
            if self.state(level).filled == RUN as u64 {
                self.close_lane(leaf, n, level, scratch);
            }
        }
    }

    unsafe fn close_lane(&mut self, leaf: &dyn Leaf, n: usize, level: usize, scratch: *mut u64) {
        // SAFETY: the caller's.
        unsafe {
            self.copy(self.slot(level, 0), self.slot(level, 1 + self.state(level).blocks as usize));
            self.level(level).filled = 0;
            self.block(leaf, n, level, 0, scratch);
        }
    }

    /// A block of 2^`size` lanes stands behind the others: neighbours of equal size become one; a full chunk goes up.
    unsafe fn block(&mut self, leaf: &dyn Leaf, n: usize, level: usize, size: u32, scratch: *mut u64) {
        // SAFETY: the caller's.
        unsafe {
            self.level(level).blocks += 1;
            self.level(level).lanes += 1 << size;
            let mut pairs = self.state(level).lanes >> size;
            while pairs.is_multiple_of(2) && self.state(level).blocks > 1 {
                self.merge_last(leaf, n, level, scratch);
                pairs /= 2;
            }
            if self.state(level).lanes == LANES as u64 && level + 1 < LEVELS {
                *self.level(level) = Level::default();
                self.push(leaf, n, level + 1, self.slot(level, 1), scratch);
            }
        }
    }

    unsafe fn merge_last(&mut self, leaf: &dyn Leaf, n: usize, level: usize, scratch: *mut u64) {
        // SAFETY: the caller's; two blocks stand.
        unsafe {
            let blocks = self.state(level).blocks as usize;
            leaf.combine(n, self.slot(level, blocks - 1), self.slot(level, blocks), scratch);
            self.level(level).blocks -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::leaves;
    use super::*;
    use crate::dtype::Scalar;
    use crate::monoids::{Params, SUM};
    use crate::tree::{Geometry, sum_f32};

    fn hash(n: usize) -> Vec<f32> {
        (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0 - 0.5).collect()
    }

    #[test]
    #[expect(unsafe_code, reason = "calls the code under test")]
    fn elements_blocks_and_lanes_make_the_tree() {
        let leaf = leaves::leaf(&SUM, &Params::default(), Scalar::F32);
        for n in [1usize, 2, 31, 32, 33, 64, 65, 127, 1000, 4095, 4096, 4097, 8192, 135_000] {
            let x = hash(n);
            let want = sum_f32(&x, Geometry::Blocked).to_bits();
            let mut memory = vec![0u64; words(n, 1, 1)];
            let mut out = [0u64];
            let mut cell = [0u64];
            let acc = |cell: &mut [u64; 1]| Acc { data: cell.as_mut_ptr(), capacity: 1 };
            // SAFETY: the memory was sized for n.
            let mut tree = unsafe { Blocked::new(memory.as_mut_ptr(), 1, 1) };
            for v in &x {
                cell[0] = u64::from(v.to_bits());
                // SAFETY: one element in one word; the memory was sized for n.
                unsafe { tree.element(&*leaf, 1, acc(&mut cell), std::ptr::null_mut()) };
            }
            // SAFETY: as above.
            assert!(unsafe { tree.finish(&*leaf, 1, acc(&mut out), std::ptr::null_mut()) });
            assert_eq!(out[0] as u32, want, "{n} elements");
            for lanes in [1usize, 4, 128] {
                // SAFETY: the memory was sized for n.
                let mut tree = unsafe { Blocked::new(memory.as_mut_ptr(), 1, 1) };
                for block in x.chunks(lanes * RUN) {
                    cell[0] = u64::from(sum_f32(block, Geometry::Blocked).to_bits());
                    // SAFETY: as above.
                    unsafe { tree.take_block(&*leaf, 1, acc(&mut cell), lanes, std::ptr::null_mut()) };
                }
                // SAFETY: as above.
                assert!(unsafe { tree.finish(&*leaf, 1, acc(&mut out), std::ptr::null_mut()) });
                assert_eq!(out[0] as u32, want, "{n} in blocks of {lanes} lanes");
            }
        }
    }
}
