//! Steepest descent: the best single move until none is better.

use super::Setting;
use super::moves;
use super::state::{Change, State};
use crate::simulate::Sweep;

/// Takes the best of all single moves as long as one is faster, or as fast with less recomputation, and nobody says stop.
pub(super) fn descend(state: &mut State, setting: &Setting<'_>, stop: &(dyn Fn() -> bool + Sync)) {
    let mut sweep = Sweep::new();
    while let Some(better) = best_neighbour(state, setting, &mut sweep, stop) {
        *state = better;
    }
}

/// None if it is stopped before all were looked at.
fn best_neighbour(
    state: &State,
    setting: &Setting<'_>,
    sweep: &mut Sweep<u64>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Option<State> {
    let mut best: Option<State> = None;
    for mut changes in neighbours(state, setting) {
        if stop() {
            return None;
        }
        let mut other = state.clone();
        changes.iter().for_each(|&change| other.apply(setting, change));
        setting.rule.settle(setting, &mut other, &mut changes);
        let (order, placement) = (setting.order, setting.order.shape().placement);
        for change in &changes {
            let stage = placement.of(change.virtual_stage, order.dims().stages).0;
            other.peaks[stage] = setting.vectors.peak(order, stage, &other.memory).unwrap_or(u64::MAX);
        }
        if other.fits(setting) && setting.allows(&other, &changes) {
            other.makespan = setting.makespan(&other, sweep);
            let key = |state: &State| (state.makespan, state.recomputed(setting));
            let better = key(&other) < key(state);
            if better && best.as_ref().is_none_or(|best| other.compare(best, setting).is_lt()) {
                best = Some(other);
            }
        }
    }
    best
}

/// Every transfer of a layer and every change of a kind.
fn neighbours(state: &State, setting: &Setting<'_>) -> Vec<Vec<Change>> {
    let (k, items) = (state.body.len(), setting.problem.items());
    let mut all = Vec::new();
    for from in 0..k {
        for to in (0..k).filter(|&to| to != from) {
            // Each kind that the layer may have.
            for word in (0..items.len() as u32).map(|i| (u64::from(i) * (1 << 32) / items.len() as u64) as u32) {
                let mut changes = Vec::new();
                if moves::shift(setting, state, (from, to), word, &mut changes) {
                    all.push(changes);
                }
            }
        }
        let kinds = if setting.rule.follows() { 0 } else { items.len() };
        for item in (0..kinds).filter(|&item| state.counts[from * items.len() + item] > 0) {
            for &other in &setting.siblings[item] {
                all.push(vec![
                    Change { virtual_stage: from, item, more: false },
                    Change { virtual_stage: from, item: other as usize, more: true },
                ]);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}
