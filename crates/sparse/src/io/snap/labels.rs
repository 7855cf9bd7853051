//! Small numbers for sparse ids, in the order of their first appearance.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use super::super::Result;
use super::super::bound::room;

/// What ids have been replaced by.
#[derive(Default)]
pub(super) struct Labels {
    labels: HashMap<u64, u64, Seed>,
    ids: Vec<u64>,
}

impl Labels {
    /// The number that stands for `id`: the next free one when it is new.
    ///
    /// # Errors
    /// When the system has no more memory; `name` is the file's.
    pub(super) fn of(&mut self, id: u64, name: &str) -> Result<u64> {
        let next = self.ids.len() as u64;
        let label = *self.labels.entry(id).or_insert(next);
        if label == next {
            room(&mut self.ids, name)?;
            self.ids.push(id);
        }
        Ok(label)
    }

    /// The id of every number.
    pub(super) fn into_ids(self) -> Vec<u64> {
        self.ids
    }
}

/// A fast hash of one number that no file can foresee: a multiplication folded in half, with a random factor.
#[derive(Clone)]
struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0) | 1)
    }
}

impl BuildHasher for Seed {
    type Hasher = Folded;
    fn build_hasher(&self) -> Folded {
        Folded { seed: self.0, hash: 0 }
    }
}

struct Folded {
    seed: u64,
    hash: u64,
}

impl Hasher for Folded {
    fn write_u64(&mut self, id: u64) {
        let product = u128::from(id ^ self.seed) * u128::from(self.seed.rotate_left(32) | 1);
        self.hash ^= (product as u64) ^ (product >> 64) as u64;
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }
    fn finish(&self) -> u64 {
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_seen_first() {
        let mut labels = Labels::default();
        let ids = [1 << 60, 7, 1 << 60, 0, 7, 9];
        assert_eq!(ids.map(|id| labels.of(id, "f").unwrap()), [0, 1, 0, 2, 1, 3]);
        assert_eq!(labels.into_ids(), [1 << 60, 7, 0, 9]);
    }

    #[test]
    fn near_ids_spread_over_the_table() {
        let seed = Seed::default();
        let low = |id: u64| seed.hash_one(id) & 0xfff;
        let used: std::collections::BTreeSet<u64> = (0..4096).map(|i| low(i << 20)).collect();
        assert!(used.len() > 1500, "{} of 4096 places used; a fair hash uses about 2590", used.len());
    }
}
