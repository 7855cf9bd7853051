//! Memory beyond the caches: reading a stream, a triad, and rows at random places as a sparse product reads them.
//!
//! All kernels walk through one buffer from where the last call of their kind stopped, so that nothing is met again in a
//! cache before the whole buffer has passed by.

use super::Source;
use crate::random::{Purpose, Stream, below};
use crate::{ChunkPlan, Exec, Result, isa, rows};
use sapwood_machine::Kernel;
use std::hint::black_box;
use std::ops::Range;

/// Numbers of a block: the unit of every kernel here, and what a worker takes at a time.
const BLOCK: usize = 64 << 10;

/// Numbers of the narrow rows.
const NARROW: usize = 64;

/// Numbers of the wide rows.
const WIDE: usize = 256;

/// Numbers summed side by side, in the first cache: long enough to become a loop of vectors.
const LANES: usize = 1024;

/// The buffer and the places in it.
pub(super) struct Memory {
    /// Three arrays of `blocks` blocks each.
    buffer: Vec<f32>,
    /// Blocks of each array.
    blocks: usize,
    /// Narrow rows of the buffer at random, as many as there are.
    places: Vec<u32>,
    /// Where the next call of read, triad and gather goes on, in blocks.
    next: [usize; 3],
}

impl Memory {
    /// A buffer of about `bytes`, at least three blocks.
    pub(super) fn new(exec: Exec<'_>, bytes: u64) -> Result<Memory> {
        // the number of narrow rows must fit the places
        let blocks = usize::try_from(bytes / (3 * 4 * BLOCK as u64)).unwrap_or(usize::MAX).clamp(1, 1 << 15);
        let (mut buffer, mut places) = (Vec::new(), Vec::new());
        exec.fill(&mut buffer, 3 * blocks * BLOCK, |i| 1.0 + (i % 1000) as f32 / 1000.0)?;
        let count = buffer.len() / NARROW;
        let stream = Stream::new(0, Purpose::Probe);
        exec.fill(&mut places, count, |i| {
            let words = stream.at(0, 0, i as u64 / 4).unwrap_or_default();
            below(words[i % 4], count as u32)
        })?;
        Ok(Memory { buffer, blocks, places, next: [0; 3] })
    }

    /// Calls `f` with the ranges below `blocks` that the next `count` blocks of kind `kind` are.
    fn walk(
        &mut self,
        kind: usize,
        blocks: usize,
        count: usize,
        mut f: impl FnMut(&mut Self, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let at = self.next[kind] % blocks;
            let end = blocks.min(at + left);
            f(self, at..end)?;
            self.next[kind] = end;
            left -= end - at;
        }
        Ok(())
    }

    fn read(&mut self, exec: Exec<'_>, count: usize) -> Result<f64> {
        self.walk(0, 3 * self.blocks, count, |memory, range| {
            let part = &memory.buffer[range.start * BLOCK..range.end * BLOCK];
            exec.for_chunks(&ChunkPlan::of(range.len(), 1), |_, block, _| {
                black_box(sum(&part[block * BLOCK..][..BLOCK]));
                Ok(())
            })
        })?;
        Ok((count * BLOCK * size_of::<f32>()) as f64)
    }

    fn triad(&mut self, exec: Exec<'_>, count: usize) -> Result<f64> {
        self.walk(1, self.blocks, count, |memory, range| {
            let (a, rest) = memory.buffer.split_at_mut(memory.blocks * BLOCK);
            let (b, c) = rest.split_at(memory.blocks * BLOCK);
            let numbers = range.start * BLOCK..range.end * BLOCK;
            let (b, c) = (&b[numbers.clone()], &c[numbers.clone()]);
            exec.for_chunks_mut(&ChunkPlan::of(range.len(), 1), rows(&mut a[numbers], BLOCK), |_, block, a| {
                let at = block.start * BLOCK;
                triad(a, &b[at..][..BLOCK], &c[at..][..BLOCK]);
                Ok(())
            })
        })?;
        Ok((3 * count * BLOCK * size_of::<f32>()) as f64)
    }

    /// Rows of `width` numbers; a block is as many rows as make one.
    fn gather(&mut self, width: usize, exec: Exec<'_>, count: usize) -> Result<f64> {
        // the places of a block: all for narrow rows, the first ones for wide rows
        let per_block = BLOCK / NARROW;
        let taken = BLOCK / width;
        self.walk(2, 3 * self.blocks, count, |memory, range| {
            let (buffer, places) = (&memory.buffer[..], &memory.places[range.start * per_block..range.end * per_block]);
            exec.for_chunks(&ChunkPlan::of(range.len(), 1), |_, block, _| {
                let mut sums = [0f32; WIDE];
                gather(buffer, &places[block * per_block..][..taken], &mut sums[..black_box(width)]);
                black_box(sums);
                Ok(())
            })
        })?;
        Ok((count * BLOCK * size_of::<f32>()) as f64)
    }
}

impl Source for Memory {
    fn kernels(&self) -> &'static [Kernel] {
        &[Kernel::Read, Kernel::Stream, Kernel::Gather64, Kernel::Gather256]
    }

    fn run(&mut self, kernel: Kernel, exec: Exec<'_>, units: usize) -> Result<f64> {
        let count = units.saturating_mul(exec.threads());
        match kernel {
            Kernel::Read => self.read(exec, count),
            Kernel::Stream => self.triad(exec, count),
            Kernel::Gather64 => self.gather(NARROW, exec, count),
            _ => self.gather(WIDE, exec, count),
        }
    }
}

fn sum(x: &[f32]) -> f32 {
    let mut sums = [0f32; LANES];
    isa::vectorized(
        #[inline(always)]
        || x.chunks_exact(LANES).for_each(|row| add(&mut sums, row)),
    );
    sums[0] + black_box(sums)[LANES - 1]
}

fn triad(a: &mut [f32], b: &[f32], c: &[f32]) {
    isa::vectorized(
        #[inline(always)]
        || {
            for ((a, &b), &c) in a.iter_mut().zip(b).zip(c) {
                *a = c.mul_add(0.5, b);
            }
        },
    );
}

/// Adds to `sums` the rows of its length that begin nearest below the narrow rows `places`.
fn gather(x: &[f32], places: &[u32], sums: &mut [f32]) {
    let width = sums.len();
    let narrow = width / NARROW;
    isa::vectorized(
        #[inline(always)]
        || places.iter().for_each(|&place| add(sums, &x[place as usize / narrow * width..][..width])),
    );
}

#[inline(always)]
fn add(sums: &mut [f32], row: &[f32]) {
    for (sum, &x) in sums.iter_mut().zip(row) {
        *sum += x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runtime;

    fn memory(bytes: u64) -> Memory {
        Memory::new(Runtime::threads(2).unwrap().exec(), bytes).unwrap()
    }

    #[test]
    fn the_buffer_has_the_size_asked_for() {
        let memory = memory(8 << 20);
        assert_eq!(memory.blocks, 10);
        assert_eq!((memory.buffer.len(), memory.places.len()), (30 * BLOCK, 30 * BLOCK / NARROW));
        assert_eq!(self::memory(0).buffer.len(), 3 * BLOCK);
        let mut seen = memory.places.clone();
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > memory.places.len() / 2, "the places are spread: {}", seen.len());
    }

    #[test]
    fn kernels_compute_what_they_say() {
        assert_eq!(sum(&[0.5; 3 * LANES]), 3.0);
        let mut a = [0.0; 100];
        triad(&mut a, &[1.0; 100], &[4.0; 100]);
        assert_eq!(a, [3.0; 100]);
        let x: Vec<f32> = (0..4 * WIDE).map(|i| i as f32).collect();
        let mut narrow = [0.0; NARROW];
        gather(&x, &[0, 5], &mut narrow);
        assert_eq!((narrow[0], narrow[63]), (320.0, 63.0 + 383.0));
        let mut wide = [0.0; WIDE];
        gather(&x, &[5, 15], &mut wide);
        assert_eq!((wide[0], wide[1]), (256.0 + 768.0, 257.0 + 769.0), "a wide row begins where wide rows do");
    }

    #[test]
    fn work_is_counted_and_goes_on_where_it_stopped() {
        let runtime = Runtime::threads(2).unwrap();
        let mut memory = memory(0);
        let block = (4 * BLOCK) as f64;
        assert_eq!(memory.run(Kernel::Read, runtime.exec(), 2).unwrap(), 4.0 * block);
        assert_eq!(memory.next, [1, 0, 0], "four of three blocks");
        assert_eq!(memory.run(Kernel::Stream, runtime.exec(), 3).unwrap(), 18.0 * block);
        assert_eq!(memory.run(Kernel::Gather64, runtime.exec().limit(1), 1).unwrap(), block);
        assert_eq!(memory.run(Kernel::Gather256, runtime.exec().limit(1), 1).unwrap(), block);
        assert_eq!(memory.next[2], 2);
        assert!(memory.buffer.iter().all(|x| x.is_finite()));
    }
}
