//! How a matrix is cut into work items of about equal weight, with rows cut only where the canonical order cuts them.
//!
//! A [`WorkPlan`] depends on the matrix alone. Items are either whole rows, or one piece of a row too heavy for one item;
//! the sums of such pieces go to slots and are merged from left to right afterwards. No item is heavier than [`HEAVIEST`].

use crate::error::{Error, Result};
use crate::order::PIECE;
use crate::structure::{Place, Structure, WorkRange};

/// Most rows + entries of an item.
pub const HEAVIEST: usize = 8192;

/// Least weight worth an item of its own.
const LIGHTEST: usize = 1024;

/// Items aimed at where the matrix is small: enough for the work to be shared evenly by a few threads.
const ITEMS: usize = 64;

/// A row whose pieces are spread over several items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeavyRow {
    /// The row.
    pub(crate) row: usize,
    /// Slot of its first piece; the others follow.
    pub(crate) slot: usize,
    /// Number of pieces.
    pub(crate) pieces: usize,
}

/// The cut of one matrix into work items. Made once per pattern, used for every product.
#[derive(Debug, Clone, Default)]
pub struct WorkPlan {
    cuts: Vec<Place>,
    heavy: Vec<HeavyRow>,
    shape: (usize, usize),
    entries: usize,
}

impl WorkPlan {
    /// Cuts `a`.
    pub fn new(a: &impl Structure) -> WorkPlan {
        let mut plan = WorkPlan::default();
        plan.rebuild(a);
        plan
    }

    /// Cuts another matrix, or the same one after a change, in the storage of this plan.
    pub fn rebuild(&mut self, a: &impl Structure) {
        (self.shape, self.entries) = (a.shape(), a.entries());
        self.cuts.clear();
        self.heavy.clear();
        self.cuts.push((0, 0));
        let rows = self.shape.0;
        let limit = ((rows + self.entries) / ITEMS).clamp(LIGHTEST, HEAVIEST);
        let mut weight = 0;
        let mut slot = 0;
        for row in 0..rows {
            let len = a.row_len(row);
            if weight > 0 && weight + 1 + len > limit {
                self.cuts.push((row, 0));
                weight = 0;
            }
            if len > PIECE && 1 + len > limit {
                let pieces = len.div_ceil(PIECE);
                self.cuts.extend((1..pieces).map(|p| (row, p * PIECE)));
                self.heavy.push(HeavyRow { row, slot, pieces });
                slot += pieces;
                weight = limit;
            } else {
                weight += 1 + len;
            }
        }
        if rows > 0 {
            self.cuts.push((rows, 0));
        }
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.cuts.len().saturating_sub(1)
    }

    /// What item `item` < [`items`](WorkPlan::items) covers.
    pub fn range(&self, item: usize) -> WorkRange {
        WorkRange { start: self.cuts[item], end: self.cuts[item + 1] }
    }

    /// Whether an item is one piece of a heavy row.
    pub(crate) fn is_piece(work: WorkRange) -> bool {
        work.start.1 != 0 || work.end.1 != 0
    }

    /// Rows whose pieces are spread over several items, ascending.
    pub(crate) fn heavy(&self) -> &[HeavyRow] {
        &self.heavy
    }

    /// Number of slots for sums of pieces.
    pub(crate) fn slots(&self) -> usize {
        self.heavy.last().map_or(0, |h| h.slot + h.pieces)
    }

    /// Writes for every item, and the end, where its output rows and its slots start, in elements of rows of `k`.
    /// The output row of a heavy row belongs to the item of its first piece.
    pub(crate) fn spans(&self, k: usize, outputs: &mut [u64], slots: &mut [u64]) {
        let mut slot = 0;
        for item in 0..self.cuts.len() {
            let (row, position) = self.cuts[item];
            outputs[item] = ((row + usize::from(position > 0)) * k) as u64;
            slots[item] = (slot * k) as u64;
            if item < self.items() && WorkPlan::is_piece(self.range(item)) {
                slot += 1;
            }
        }
    }

    /// Whether this plan was made for a matrix of that shape and size.
    pub(crate) fn check(&self, shape: (usize, usize), entries: usize) -> Result<()> {
        if (self.shape, self.entries) == (shape, entries) && (shape.0 == 0 || !self.cuts.is_empty()) {
            return Ok(());
        }
        Err(Error::Plan { plan_rows: self.shape.0, plan_entries: self.entries, rows: shape.0, entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, One};

    fn with_lengths(lengths: &[usize]) -> Csr<One> {
        let cols = lengths.iter().copied().max().unwrap_or(0);
        let mut offsets = vec![0];
        for &n in lengths {
            offsets.push(offsets[offsets.len() - 1] + n as u64);
        }
        let columns: Vec<u32> = lengths.iter().flat_map(|&n| 0..n as u32).collect();
        let values = vec![One; columns.len()];
        Csr::try_new(lengths.len(), cols, offsets, columns, values).unwrap()
    }

    /// Checks that the items tile the entries, within the weight limit, and returns the plan.
    fn plan(lengths: &[usize]) -> WorkPlan {
        let plan = WorkPlan::new(&with_lengths(lengths));
        for item in 0..plan.items() {
            let WorkRange { start, end } = plan.range(item);
            assert!(start < end && start.1 % PIECE == 0 && end.1 % PIECE == 0);
            let whole: usize = (start.0..end.0).map(|r| 1 + lengths[r]).sum();
            assert!(whole + end.1 - start.1 <= HEAVIEST, "item {item} weighs {}", whole + end.1 - start.1);
        }
        let ends: Vec<_> = plan.cuts.iter().copied().filter(|c| c.1 == 0).collect();
        assert_eq!((ends.first(), ends.last()), (Some(&(0, 0)), Some(&(lengths.len(), 0))));
        plan
    }

    #[test]
    fn no_work_item_is_above_8192() {
        assert_eq!(plan(&[]).items(), 0);
        assert_eq!(plan(&[0]).items(), 1);
        assert_eq!(plan(&[1; 1023]).items(), 2);
        plan(&[3; 100_000]);
        plan(&[8191, 8192, 8193, 4096, 4097, 0, 12_288]);
        let half = plan(&[50_000, 25_000, 25_000]);
        assert_eq!(half.slots(), 13 + 7 + 7);
        assert_eq!(half.heavy()[1], HeavyRow { row: 1, slot: 13, pieces: 7 });
    }

    #[test]
    fn outputs_and_slots_tile() {
        let plan = plan(&[5, 10_000, 7, 9000]);
        let n = plan.items() + 1;
        let (mut outputs, mut slots) = (vec![0; n], vec![0; n]);
        plan.spans(3, &mut outputs, &mut slots);
        assert_eq!(outputs, [0, 3, 6, 6, 6, 9, 12, 12, 12]);
        assert_eq!(slots, [0, 0, 3, 6, 9, 9, 12, 15, 18]);
    }

    #[test]
    fn a_plan_knows_its_matrix() {
        let plan = plan(&[2, 2]);
        assert!(plan.check((2, 2), 4).is_ok());
        let error = plan.check((2, 2), 5).unwrap_err().to_string();
        assert_eq!(error, "the work plan was made for 2 rows and 4 entries, the matrix has 2 and 5: rebuild it");
        assert!(WorkPlan::default().check((0, 0), 0).is_ok());
    }
}
