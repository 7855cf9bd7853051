//! The systematic draw over [`Order::Hash`](crate::draw::Order): the units are sorted by their hash.

use super::parts::{Cut, Hash, into_parts, sort_part};
use super::passes;
use crate::draw::Quotas;
use crate::{BitMask, DrawKey, Result};
use sapwood_skeleton::{ChunkPlan, Exec, rows, spans};

/// What a draw needs on the way; its storage is reused from draw to draw.
#[derive(Debug, Default)]
pub(in crate::draw) struct Buffers {
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

impl Buffers {
    fn fit(&mut self, cut: Cut, k: usize) {
        let parts = cut.parts();
        self.entries.resize(cut.units, 0);
        self.block_offsets.clear();
        self.block_offsets.extend(cut.block_offsets());
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
    pub(in crate::draw) fn bytes(&self) -> usize {
        let words = [&self.entries, &self.block_offsets, &self.sums, &self.sorted, &self.part_offsets, &self.before];
        8 * (words.iter().map(|w| w.capacity()).sum::<usize>() + self.dropped_offsets.capacity())
            + 4 * (self.starts.capacity() + self.dropped.capacity())
    }
}

/// Clears the bits of the units that go; `u` is the uniform of the draw.
pub(super) fn draw(
    exec: Exec<'_>,
    quotas: &Quotas,
    key: DrawKey,
    u: u64,
    scratch: &mut Buffers,
    mask: &mut BitMask,
) -> Result<()> {
    let cut = Cut::of(quotas.units() as usize);
    let hash = Hash::of_key(key)?;
    scratch.fit(cut, quotas.k() as usize);
    sort_blocks(exec, cut, hash, quotas, scratch)?;
    place_parts(cut, u, scratch);
    walk_parts(exec, cut, hash, quotas, u, scratch)?;
    for &unit in &scratch.dropped {
        mask.set(unit as usize, false);
    }
    Ok(())
}

fn sort_blocks(exec: Exec<'_>, cut: Cut, hash: Hash, quotas: &Quotas, s: &mut Buffers) -> Result<()> {
    let parts = cut.parts();
    let outputs = (spans(&mut s.entries, &s.block_offsets), rows(&mut s.starts, parts + 1), rows(&mut s.sums, parts));
    exec.for_chunks_mut(&ChunkPlan::of(cut.blocks, 1), outputs, |worker, range, (entries, starts, sums)| {
        let hashes = worker.arena().take::<u64>(entries.len())?;
        let first = (range.start * cut.block) as u32;
        into_parts(cut, hash, first, hashes, starts, entries, |part, unit| sums[part] += quotas.get(unit))
    })?;
    Ok(())
}

/// Prefix sums over parts: where each begins among all units, among all quotas, among the units that go.
fn place_parts(cut: Cut, u: u64, s: &mut Buffers) {
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

fn walk_parts(exec: Exec<'_>, cut: Cut, hash: Hash, quotas: &Quotas, u: u64, s: &mut Buffers) -> Result<()> {
    let (entries, starts, before) = (&s.entries, &s.starts, &s.before);
    let (part_offsets, dropped_offsets) = (&s.part_offsets, &s.dropped_offsets);
    let outputs = (spans(&mut s.sorted, part_offsets), spans(&mut s.dropped, dropped_offsets));
    exec.for_chunks_mut(&ChunkPlan::of(cut.parts(), 4), outputs, |_, range, (mut sorted, mut dropped)| {
        for part in range {
            let own;
            (own, sorted) = sorted.split_at_mut((part_offsets[part + 1] - part_offsets[part]) as usize);
            sort_part(hash, cut.pieces(entries, starts, part), own)?;
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
