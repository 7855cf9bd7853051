//! Items in the order of (hash, number): how the nodes of a graph are ranked in a draw.

use super::parts::{Cut, Hash, into_parts, sort_part};
use crate::Result;
use sapwood_skeleton::{ChunkPlan, Exec, rows, spans};

/// The last ranking made; its storage is reused.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    /// Hash of each item.
    hashes: Vec<u64>,
    /// Items of each block, sorted into parts.
    entries: Vec<u64>,
    /// Where each block begins, blocks + 1 numbers.
    block_offsets: Vec<u64>,
    /// Where each part begins in each block, parts + 1 numbers a block.
    starts: Vec<u32>,
    /// All items in order.
    sorted: Vec<u64>,
    /// Where each part begins in `sorted`.
    part_offsets: Vec<u64>,
}

impl Ranking {
    /// Ranks the items 0 .. `items`, in parts as the units of a draw are (see `parts`).
    pub(super) fn make(&mut self, exec: Exec<'_>, hash: Hash, items: usize) -> Result<()> {
        let cut = Cut::of(items);
        self.fit(cut);
        let parts = cut.parts();
        let outputs = (
            rows(&mut self.starts, parts + 1),
            spans(&mut self.hashes, &self.block_offsets),
            spans(&mut self.entries, &self.block_offsets),
        );
        exec.for_chunks_mut(&ChunkPlan::of(cut.blocks, 1), outputs, |_, range, (starts, hashes, entries)| {
            into_parts(cut, hash, (range.start * cut.block) as u32, hashes, starts, entries, |_, _| ())
        })?;
        for part in 0..parts {
            let of_block = |block: usize| {
                let at = block * (parts + 1) + part;
                u64::from(self.starts[at + 1] - self.starts[at])
            };
            self.part_offsets[part + 1] = self.part_offsets[part] + (0..cut.blocks).map(of_block).sum::<u64>();
        }
        let (entries, starts, part_offsets) = (&self.entries, &self.starts, &self.part_offsets);
        let sorted = spans(&mut self.sorted, part_offsets);
        exec.for_chunks_mut(&ChunkPlan::of(parts, 4), sorted, |_, range, mut sorted| {
            for part in range {
                let own;
                (own, sorted) = sorted.split_at_mut((part_offsets[part + 1] - part_offsets[part]) as usize);
                sort_part(hash, cut.pieces(entries, starts, part), own)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn fit(&mut self, cut: Cut) {
        for list in [&mut self.hashes, &mut self.entries, &mut self.sorted] {
            list.resize(cut.units, 0);
        }
        self.block_offsets.clear();
        self.block_offsets.extend(cut.block_offsets());
        self.starts.resize(cut.blocks * (cut.parts() + 1), 0);
        self.part_offsets.resize(cut.parts() + 1, 0);
    }

    /// Hash of each item.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The items, lowest rank first.
    pub(super) fn order(&self) -> impl Iterator<Item = u32> + '_ {
        self.sorted.iter().map(|&entry| entry as u32)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let words = [&self.hashes, &self.entries, &self.block_offsets, &self.sorted, &self.part_offsets];
        8 * words.iter().map(|w| w.capacity()).sum::<usize>() + 4 * self.starts.capacity()
    }
}
