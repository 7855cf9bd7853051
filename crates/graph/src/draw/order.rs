//! The order in which a draw walks the units, fresh in each draw: by a keyed hash, with the units of a node together, or
//! inside strata of the score.
//!
//! h(x) is the keyed hash of the stream of purpose `Order` at (epoch, layer and micro-batch, x). Here are the rules and
//! their plain form, one sort; the fast forms are in `systematic/`.

use super::Job;
use crate::{Error, Result};
use sapwood_skeleton::random::{Purpose, Stream};

/// Ranks of a stratum of [`Order::Score`].
pub const STRATUM: u64 = 64;

/// How the units are ordered.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// By (h(unit), unit): `--stratify none`.
    Hash,
    /// Nodes are ranked by (h(node), node); a unit sorts by (smaller rank of its two ends, unit). The units of a node lie
    /// together, so its degree varies less: `--stratify node`.
    Node,
    /// By (stratum, h(unit), unit): `--stratify score`.
    Score(Strata),
}

/// Units grouped by score: stratum ⌊rank / 64⌋.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strata {
    /// Where each stratum begins in `members`; one more at the end.
    offsets: Vec<u64>,
    /// Units, stratum by stratum, ascending in each.
    members: Vec<u32>,
}

impl Strata {
    /// Groups the units by the mid-ranks of their scores: `ranks[unit]`, from 0, ties sharing their mean rank.
    ///
    /// # Errors
    /// A rank that is not a number from 0 to units − 1, or more than 2^31 − 1 units.
    pub fn new(ranks: &[f64]) -> Result<Strata> {
        super::quotas::check_units(ranks.len() as u64)?;
        let last = ranks.len().saturating_sub(1) as f64;
        if let Some(bad) = ranks.iter().find(|r| !(0.0..=last).contains(*r)) {
            let range = "a rank from 0 to the number of units less 1";
            return Err(Error::Range { flag: "the rank of a score", range, value: bad.to_string() });
        }
        let stratum = |unit: usize| (ranks[unit] / STRATUM as f64) as usize;
        let mut offsets = vec![0u64; ranks.len().div_ceil(STRATUM as usize) + 1];
        (0..ranks.len()).for_each(|unit| offsets[stratum(unit) + 1] += 1);
        (1..offsets.len()).for_each(|s| offsets[s] += offsets[s - 1]);
        let mut next = offsets.clone();
        let mut members = vec![0; ranks.len()];
        for unit in 0..ranks.len() {
            let slot = &mut next[stratum(unit)];
            members[*slot as usize] = unit as u32;
            *slot += 1;
        }
        Ok(Strata { offsets, members })
    }

    /// Number of units.
    pub fn units(&self) -> u64 {
        self.members.len() as u64
    }

    /// Where each stratum begins among the members, and their number.
    pub(super) fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Units, stratum by stratum.
    pub(super) fn members(&self) -> &[u32] {
        &self.members
    }

    /// The units of each stratum, ascending; a stratum may be empty.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> + '_ {
        self.offsets.windows(2).map(|w| &self.members[w[0] as usize..w[1] as usize])
    }
}

/// The units of `job` in its order, by one plain sort: the twin of the fast orders, and what the serial draws walk.
///
/// # Errors
/// A key out of range.
pub fn reference_order(job: &Job<'_>) -> Result<Vec<u32>> {
    let (mut keys, mut nodes) = (Vec::new(), Vec::new());
    sort(job, &mut keys, &mut nodes)?;
    Ok(keys.into_iter().map(|key| key as u32).collect())
}

/// Leaves the units of `job` in order in the low 32 bits of `keys`; `nodes` is scratch.
pub(super) fn sort(job: &Job<'_>, keys: &mut Vec<u128>, nodes: &mut Vec<u128>) -> Result<()> {
    let (stream, a, b) = (Stream::new(job.key.seed, Purpose::Order), job.key.epoch, job.key.b()?);
    let hash = |x: u32| Ok::<_, Error>(u128::from(stream.hash64(a, b, u64::from(x))?) << 32 | u128::from(x));
    keys.clear();
    match job.order {
        Order::Hash => {
            for unit in 0..job.quotas.units() as u32 {
                keys.push(hash(unit)?);
            }
        }
        Order::Score(strata) => {
            for (stratum, units) in strata.iter().enumerate() {
                for &unit in units {
                    keys.push((stratum as u128) << 96 | hash(unit)?);
                }
            }
        }
        Order::Node => {
            nodes.clear();
            for node in 0..job.graph.nodes() as u32 {
                nodes.push(hash(node)?);
            }
            for (unit, (i, j)) in job.graph.pair_ends().enumerate() {
                let first = nodes[i.index()].min(nodes[j.index()]); // as good as its rank: no two nodes share it
                keys.push(first << 32 | unit as u128);
            }
        }
    }
    keys.sort_unstable();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_are_64_ranks_each() {
        let ranks: Vec<f64> = (0..130).rev().map(f64::from).collect();
        let strata = Strata::new(&ranks).unwrap();
        let lengths: Vec<usize> = strata.iter().map(<[u32]>::len).collect();
        assert_eq!(lengths, [64, 64, 2]);
        assert_eq!(strata.iter().last().unwrap(), [0, 1]);
        let tied = Strata::new(&[64.5; 130]).unwrap();
        assert_eq!(tied.iter().map(<[u32]>::len).collect::<Vec<_>>(), [0, 130, 0]);
        assert_eq!((Strata::new(&[]).unwrap().units(), Strata::new(&[0.0]).unwrap().units()), (0, 1));
    }

    #[test]
    fn bad_ranks_are_refused() {
        for bad in [f64::NAN, -0.5, 2.0, f64::INFINITY] {
            assert!(Strata::new(&[0.0, bad]).is_err(), "{bad}");
        }
    }
}
