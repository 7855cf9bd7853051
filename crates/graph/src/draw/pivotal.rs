//! The pivotal draw (Deville & Tillé, "Unequal probability sampling without replacement through a splitting method",
//! Biometrika 1998) on integer quotas: exactly k units go, each with its probability. Serial, for comparison.
//!
//! The units are walked in order, and the survivor of the fights so far meets the next unit with 0 < Q < 2^32. If the two
//! quotas A, B sum to less than 2^32, one of them gets the sum and the other stays; else one goes and the other keeps
//! A + B − 2^32. Which one is decided by one keyed number a fight, so that both keep their mean.

use super::quotas::ONE;
use super::{Entry, Job, Scratch, order};
use crate::{BitMask, Result};
use sapwood_skeleton::random::{Purpose, Stream};

pub(super) const ENTRY: Entry = Entry {
    name: "pivotal",
    summary: "exactly k units, each with exactly its probability, by fights of neighbours in the order; serial",
    exact: true,
    draw,
};

fn draw(job: &Job<'_>, scratch: &mut Scratch, mask: &mut BitMask) -> Result<()> {
    if job.start_exact(mask)? == 0 {
        return Ok(());
    }
    order::sort(job, &mut scratch.keys, &mut scratch.nodes)?;
    let mut numbers = Numbers::new(job)?;
    let mut survivor = (0, 0); // unit and what is left of its quota; 0: nobody
    for unit in scratch.keys.iter().map(|&key| key as u32) {
        let next = (unit, job.quotas.get(unit));
        if next.1 == ONE {
            mask.set(unit as usize, false);
        } else if survivor.1 == 0 {
            survivor = next;
        } else if next.1 > 0 {
            let gone;
            (survivor, gone) = fight(survivor, next, numbers.next()?);
            if let Some(unit) = gone {
                mask.set(unit as usize, false);
            }
        }
    }
    Ok(())
}

/// A unit and its quota.
type Side = (u32, u64);

/// Who goes on, with which quota, and who goes. Both quotas lie strictly between 0 and 2^32; `random` is uniform.
fn fight(a: Side, b: Side, random: u64) -> (Side, Option<u32>) {
    let sum = a.1 + b.1;
    // a wins with probability share / of, to 2^−64
    let wins = |share: u64, of: u64| (u128::from(random) * u128::from(of)) >> 64 < u128::from(share);
    if sum < ONE {
        let winner = if wins(a.1, sum) { a.0 } else { b.0 };
        ((winner, sum), None)
    } else {
        let (gone, left) = if wins(ONE - b.1, 2 * ONE - sum) { (a.0, b.0) } else { (b.0, a.0) };
        ((left, sum - ONE), Some(gone))
    }
}

/// The numbers of the fights: words 0 and 1 of the stream of purpose `Draw` at (epoch, layer and micro-batch, fight).
struct Numbers {
    stream: Stream,
    a: u32,
    b: u32,
    fight: u64,
    words: [[u32; 4]; Numbers::BLOCK],
}

impl Numbers {
    const BLOCK: usize = 256;

    fn new(job: &Job<'_>) -> Result<Numbers> {
        let (a, b) = (job.key.epoch, job.key.b()?);
        let stream = Stream::new(job.key.seed, Purpose::Draw);
        Ok(Numbers { stream, a, b, fight: 0, words: [[0; 4]; Numbers::BLOCK] })
    }

    fn next(&mut self) -> Result<u64> {
        let at = (self.fight % Numbers::BLOCK as u64) as usize;
        if at == 0 {
            self.stream.fill(self.a, self.b, self.fight, &mut self.words)?;
        }
        self.fight += 1;
        let w = self.words[at];
        Ok(u64::from(w[1]) << 32 | u64::from(w[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fight_keeps_both_means() {
        let third = ONE / 3;
        // sum below 2^32: a wins half of the numbers
        assert_eq!(fight((1, third), (2, third), 0), ((1, 2 * third), None));
        assert_eq!(fight((1, third), (2, third), u64::MAX / 2 + 1), ((2, 2 * third), None));
        // quotas ½ and ¾: a goes with (1 − ¾) / (2 − 5/4) = ⅓, and b keeps ¼
        let (a, b) = ((1, ONE / 2), (2, ONE / 4 * 3));
        assert_eq!(fight(a, b, u64::MAX / 3), ((2, ONE / 4), Some(1)));
        assert_eq!(fight(a, b, u64::MAX / 3 + 1), ((1, ONE / 4), Some(2)));
        // a sum of exactly 2^32 leaves nobody
        assert_eq!(fight((1, ONE / 4), (2, ONE / 4 * 3), 0), ((2, 0), Some(1)));
    }
}
