//! The knapsack of a stage: the least extra time of recomputation with which ranges of layers fit the cap.
//!
//! Memory is counted in parts of 1/1024 of the cap, each layer's rounded up and what is left for them rounded down, so that
//! what fits here fits. A transient of the largest layer is tried at each size that there is.
//!
//! A table has for each number of parts the least extra time of some layers. Layers are added one by one, so ranges that
//! start at the same layer share their tables; and as only the segments of layers matter, so do all starts in a segment
//! until its end.

use super::super::sequence::{Group, Sequence};
use super::super::{Nodes, Spent};

/// Parts of a cap.
const PARTS: usize = 1024;

/// More extra time than any that is possible.
const NEVER: u64 = u64::MAX;

/// The extra time by parts.
type Table = Vec<u64>;

/// The knapsacks of a stage.
pub(super) struct Knapsack<'a> {
    sequence: &'a Sequence<'a>,
    stage: usize,
    cap: u64,
}

impl<'a> Knapsack<'a> {
    pub(super) fn new(sequence: &'a Sequence<'a>, stage: usize) -> Knapsack<'a> {
        Knapsack { sequence, stage, cap: sequence.problem.caps()[stage] }
    }

    /// F + B with the least extra time, by first layer and number of layers; none, or no entry, for what does not fit.
    pub(super) fn costs(&self, nodes: &mut Nodes) -> Result<Vec<Vec<Option<u64>>>, Spent> {
        let sequence = self.sequence;
        let mut costs = vec![Vec::new(); sequence.len() + 1];
        for limit in self.limits() {
            let mut shared: Vec<Table> = Vec::new();
            let (lowest, highest) = sequence.windows.begin(self.stage);
            // From the end of a segment to its begin the shared tables only grow.
            for from in (lowest..=highest).rev() {
                let new = from + 1 > highest || from + 1 >= sequence.len();
                if new || sequence.segment(from) != sequence.segment(from + 1) {
                    shared = vec![self.pinned(limit)];
                }
                self.lengths(from, limit, &mut shared, &mut costs[from], nodes)?;
            }
        }
        Ok(costs)
    }

    /// Improves the costs of all ranges from a layer on with transients up to a limit.
    fn lengths(
        &self,
        from: usize,
        limit: u64,
        shared: &mut Vec<Table>,
        costs: &mut Vec<Option<u64>>,
        nodes: &mut Nodes,
    ) -> Result<(), Spent> {
        let sequence = self.sequence;
        let mut own: Option<Table> = None;
        for to in from..=sequence.windows.end(self.stage).1 {
            let inside = to == from || sequence.segment(to - 1) == sequence.segment(from);
            if inside && shared.len() <= to - from {
                nodes.spend(PARTS * sequence.kinds(sequence.segment(from)).len())?;
                shared.push(self.add(&shared[to - from - 1], sequence.segment(from), limit));
            } else if !inside {
                nodes.spend(PARTS * sequence.kinds(sequence.segment(to - 1)).len())?;
                own =
                    Some(self.add(own.as_ref().unwrap_or(&shared[shared.len() - 1]), sequence.segment(to - 1), limit));
            }
            let table = own.as_ref().unwrap_or_else(|| &shared[to - from]);
            let Some(room) = self.room(from, to, limit) else { break };
            if costs.len() <= to - from {
                costs.push(None);
            }
            let extra = table[room];
            if extra == NEVER {
                break;
            }
            let time = self.work(from, to) + extra;
            costs[to - from] = Some(costs[to - from].map_or(time, |known| known.min(time)));
        }
        Ok(())
    }

    /// Layers by item of the range `from..to` with the least extra time; the range must have a cost.
    pub(super) fn row(&self, from: usize, to: usize) -> Vec<u32> {
        let least = |limit: &u64| {
            let (tables, _) = self.tables(from, to, *limit);
            self.room(from, to, *limit).map_or(NEVER, |room| tables[tables.len() - 1][room])
        };
        let limit = self.limits().into_iter().min_by_key(least).unwrap_or(0);
        let (tables, layers) = self.tables(from, to, limit);
        let mut row = vec![0; self.sequence.problem.items().len()];
        let mut room = self.room(from, to, limit).unwrap_or(0);
        for (at, &segment) in layers.iter().enumerate().rev() {
            let steps = self.steps(segment, limit);
            let fits = |&&(_, parts, extra): &&(usize, usize, u64)| {
                parts <= room && tables[at][room - parts].saturating_add(extra) == tables[at + 1][room]
            };
            if let Some(&(item, parts, _)) = steps.iter().find(fits) {
                row[item] += 1;
                room -= parts;
            }
        }
        row
    }

    /// All tables on the way to a range, with the segments of the layers that are added.
    fn tables(&self, from: usize, to: usize, limit: u64) -> (Vec<Table>, Vec<usize>) {
        let groups = self.sequence.groups(self.stage, from, to);
        let layers: Vec<usize> =
            groups.iter().flat_map(|&Group { segment, count }| std::iter::repeat_n(segment, count)).collect();
        let mut tables = vec![vec![0; PARTS + 1]];
        for &segment in &layers {
            tables.push(self.add(&tables[tables.len() - 1], segment, limit));
        }
        (tables, layers)
    }

    /// The table of what is pinned to the stage.
    fn pinned(&self, limit: u64) -> Table {
        let mut table = vec![0; PARTS + 1];
        for Group { segment, count } in self.sequence.pinned(self.stage) {
            for _ in 0..count {
                table = self.add(&table, segment, limit);
            }
        }
        table
    }

    /// The table with one layer more.
    fn add(&self, table: &Table, segment: usize, limit: u64) -> Table {
        let mut new = vec![NEVER; PARTS + 1];
        for (_, parts, extra) in self.steps(segment, limit) {
            for (slot, &before) in new[parts..].iter_mut().zip(table) {
                *slot = (*slot).min(before.saturating_add(extra));
            }
        }
        new
    }

    /// What a layer of a segment may do with transients up to a limit: item, parts, extra time.
    fn steps(&self, segment: usize, limit: u64) -> Vec<(usize, usize, u64)> {
        let of = |&item: &usize| {
            let cost = self.sequence.item(item);
            let parts = self.parts(cost.activation * self.sequence.in_flight(self.stage))?;
            (cost.transient <= limit).then_some((item, parts, cost.extra))
        };
        self.sequence.kinds(segment).iter().filter_map(of).collect()
    }

    /// Parts of the cap, rounded up; none for more than all.
    fn parts(&self, memory: u64) -> Option<usize> {
        if memory > self.cap {
            return None;
        }
        Some((u128::from(memory) * PARTS as u128).div_ceil(u128::from(self.cap.max(1))) as usize)
    }

    /// Parts of the cap that are left for activations, rounded down.
    fn room(&self, from: usize, to: usize, limit: u64) -> Option<usize> {
        let sequence = self.sequence;
        let pinned = sequence.pinned_sum(self.stage, |item| item.parameters);
        let fixed = sequence.problem.constant()[self.stage] + pinned + sequence.parameters(from, to) + limit;
        let left = self.cap.checked_sub(fixed)?;
        Some((u128::from(left) * PARTS as u128 / u128::from(self.cap.max(1))) as usize)
    }

    /// F + B without recomputation.
    fn work(&self, from: usize, to: usize) -> u64 {
        self.sequence.work(from, to) + self.sequence.pinned_sum(self.stage, |item| item.forward + item.backward)
    }

    /// Transients that may be the largest one.
    fn limits(&self) -> Vec<u64> {
        let items = self.sequence.problem.items().iter();
        let mut limits: Vec<u64> = items.map(|item| item.transient).chain([0]).collect();
        limits.sort_unstable();
        limits.dedup();
        limits
    }
}
