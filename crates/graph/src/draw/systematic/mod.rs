//! The systematic draw (Madow 1949) in integers: exactly k units go, unit e with probability Q_e / 2^32.
//!
//! Lay the quotas end to end in a keyed random order, C_e the sum before unit e; with one uniform u in [0, 2^32), unit e
//! goes if and only if ⌊(C_e + Q_e + u) / 2^32⌋ > ⌊(C_e + u) / 2^32⌋. Sums are integers, so any grouping of them is exact:
//! each order has its own fast form (sums of groups of units, their prefix sums, a walk through each group), and all of
//! them equal [`systematic_in_order`] over one plain sort.

mod hash;
mod node;
mod parts;
mod ranking;
mod score;

use super::order::{self, Order};
use super::{Entry, Job, Quotas, Scratch};
use crate::{BitMask, DrawKey, Result};
use sapwood_skeleton::Exec;
use sapwood_skeleton::random::{Purpose, Stream};

/// What each order needs on the way.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    hash: hash::Buffers,
    node: node::Buffers,
    score: score::Buffers,
}

impl Buffers {
    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.hash.bytes() + self.node.bytes() + self.score.bytes()
    }
}

pub(super) const ENTRY: Entry = Entry {
    name: "systematic",
    summary: "exactly k units, each with exactly its probability; one uniform number, any number of threads",
    exact: true,
    draw,
};

fn draw(job: &Job<'_>, scratch: &mut Scratch, mask: &mut BitMask) -> Result<()> {
    if job.start_exact(mask)? == 0 {
        return Ok(());
    }
    let u = start(job.key)?;
    let buffers = &mut scratch.systematic;
    match job.order {
        Order::Hash => hash::draw(job.exec, job.quotas, job.key, u, &mut buffers.hash, mask),
        Order::Node => node::draw(job, u, &mut buffers.node, mask),
        Order::Score(strata) => score::draw(job, strata, u, &mut buffers.score, mask),
    }
}

/// Draws over [`Order::Hash`], which needs no graph: afterwards `mask` has one bit per unit, 1 where the unit stays;
/// exactly [`Quotas::k`] are 0.
///
/// Time O(units), about 16 bytes of scratch a unit; nothing is allocated once `scratch` and `mask` have their size.
///
/// # Errors
/// A key out of range, quotas without a whole sum, or a failure of the executor.
pub fn systematic(
    exec: Exec<'_>,
    quotas: &Quotas,
    key: DrawKey,
    scratch: &mut Scratch,
    mask: &mut BitMask,
) -> Result<()> {
    mask.reset(quotas.units() as usize, true);
    if quotas.exact()? == 0 {
        return Ok(());
    }
    hash::draw(exec, quotas, key, start(key)?, &mut scratch.systematic.hash, mask)
}

/// The uniform u of a draw.
fn start(key: DrawKey) -> Result<u64> {
    Ok(u64::from(Stream::new(key.seed, Purpose::Draw).at(key.epoch, key.b()?, 0)?[0]))
}

/// The units at which the running sum of quotas, from `sum`, passes a multiple of 2^32.
fn passes(quotas: &Quotas, units: impl Iterator<Item = u32>, mut sum: u64) -> impl Iterator<Item = u32> {
    units.filter(move |&unit| {
        let before = sum >> 32;
        sum += quotas.get(unit);
        sum >> 32 > before
    })
}

/// Borders of chunks of about `target` weight: a chunk ends with the item that reaches it. `before(i)` is the weight of
/// the items before item i, i ≤ `items`. The chunks of [`sapwood_skeleton::ChunkPlan::by_weight`], without a list of sums.
fn borders(items: usize, before: impl Fn(usize) -> u64, target: u64, borders: &mut Vec<u64>) {
    borders.clear();
    borders.push(0);
    let mut goal = before(0) + target;
    for i in 1..=items {
        if before(i) >= goal || i == items {
            borders.push(i as u64);
            goal = before(i) + target;
        }
    }
}

/// Clears the bits of the first `gone[chunk]` units from `begins[chunk]` of each chunk.
fn clear<T>(list: &[T], begins: &[u64], gone: &[u64], mask: &mut BitMask, unit: impl Fn(&T) -> u32) {
    for (&begin, &gone) in begins.iter().zip(gone) {
        for item in &list[begin as usize..(begin + gone) as usize] {
            mask.set(unit(item) as usize, false);
        }
    }
}

/// The rule itself: walks `order`, starting at `u` in [0, 2^32), and clears the bits of the units that go. O(units).
pub fn systematic_in_order(quotas: &Quotas, order: impl Iterator<Item = u32>, u: u32, mask: &mut BitMask) {
    mask.reset(quotas.units() as usize, true);
    for unit in passes(quotas, order, u64::from(u)) {
        mask.set(unit as usize, false);
    }
}

/// The slow twin of the draw `systematic`: the same mask by one plain sort.
///
/// # Errors
/// As the draw.
pub fn systematic_reference(job: &Job<'_>) -> Result<BitMask> {
    let mut mask = BitMask::default();
    if job.start_exact(&mut mask)? > 0 {
        let units = order::reference_order(job)?;
        systematic_in_order(job.quotas, units.into_iter(), start(job.key)? as u32, &mut mask);
    }
    Ok(mask)
}
