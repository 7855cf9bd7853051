//! Partitions that fit, out of such that do not: a random walk that never takes more memory beyond the caps.

use super::Setting;
use super::moves::{self, Words};
use super::state::{Change, State};
use crate::Result;
use sapwood_skeleton::random::{Purpose, Stream};

/// Most moves that a walk tries.
const MOVES: u64 = 400_000;

/// Moves without less excess after which a walk gives up.
const PATIENCE: u64 = 30_000;

/// Number of the stream of a walk: behind those of the chains.
const CHAIN: u32 = 1 << 16;

/// Misplaced layers, which count for more than any memory, and ticks of memory beyond the caps, of all stages.
pub(super) fn excess(state: &State, setting: &Setting<'_>) -> (u64, u128) {
    let over = state.peaks.iter().zip(setting.problem.caps()).map(|(peak, cap)| u128::from(peak.saturating_sub(*cap)));
    (state.misplaced(setting), over.sum())
}

/// Walks from `state` to a partition without excess, or as near as it comes; its makespan is not kept up to date.
pub(super) fn walk(state: &mut State, setting: &Setting<'_>, seed: u64, number: usize) -> Result<()> {
    let stream = Stream::new(seed, Purpose::Plan);
    let (mut now, mut changes) = (excess(state, setting), Vec::<Change>::new());
    let mut better = 0;
    for at in 0..MOVES {
        if now == (0, 0) || at - better > PATIENCE {
            break;
        }
        let words: Words = stream.at(CHAIN + number as u32, 0, at)?;
        changes.clear();
        if !moves::propose(setting, state, words, None, &mut changes) {
            continue;
        }
        let mut other = Undo { stages: Vec::new() };
        changes.iter().for_each(|&change| state.count(setting, change));
        setting.rule.settle(setting, state, &mut changes);
        changes.iter().for_each(|&change| state.cost(setting, change));
        other.look(state, setting, &changes);
        let then = excess(state, setting);
        if then <= now && setting.allows(state, &changes) {
            better = if then < now { at } else { better };
            now = then;
        } else {
            changes.iter().rev().for_each(|change| state.apply(setting, change.back()));
            other.back(state);
        }
    }
    Ok(())
}

/// Peaks before a move.
struct Undo {
    stages: Vec<(usize, u64)>,
}

impl Undo {
    /// Brings the peaks of the touched stages up to date.
    fn look(&mut self, state: &mut State, setting: &Setting<'_>, changes: &[Change]) {
        let order = setting.order;
        for change in changes {
            let stage = order.shape().placement.of(change.virtual_stage, order.dims().stages).0;
            if !self.stages.iter().any(|&(other, _)| other == stage) {
                self.stages.push((stage, state.peaks[stage]));
                state.peaks[stage] = setting.vectors.peak(order, stage, &state.memory).unwrap_or(u64::MAX);
            }
        }
    }

    fn back(&self, state: &mut State) {
        self.stages.iter().for_each(|&(stage, peak)| state.peaks[stage] = peak);
    }
}
