//! Steepest descent: the best single move until none is better.

use super::Setting;
use super::moves;
use super::state::{Change, State};
use crate::simulate::Sweep;

/// Takes the best of all single moves as long as one is better.
pub(super) fn descend(state: &mut State, setting: &Setting<'_>) {
    let mut sweep = Sweep::new();
    while let Some(better) = best_neighbour(state, setting, &mut sweep) {
        *state = better;
    }
}

fn best_neighbour(state: &State, setting: &Setting<'_>, sweep: &mut Sweep<u64>) -> Option<State> {
    let mut best: Option<State> = None;
    for mut changes in neighbours(state, setting) {
        let mut other = state.clone();
        changes.iter().for_each(|&change| other.apply(setting, change));
        setting.rule.settle(setting, &mut other, &mut changes);
        let order = setting.order;
        let peak = |stage| setting.vectors.peak(order, stage, &other.memory).unwrap_or(u64::MAX);
        other.peaks = (0..order.dims().stages).map(peak).collect();
        if other.fits(setting) && setting.allows(&other, &changes) {
            other.makespan = setting.makespan(&other, sweep);
            if other.compare(best.as_ref().unwrap_or(state), setting).is_lt() {
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
