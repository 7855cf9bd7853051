//! Small numbers for sparse ids, in the order of their first appearance.

use std::collections::HashMap;

use foldhash::quality::RandomState;

use super::super::Result;
use super::super::bound::room;

/// What ids have been replaced by.
#[derive(Default)]
pub(super) struct Labels {
    labels: HashMap<u64, u64, RandomState>,
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
}
