//! The systematic draw (Madow 1949) in integers: exactly k units go, unit e with probability Q_e / 2^32.
//!
//! Lay the quotas end to end in a keyed random order, C_e the sum before unit e; with one uniform u in [0, 2^32), unit e
//! goes if and only if ⌊(C_e + Q_e + u) / 2^32⌋ > ⌊(C_e + u) / 2^32⌋. Sums are integers, so any grouping of them is exact.

use super::Quotas;
use super::order::{self, Cut, Hash};
use crate::{BitMask, DrawKey, Result};
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_skeleton::{ChunkPlan, Exec, rows, spans};

/// What a draw needs on the way; its storage is reused from draw to draw.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Units of each block, sorted into parts.
    entries: Vec<u64>,
    /// Where each block begins, blocks + 1 numbers.
    block_offsets: Vec<u64>,
    /// Where each part begins in each block, parts + 1 numbers a block.
    starts: Vec<u32>,
    /// Sum of the quotas of each part in each block.
    sums: Vec<u64>,
    /// All units in order.
    sorted: Vec<u64>,
    /// Where each part begins in `sorted`.
    part_offsets: Vec<u64>,
    /// Sum of the quotas before each part, and of all.
    before: Vec<u64>,
    /// Units that go, part by part.
    dropped: Vec<u32>,
    /// Where each part begins in `dropped`.
    dropped_offsets: Vec<u64>,
}

impl Scratch {
    fn fit(&mut self, cut: Cut, k: usize) {
        let parts = cut.parts();
        self.entries.resize(cut.units, 0);
        self.block_offsets.clear();
        self.block_offsets.extend((0..=cut.blocks).map(|b| (b * cut.block).min(cut.units) as u64));
        self.starts.resize(cut.blocks * (parts + 1), 0);
        self.sums.clear();
        self.sums.resize(cut.blocks * parts, 0);
        self.sorted.resize(cut.units, 0);
        self.dropped.resize(k, 0);
        for list in [&mut self.part_offsets, &mut self.before, &mut self.dropped_offsets] {
            list.resize(parts + 1, 0);
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let words = [&self.entries, &self.block_offsets, &self.sums, &self.sorted, &self.part_offsets, &self.before];
        8 * (words.iter().map(|w| w.capacity()).sum::<usize>() + self.dropped_offsets.capacity())
            + 4 * (self.starts.capacity() + self.dropped.capacity())
    }
}

/// Draws: afterwards `mask` has one bit per unit, 1 where the unit stays; exactly [`Quotas::k`] are 0.
///
/// Time O(units), about 16 bytes of scratch a unit; nothing is allocated once `scratch` and `mask` have their size.
///
/// # Errors
/// A key out of range, or a failure of the executor.
pub fn systematic(
    exec: Exec<'_>,
    quotas: &Quotas,
    key: DrawKey,
    scratch: &mut Scratch,
    mask: &mut BitMask,
) -> Result<()> {
    let (b, units) = (key.b()?, quotas.units() as usize);
    mask.reset(units, true);
    if quotas.k() == 0 {
        return Ok(());
    }
    let u = start(key)?;
    let cut = Cut::of(units);
    let hash = Hash { stream: Stream::new(key.seed, Purpose::Order), a: key.epoch, b };
    scratch.fit(cut, quotas.k() as usize);
    sort_blocks(exec, cut, hash, quotas, scratch)?;
    place_parts(cut, u, scratch);
    walk_parts(exec, cut, hash, quotas, u, scratch)?;
    for &unit in &scratch.dropped {
        mask.set(unit as usize, false);
    }
    Ok(())
}

/// The uniform u of a draw.
fn start(key: DrawKey) -> Result<u64> {
    Ok(u64::from(Stream::new(key.seed, Purpose::Draw).at(key.epoch, key.b()?, 0)?[0]))
}

fn sort_blocks(exec: Exec<'_>, cut: Cut, hash: Hash, quotas: &Quotas, s: &mut Scratch) -> Result<()> {
    let parts = cut.parts();
    let outputs = (spans(&mut s.entries, &s.block_offsets), rows(&mut s.starts, parts + 1), rows(&mut s.sums, parts));
    exec.for_chunks_mut(&ChunkPlan::of(cut.blocks, 1), outputs, |worker, range, (entries, starts, sums)| {
        let hashes = worker.arena().take::<u64>(entries.len())?;
        let first = (range.start * cut.block) as u32;
        order::into_parts(cut, hash, first, hashes, starts, entries, |part, unit| sums[part] += quotas.get(unit))
    })?;
    Ok(())
}

/// Prefix sums over parts: where each begins among all units, among all quotas, among the units that go.
fn place_parts(cut: Cut, u: u64, s: &mut Scratch) {
    let parts = cut.parts();
    let (mut units, mut quota) = (0, 0);
    for part in 0..=parts {
        s.part_offsets[part] = units;
        s.before[part] = quota;
        s.dropped_offsets[part] = (quota + u) >> 32;
        if part < parts {
            for block in 0..cut.blocks {
                let at = block * (parts + 1) + part;
                units += u64::from(s.starts[at + 1] - s.starts[at]);
                quota += s.sums[block * parts + part];
            }
        }
    }
}

fn walk_parts(exec: Exec<'_>, cut: Cut, hash: Hash, quotas: &Quotas, u: u64, s: &mut Scratch) -> Result<()> {
    let (entries, starts, before) = (&s.entries, &s.starts, &s.before);
    let (part_offsets, dropped_offsets) = (&s.part_offsets, &s.dropped_offsets);
    let outputs = (spans(&mut s.sorted, part_offsets), spans(&mut s.dropped, dropped_offsets));
    exec.for_chunks_mut(&ChunkPlan::of(cut.parts(), 4), outputs, |_, range, (mut sorted, mut dropped)| {
        for part in range {
            let pieces = (0..cut.blocks).map(|block| {
                let at = block * (cut.parts() + 1) + part;
                let from = block * cut.block;
                &entries[from + starts[at] as usize..from + starts[at + 1] as usize]
            });
            let own;
            (own, sorted) = sorted.split_at_mut((part_offsets[part + 1] - part_offsets[part]) as usize);
            order::sort_part(hash, pieces, own)?;
            let gone;
            (gone, dropped) = dropped.split_at_mut((dropped_offsets[part + 1] - dropped_offsets[part]) as usize);
            let units = own.iter().map(|&entry| entry as u32);
            for (slot, unit) in gone.iter_mut().zip(passes(quotas, units, before[part] + u)) {
                *slot = unit;
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// The units at which the running sum of quotas, from `sum`, passes a multiple of 2^32.
fn passes(quotas: &Quotas, units: impl Iterator<Item = u32>, mut sum: u64) -> impl Iterator<Item = u32> {
    units.filter(move |&unit| {
        let before = sum >> 32;
        sum += quotas.get(unit);
        sum >> 32 > before
    })
}

/// The rule itself: walks `order`, starting at `u` in [0, 2^32), and clears the bits of the units that go. O(units).
pub fn systematic_in_order(quotas: &Quotas, order: impl Iterator<Item = u32>, u: u32, mask: &mut BitMask) {
    mask.reset(quotas.units() as usize, true);
    for unit in passes(quotas, order, u64::from(u)) {
        mask.set(unit as usize, false);
    }
}

/// The slow twin of [`systematic`]: the same draw by one plain sort.
///
/// # Errors
/// A key out of range.
pub fn systematic_reference(quotas: &Quotas, key: DrawKey) -> Result<BitMask> {
    let hash = Stream::new(key.seed, Purpose::Order);
    let mut order = Vec::new();
    for unit in 0..quotas.units() as u32 {
        order.push((hash.hash64(key.epoch, key.b()?, u64::from(unit))?, unit));
    }
    order.sort_unstable();
    let mut mask = BitMask::default();
    systematic_in_order(quotas, order.into_iter().map(|(_, unit)| unit), start(key)? as u32, &mut mask);
    Ok(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_drops_of_the_triangle_with_a_tail() {
        let q = [0.887196089721, 0.219100093292, 0.219100093292, 0.674603723696];
        let quotas = Quotas::from_probabilities(&q, 2).unwrap();
        for (u, gone) in [(0u32, [1, 3]), (1 << 31, [0, 3]), (4_000_000_000, [0, 1])] {
            let mut mask = BitMask::default();
            systematic_in_order(&quotas, 0..4, u, &mut mask);
            let dropped: Vec<usize> = (0..4).filter(|&e| !mask.get(e)).collect();
            assert_eq!(dropped, gone, "u = {u}");
        }
    }
}
