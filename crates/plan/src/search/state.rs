//! A partition with what follows from it, kept up to date move by move.

use super::Setting;
use crate::simulate::memory::Activations;
use crate::simulate::{Durations, Sweep};
use std::cmp::Ordering;

/// A partition, its costs and what they come to.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// Layers by virtual stage and item.
    pub(crate) counts: Vec<u32>,
    /// Layers of the body by virtual stage.
    pub(crate) body: Vec<u32>,
    pub(crate) durations: Durations<u64>,
    pub(crate) memory: Activations,
    pub(crate) peaks: Vec<u64>,
    pub(crate) makespan: u64,
}

/// One layer more or less of an item in a virtual stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Change {
    pub(crate) virtual_stage: usize,
    pub(crate) item: usize,
    pub(crate) more: bool,
}

impl Change {
    /// What takes it back.
    pub(crate) fn back(self) -> Change {
        Change { more: !self.more, ..self }
    }

    fn step(self, slot: &mut u64, by: u64) {
        *slot = if self.more { *slot + by } else { *slot - by };
    }
}

impl State {
    /// The state of counts; peaks beyond u64 count as the largest number.
    pub(crate) fn new(setting: &Setting<'_>, counts: Vec<u32>, sweep: &mut Sweep<u64>) -> State {
        let Setting { problem, order, vectors, .. } = setting;
        let items = problem.items();
        let (durations, memory) = problem.costs(order, &counts);
        let body = |row: &[u32]| {
            items.iter().zip(row).filter(|(item, _)| problem.is_body(item.segment)).map(|(_, &count)| count).sum()
        };
        let peak = |stage| vectors.peak(order, stage, &memory).unwrap_or(u64::MAX);
        let mut state = State {
            body: counts.chunks(items.len()).map(body).collect(),
            peaks: (0..order.dims().stages).map(peak).collect(),
            makespan: 0,
            counts,
            durations,
            memory,
        };
        state.makespan = setting.makespan(&state, sweep);
        state
    }

    /// Whether every peak is within its cap, and pinned segments are where the model has them.
    pub(crate) fn fits(&self, setting: &Setting<'_>) -> bool {
        self.keeps_pins(setting) && self.peaks.iter().zip(setting.problem.caps()).all(|(peak, cap)| peak <= cap)
    }

    /// Whether the layers of the body before a pinned segment are not after it, and those after it not before.
    pub(crate) fn keeps_pins(&self, setting: &Setting<'_>) -> bool {
        let free = setting.pins.is_empty() && setting.mtp.is_empty();
        free || self.misplaced(setting) == 0
    }

    /// How many layers are on the wrong side of a pinned segment, or, where Megatron-LM has to state the plan, predict further
    /// tokens where it does not take them: all of them in one virtual stage, the last chunk of a stage that is not the first.
    pub(crate) fn misplaced(&self, setting: &Setting<'_>) -> u64 {
        let beyond = |&(at, before): &(usize, u32)| {
            let sum = |end: usize| self.body[..end].iter().sum::<u32>();
            u64::from(sum(at).saturating_sub(before)) + u64::from(before.saturating_sub(sum(at + 1)))
        };
        setting.pins.iter().map(beyond).sum::<u64>() + self.misplaced_mtp(setting)
    }

    fn misplaced_mtp(&self, setting: &Setting<'_>) -> u64 {
        if setting.mtp.is_empty() {
            return 0;
        }
        let (items, dims) = (setting.problem.items().len(), setting.order.dims());
        let layers =
            |at: &usize| -> u64 { setting.mtp.iter().map(|&item| u64::from(self.counts[at * items + item])).sum() };
        let last =
            |at: &usize| at / dims.stages + 1 == dims.chunks && (!at.is_multiple_of(dims.stages) || dims.stages == 1);
        let all: u64 = (0..self.body.len()).map(|at| layers(&at)).sum();
        all - (0..self.body.len()).filter(last).map(|at| layers(&at)).max().unwrap_or(0)
    }

    /// Applies a change; peaks and makespan are those of before.
    pub(crate) fn apply(&mut self, setting: &Setting<'_>, change: Change) {
        self.count(setting, change);
        self.cost(setting, change);
    }

    /// Applies a change to counts.
    pub(crate) fn count(&mut self, setting: &Setting<'_>, change: Change) {
        let step = |slot: &mut u32| *slot = if change.more { *slot + 1 } else { *slot - 1 };
        step(&mut self.counts[change.virtual_stage * setting.problem.items().len() + change.item]);
        if setting.problem.is_body(setting.problem.items()[change.item].segment) {
            step(&mut self.body[change.virtual_stage]);
        }
    }

    /// Applies a change that is counted to the costs.
    pub(crate) fn cost(&mut self, setting: &Setting<'_>, change: Change) {
        self.keep(setting, change);
        self.last(setting, change);
    }

    /// Applies a change that is counted to memory.
    pub(crate) fn keep(&mut self, setting: &Setting<'_>, change: Change) {
        let (items, at) = (setting.problem.items(), change.virtual_stage);
        let (item, order) = (&items[change.item], setting.order);
        let stage = order.shape().placement.of(at, order.dims().stages).0;
        change.step(&mut self.memory.kept[at], item.activation);
        change.step(&mut self.memory.constant[stage], item.parameters);
        if item.transient > 0 {
            let row = &self.counts[at * items.len()..(at + 1) * items.len()];
            let present = items.iter().zip(row).filter(|&(_, &count)| count > 0);
            self.memory.transient[at] = present.map(|(item, _)| item.transient).max().unwrap_or(0);
        }
    }

    /// Applies a change to durations.
    pub(crate) fn last(&mut self, setting: &Setting<'_>, change: Change) {
        let (item, at) = (&setting.problem.items()[change.item], change.virtual_stage);
        let (k, operations) = (setting.order.dims().virtual_stages(), &mut self.durations.operations);
        change.step(&mut operations[at], item.forward);
        if setting.order.shape().splits_backward {
            change.step(&mut operations[k + at], item.backward - item.weight + item.extra);
            change.step(&mut operations[2 * k + at], item.weight);
        } else {
            change.step(&mut operations[k + at], item.backward + item.extra);
        }
    }

    /// Layers that recompute anything.
    pub(crate) fn recomputed(&self, setting: &Setting<'_>) -> u64 {
        let items = setting.problem.items();
        let of = |row: &[u32]| -> u64 {
            items.iter().zip(row).filter(|(item, _)| item.extra > 0).map(|(_, &count)| u64::from(count)).sum()
        };
        self.counts.chunks(items.len()).map(of).sum()
    }

    /// The largest share of its cap that a stage takes, as a fraction that compares exactly.
    fn fullest(&self, setting: &Setting<'_>) -> (u64, u64) {
        let shares = self.peaks.iter().copied().zip(setting.problem.caps().iter().copied());
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        shares.max_by(|a, b| product(a.0, b.1).cmp(&product(b.0, a.1))).unwrap_or((0, 1))
    }

    /// The better one first: makespan, largest share of a cap, recomputed layers, counts.
    pub(crate) fn compare(&self, other: &State, setting: &Setting<'_>) -> Ordering {
        let (a, b) = (self.fullest(setting), other.fullest(setting));
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        self.makespan
            .cmp(&other.makespan)
            .then_with(|| product(a.0, b.1).cmp(&product(b.0, a.1)))
            .then_with(|| self.recomputed(setting).cmp(&other.recomputed(setting)))
            .then_with(|| self.counts.cmp(&other.counts))
    }
}
