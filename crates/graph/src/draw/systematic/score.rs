//! The systematic draw over [`Order::Score`](crate::draw::Order): each stratum is sorted on its own.
//!
//! Strata come in the order of the draw, so chunks of whole strata can be sorted, summed and walked apart. A chunk has
//! about [`UNITS`] units, more where ties make one stratum larger.

use super::parts::{Hash, untie};
use super::{borders, clear};
use crate::draw::Job;
use crate::draw::order::Strata;
use crate::{BitMask, Result};
use sapwood_skeleton::{ChunkPlan, per_chunk, rows, spans};

const UNITS: u64 = 1 << 12;

/// What a draw needs on the way; its storage is reused from draw to draw.
#[derive(Debug, Default)]
pub(in crate::draw) struct Buffers {
    /// Hash of each unit.
    hashes: Vec<u64>,
    /// First stratum of each chunk, and the number of strata.
    borders: Vec<u64>,
    /// Where each chunk begins in `entries`.
    begins: Vec<u64>,
    /// High half of its hash and number of each unit, in order; afterwards, from each chunk's begin, of those that go.
    entries: Vec<u64>,
    /// Sum of the quotas of each chunk; afterwards the sum before it.
    sums: Vec<u64>,
    /// How many units of each chunk go.
    gone: Vec<u64>,
}

impl Buffers {
    fn fit(&mut self, strata: &Strata) {
        let offsets = strata.offsets();
        borders(offsets.len() - 1, |stratum| offsets[stratum], UNITS, &mut self.borders);
        self.begins.clear();
        self.begins.extend(self.borders.iter().map(|&stratum| offsets[stratum as usize]));
        for list in [&mut self.hashes, &mut self.entries] {
            list.resize(strata.units() as usize, 0);
        }
        for list in [&mut self.sums, &mut self.gone] {
            list.resize(self.borders.len() - 1, 0);
        }
    }

    /// Bytes held.
    pub(in crate::draw) fn bytes(&self) -> usize {
        let words = [&self.hashes, &self.borders, &self.begins, &self.entries, &self.sums, &self.gone];
        8 * words.iter().map(|w| w.capacity()).sum::<usize>()
    }
}

/// Clears the bits of the units that go; `u` is the uniform of the draw.
pub(super) fn draw(job: &Job<'_>, strata: &Strata, u: u64, s: &mut Buffers, mask: &mut BitMask) -> Result<()> {
    s.fit(strata);
    sort(job, strata, s)?;
    let mut sum = u;
    for own in &mut s.sums {
        let before = sum;
        sum += *own;
        *own = before;
    }
    walk(job, s)?;
    clear(&s.entries, &s.begins, &s.gone, mask, |&entry| entry as u32);
    Ok(())
}

/// Sorts each stratum by (hash, unit) and adds up the quotas of each chunk.
fn sort(job: &Job<'_>, strata: &Strata, s: &mut Buffers) -> Result<()> {
    let hash = Hash::of_key(job.key)?;
    let plan = ChunkPlan::of(s.hashes.len(), UNITS as usize);
    job.exec.for_chunks_mut(&plan, rows(&mut s.hashes, 1), |_, range, hashes| hash.fill(range.start as u32, hashes))?;
    let (hashes, borders, offsets) = (&s.hashes, &s.borders, strata.offsets());
    let plan = ChunkPlan::of(s.gone.len(), 1).dynamic();
    let outputs = (spans(&mut s.entries, &s.begins), per_chunk(&mut s.sums));
    job.exec.for_chunks_mut(&plan, outputs, |_, chunk, (entries, sum)| {
        let mut rest = entries;
        sum[0] = 0;
        for stratum in borders[chunk.start] as usize..borders[chunk.end] as usize {
            let members = &strata.members()[offsets[stratum] as usize..offsets[stratum + 1] as usize];
            let own;
            (own, rest) = rest.split_at_mut(members.len());
            for (entry, &unit) in own.iter_mut().zip(members) {
                *entry = hashes[unit as usize] & 0xffff_ffff_0000_0000 | u64::from(unit);
                sum[0] += job.quotas.get(unit);
            }
            own.sort_unstable();
            untie(hash, own)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Leaves the units of each chunk that go at its begin.
fn walk(job: &Job<'_>, s: &mut Buffers) -> Result<()> {
    let starts = &s.sums;
    let plan = ChunkPlan::of(s.gone.len(), 1).dynamic();
    let outputs = (spans(&mut s.entries, &s.begins), per_chunk(&mut s.gone));
    job.exec.for_chunks_mut(&plan, outputs, |_, chunk, (entries, gone)| {
        let (mut sum, mut next) = (starts[chunk.start], 0);
        for at in 0..entries.len() {
            let before = sum >> 32;
            sum += job.quotas.get(entries[at] as u32);
            entries[next] = entries[at]; // never past what was read
            next += usize::from(sum >> 32 > before);
        }
        gone[0] = next as u64;
        Ok(())
    })?;
    Ok(())
}
