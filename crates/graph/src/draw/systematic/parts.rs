//! The order in which a draw walks its units: by (h(unit), unit), h a 64-bit keyed hash fresh in each draw.
//!
//! A full sort is needed, since which units go depends on every unit's place. The hash is uniform, so the top bits cut the
//! units into parts of about a thousand: each block of units sorts itself into parts (first pass), each part gathers
//! its pieces from all blocks and sorts them in cache (second pass). Both passes run in chunks fixed by the number of
//! units, and a sort by (hash, unit) has one result, so threads do not matter.
//!
//! A part's entry is the 32 bits of the hash below the part number, then the unit. Units that agree in all of these
//! bits, a few in a draw of millions, are put right by their whole hash.

use crate::{DrawKey, Result};
use sapwood_skeleton::random::{Purpose, Stream};

/// How `units` units are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) units: usize,
    /// Units of a block, the last one shorter.
    pub(super) block: usize,
    pub(super) blocks: usize,
    /// There are 2^bits parts.
    bits: u32,
}

impl Cut {
    pub(super) fn of(units: usize) -> Cut {
        let block = units.div_ceil(256).max(1 << 14);
        let bits = (units / 1024).max(1).next_power_of_two().ilog2().min(12);
        Cut { units, block, blocks: units.div_ceil(block), bits }
    }

    pub(super) fn parts(self) -> usize {
        1 << self.bits
    }

    /// Where each block begins, and the number of units.
    pub(super) fn block_offsets(self) -> impl Iterator<Item = u64> {
        (0..=self.blocks).map(move |b| (b * self.block).min(self.units) as u64)
    }

    /// What the first pass left of part `part` in each block.
    pub(super) fn pieces<'a>(
        self,
        entries: &'a [u64],
        starts: &'a [u32],
        part: usize,
    ) -> impl Iterator<Item = &'a [u64]> + Clone {
        (0..self.blocks).map(move |block| {
            let at = block * (self.parts() + 1) + part;
            let from = block * self.block;
            &entries[from + starts[at] as usize..from + starts[at + 1] as usize]
        })
    }

    #[inline(always)]
    fn part(self, hash: u64) -> usize {
        ((hash >> 32) >> (32 - self.bits)) as usize
    }

    #[inline(always)]
    fn entry(self, hash: u64, unit: u32) -> u64 {
        (hash << self.bits) & 0xffff_ffff_0000_0000 | u64::from(unit)
    }
}

/// The keyed hash of the units of one draw.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hash {
    pub(super) stream: Stream,
    pub(super) a: u32,
    pub(super) b: u32,
}

const LANES: usize = 512; // units hashed at once: 8 KiB of words

impl Hash {
    /// h of the draw of `key`.
    pub(super) fn of_key(key: DrawKey) -> Result<Hash> {
        Ok(Hash { stream: Stream::new(key.seed, Purpose::Order), a: key.epoch, b: key.b()? })
    }

    fn of(&self, unit: u32) -> Result<u64, sapwood_skeleton::Error> {
        self.stream.hash64(self.a, self.b, u64::from(unit))
    }

    /// Hashes the units `first ..`, one for each element of `out`.
    pub(super) fn fill(&self, first: u32, out: &mut [u64]) -> Result<(), sapwood_skeleton::Error> {
        let mut words = [[0u32; 4]; LANES];
        for (block, hashes) in out.chunks_mut(LANES).enumerate() {
            let words = &mut words[..hashes.len()];
            self.stream.fill(self.a, self.b, u64::from(first) + (block * LANES) as u64, words)?;
            for (hash, w) in hashes.iter_mut().zip(words) {
                *hash = u64::from(w[0]) | u64::from(w[1]) << 32;
            }
        }
        Ok(())
    }
}

/// First pass, one block: its units, from `first`, sorted into parts. `starts` gets where each part begins in the block
/// (parts + 1 numbers); `hashes` is scratch of the block's length; `seen` is told each unit and its part.
pub(super) fn into_parts(
    cut: Cut,
    hash: Hash,
    first: u32,
    hashes: &mut [u64],
    starts: &mut [u32],
    entries: &mut [u64],
    mut seen: impl FnMut(usize, u32),
) -> Result<(), sapwood_skeleton::Error> {
    hash.fill(first, hashes)?;
    starts.fill(0);
    for (unit, &h) in (first..).zip(hashes.iter()) {
        let part = cut.part(h);
        starts[part] += 1;
        seen(part, unit);
    }
    let mut end = 0;
    for start in starts.iter_mut() {
        end += *start;
        *start = end; // the end of the part for now
    }
    for (i, &h) in hashes.iter().enumerate().rev() {
        let unit = first + i as u32;
        let slot = &mut starts[cut.part(h)];
        *slot -= 1;
        entries[*slot as usize] = cut.entry(h, unit);
    }
    Ok(())
}

/// Second pass, one part: gathers `pieces` into `out` and sorts them by (hash, unit).
pub(super) fn sort_part<'a>(
    hash: Hash,
    pieces: impl Iterator<Item = &'a [u64]> + Clone,
    out: &mut [u64],
) -> Result<(), sapwood_skeleton::Error> {
    let bucket = |entry: u64| (entry >> 56) as usize;
    let mut next = [0u32; 257];
    for piece in pieces.clone() {
        for &entry in piece {
            next[bucket(entry) + 1] += 1;
        }
    }
    for b in 0..256 {
        next[b + 1] += next[b];
    }
    for piece in pieces {
        for &entry in piece {
            let slot = &mut next[bucket(entry)];
            out[*slot as usize] = entry;
            *slot += 1;
        }
    }
    if out.len() > 256 * 16 {
        out.sort_unstable()
    } else {
        insertion_sort(out)
    }
    untie(hash, out)
}

/// For entries that are at most a bucket away from their place.
fn insertion_sort(entries: &mut [u64]) {
    for i in 1..entries.len() {
        let entry = entries[i];
        let mut at = i;
        while at > 0 && entries[at - 1] > entry {
            entries[at] = entries[at - 1];
            at -= 1;
        }
        entries[at] = entry;
    }
}

/// Sorts runs of entries with equal hash bits by the whole hash.
pub(super) fn untie(hash: Hash, entries: &mut [u64]) -> Result<(), sapwood_skeleton::Error> {
    let mut from = 0;
    while let Some(tie) = entries[from..].windows(2).position(|w| w[0] >> 32 == w[1] >> 32) {
        let start = from + tie;
        let length = entries[start..].iter().take_while(|&&e| e >> 32 == entries[start] >> 32).count();
        from = start + length;
        let mut whole = Vec::with_capacity(length);
        for &entry in &entries[start..from] {
            whole.push((hash.of(entry as u32)?, entry));
        }
        whole.sort_unstable();
        for (slot, (_, entry)) in entries[start..from].iter_mut().zip(whole) {
            *slot = entry;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash() -> Hash {
        Hash { stream: Stream::new(5, Purpose::Order), a: 3, b: 4 }
    }

    #[test]
    fn the_cut_depends_on_the_units_alone() {
        assert_eq!((Cut::of(0).parts(), Cut::of(0).blocks), (1, 0));
        assert_eq!((Cut::of(1000).parts(), Cut::of(1000).blocks), (1, 1));
        assert_eq!((Cut::of(314_683).parts(), Cut::of(314_683).blocks), (512, 20));
        assert_eq!((Cut::of(100_000_000).parts(), Cut::of(100_000_000).blocks), (4096, 256));
    }

    #[test]
    fn parts_and_entries_keep_the_order_of_the_hash() {
        let cut = Cut::of(314_683);
        let hashes = [0u64, 1 << 20, 1 << 33, 1 << 55, u64::MAX - (1 << 60), u64::MAX];
        let keys: Vec<_> = hashes.iter().map(|&h| (cut.part(h), cut.entry(h, 7))).collect();
        assert!(keys.is_sorted());
        assert_eq!(keys[5].0, 511);
    }

    #[test]
    fn ties_are_broken_by_the_whole_hash() {
        // entries made to tie: equal high halves, so only the whole hash of the unit decides
        let mut entries: Vec<u64> = (0..50u64).collect();
        untie(hash(), &mut entries).unwrap();
        let mut expected: Vec<u64> = (0..50).collect();
        expected.sort_by_key(|&e| hash().of(e as u32).unwrap());
        assert_eq!(entries, expected);
        assert_ne!(entries, (0..50).collect::<Vec<u64>>());
    }

    #[test]
    fn large_and_small_parts_are_sorted() {
        for n in [0u64, 1, 2, 1000, 10_000] {
            let mut x: Vec<u64> = (0..n).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !0xffff_ffff) | i).collect();
            let mut out = vec![0; x.len()];
            let (a, b) = x.split_at(x.len() / 3);
            sort_part(hash(), [a, b].into_iter(), &mut out).unwrap();
            x.sort_unstable();
            assert_eq!(out, x);
        }
    }
}
