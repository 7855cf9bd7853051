//! Descent: single moves until none is better.

use super::anneal::deltas;
use super::filter::Filter;
use super::moves;
use super::state::{Change, State};
use super::{Setting, repair};
use crate::simulate::Sweep;
use crate::simulate::path::Path;

/// Moves that are tried to come nearer to the caps.
const TRIED: usize = 1 << 18;

/// Takes, virtual stage after virtual stage, the best of all single moves that begin there, if it is faster, or as fast with
/// less recomputation, until a whole round brings nothing, `most` simulations are made or somebody says stop.
pub(super) fn descend(state: &mut State, setting: &Setting<'_>, most: u64, stop: &(dyn Fn() -> bool + Sync)) {
    let filter = Filter::new(state.durations.operations.len());
    let mut known = Known { filter, sweep: Sweep::new(), left: most };
    known.judge(state, setting, &[]);
    let (stages, mut from, mut idle) = (state.body.len(), 0, 0);
    while idle < stages && known.left > 0 && !stop() {
        idle += 1;
        if let Some((better, by)) = known.best_neighbour(state, setting, from, stop) {
            known.filter.accept(&by);
            (*state, idle) = (better, 0);
        }
        from = (from + 1) % stages;
    }
}

/// A change of each of some durations, by its place.
type Deltas = Vec<(usize, i64)>;

/// Paths that most moves need not be simulated for.
struct Known {
    filter: Filter<u64>,
    sweep: Sweep<u64>,
    /// Simulations that may be made.
    left: u64,
}

impl Known {
    /// The best of the neighbours that moves from a virtual stage make, if it is better, and how its durations change.
    fn best_neighbour(
        &mut self,
        state: &State,
        setting: &Setting<'_>,
        from: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Option<(State, Deltas)> {
        let mut best: Option<(State, Deltas)> = None;
        let mut scratch = state.clone();
        for mut changes in neighbours(state, setting, std::iter::once(from)) {
            let most = best.as_ref().map_or(state.makespan, |(best, _)| best.makespan);
            let mut by = Deltas::new();
            changes.iter().for_each(|&change| scratch.count(setting, change));
            setting.rule.settle(setting, &mut scratch, &mut changes);
            changes.iter().rev().for_each(|change| scratch.count(setting, change.back()));
            deltas(setting, &changes, &mut by);
            if self.filter.longest(&by) > most {
                continue;
            }
            if self.left == 0 || stop() {
                break;
            }
            let Some(mut other) = changed(state, setting, changes).filter(|other| other.fits(setting)) else {
                continue;
            };
            self.judge(&mut other, setting, &by);
            let key = |state: &State| (state.makespan, state.recomputed(setting));
            let better = key(&other) < key(state);
            if better && best.as_ref().is_none_or(|(best, _)| other.compare(best, setting).is_lt()) {
                best = Some((other, by));
            }
        }
        best
    }

    /// Simulates a state whose durations are those of the filter once they change by `by`.
    fn judge(&mut self, state: &mut State, setting: &Setting<'_>, by: &[(usize, i64)]) {
        self.left = self.left.saturating_sub(1);
        state.makespan = self.sweep.run(setting.order, &state.durations);
        let path = Path::of(setting.order, &state.durations, |at| self.sweep.end(at));
        self.filter.learn(&path, &state.durations, by);
        if setting.rendezvous {
            state.makespan = setting.makespan(state, &mut self.sweep);
        }
    }
}

/// A state after changes, if they are allowed; its makespan is that of before.
pub(super) fn changed(state: &State, setting: &Setting<'_>, mut changes: Vec<Change>) -> Option<State> {
    let mut other = state.clone();
    changes.iter().for_each(|&change| other.count(setting, change));
    setting.rule.settle(setting, &mut other, &mut changes);
    changes.iter().for_each(|&change| other.cost(setting, change));
    let (order, placement) = (setting.order, setting.order.shape().placement);
    for change in &changes {
        let stage = placement.of(change.virtual_stage, order.dims().stages).0;
        other.peaks[stage] = setting.vectors.peak(order, stage, &other.memory).unwrap_or(u64::MAX);
    }
    Some(other).filter(|other| setting.allows(other, &changes))
}

/// Comes as near to the caps as single moves go: layers of stages beyond their caps, the furthest one first, go where
/// [`distance`] is least. The makespan is not kept up to date.
pub(super) fn approach(state: &mut State, setting: &Setting<'_>, stop: &(dyn Fn() -> bool + Sync)) {
    let caps = setting.problem.caps();
    let mut left = TRIED;
    loop {
        let over = |stage: &usize| state.peaks[*stage].saturating_sub(caps[*stage]);
        let mut stages: Vec<usize> = (0..caps.len()).filter(|stage| over(stage) > 0).collect();
        stages.sort_by_key(|stage| std::cmp::Reverse(over(stage)));
        let better = stages.into_iter().find_map(|stage| nearer(state, setting, stage, &mut left));
        let Some(better) = better.filter(|_| left > 0 && !stop()) else { return };
        *state = better;
    }
}

/// The nearest of the states that a move away from a stage or a change of a kind on it makes, if it is nearer.
fn nearer(state: &State, setting: &Setting<'_>, stage: usize, left: &mut usize) -> Option<State> {
    let dims = setting.order.dims();
    let own = (0..dims.chunks).map(|chunk| setting.order.shape().placement.virtual_stage(stage, chunk, dims.stages));
    let all = neighbours(state, setting, own);
    let tried = all.len().min(*left);
    *left -= tried;
    let others = all.into_iter().take(tried).filter_map(|changes| changed(state, setting, changes));
    let nearest = others.min_by(|a, b| distance(a, setting).cmp(&distance(b, setting)).then(a.counts.cmp(&b.counts)));
    nearest.filter(|other| distance(other, setting) < distance(state, setting))
}

/// How far a state is from fitting: misplaced layers, ticks of memory beyond the cap of the furthest stage, and of all.
pub(super) fn distance(state: &State, setting: &Setting<'_>) -> (u64, u64, u128) {
    let over = state.peaks.iter().zip(setting.problem.caps()).map(|(peak, cap)| peak.saturating_sub(*cap));
    let (misplaced, all) = repair::excess(state, setting);
    (misplaced, over.max().unwrap_or(0), all)
}

/// Every transfer of a layer from some virtual stages and every change of a kind there.
pub(super) fn neighbours(
    state: &State,
    setting: &Setting<'_>,
    stages: impl Iterator<Item = usize>,
) -> Vec<Vec<Change>> {
    let (k, items) = (state.body.len(), setting.problem.items());
    let mut all = Vec::new();
    for from in stages {
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
