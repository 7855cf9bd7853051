//! A chain of simulated annealing.
//!
//! Each move has random words of its own, found by chain and number of the move. What is accepted is decided before anything is
//! evaluated: a makespan of at most that of now + temperature · e with e from the exponential distribution. So a known path
//! that is longer already may reject a move without changing what the chain does.

use super::filter::Filter;
use super::moves::{self, Words};
use super::state::{Change, State};
use super::{Options, Setting};
use crate::Result;
use crate::simulate::path::Path;
use crate::simulate::{Sweep, blocking};
use sapwood_skeleton::math::ln_f64;
use sapwood_skeleton::random::{Purpose, Stream, uniform_f64};

/// First temperature by the makespan of the first seed.
const HOT: f64 = 1.6e-3;
/// Last temperature by the first.
const COLD: f64 = 0.003;
/// Share of the proposals that are two moves at once, in 2³² parts.
const COMPOUND: u32 = (0.3 * 4_294_967_296.0) as u32;

/// Share of the second moves of these that begin on the stage where the first one ended, in 2³² parts.
const NEAR: u32 = 1 << 31;

/// The temperatures of a chain.
pub(super) struct Cooling {
    first: f64,
    /// Moves of a chain.
    moves: u64,
}

impl Cooling {
    pub(super) fn new(seed: &State, moves: u64) -> Cooling {
        Cooling { first: HOT * seed.makespan as f64, moves }
    }

    /// Moves of a chain before round `round`.
    fn before(&self, round: u64) -> u64 {
        (u128::from(self.moves) * u128::from(round) / u128::from(super::ROUNDS)) as u64
    }

    fn at(&self, moved: u64) -> f64 {
        self.first * COLD.powf(moved as f64 / self.moves.max(1) as f64)
    }
}

/// Operations that are simulated before a chain asks whether to stop: about a millisecond.
const ASKED: u64 = 1 << 20;

/// One chain.
pub(super) struct Chain {
    number: u32,
    stream: Stream,
    pub(super) now: State,
    pub(super) best: State,
    pub(super) moves: u64,
    /// Whether it was stopped.
    pub(super) stopped: bool,
    filter: Filter,
    sweep: Sweep<u64>,
    changes: Vec<Change>,
    deltas: Vec<(usize, i64)>,
    stages: Vec<usize>,
    new_peaks: Vec<u64>,
}

impl Chain {
    pub(super) fn new(number: usize, seeds: &[State], options: &Options) -> Chain {
        let start = seeds[number % seeds.len()].clone();
        Chain {
            number: number as u32,
            stream: Stream::new(options.seed, Purpose::Plan),
            filter: Filter::new(start.durations.operations.len()),
            best: start.clone(),
            now: start,
            moves: 0,
            stopped: false,
            sweep: Sweep::new(),
            changes: Vec::new(),
            deltas: Vec::new(),
            stages: Vec::new(),
            new_peaks: Vec::new(),
        }
    }

    /// The moves of one round. `stop` is asked after every few of them, the fewer the longer a simulation is.
    pub(super) fn run(
        &mut self,
        setting: &Setting<'_>,
        cooling: &Cooling,
        round: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        // The temperature of a round falls in steps: its power is dear.
        const STEP: u64 = 256;
        let few = (ASKED / setting.order.len().max(1) as u64).clamp(1, STEP);
        let last = cooling.before(round + 1);
        let mut temperature = cooling.at(self.moves);
        while self.moves < last {
            if self.moves.is_multiple_of(STEP) {
                temperature = cooling.at(self.moves);
            }
            if self.moves.is_multiple_of(few) && stop() {
                self.stopped = true;
                break;
            }
            self.step(setting, temperature)?;
            self.moves += 1;
        }
        Ok(())
    }

    fn step(&mut self, setting: &Setting<'_>, temperature: f64) -> Result<()> {
        let words: Words = self.stream.at(self.number, 0, self.moves)?;
        let more: Words = self.stream.at(self.number, 1, self.moves)?;
        let e = -ln_f64(1.0 - uniform_f64(more[0], more[1]));
        let most = self.now.makespan.saturating_add((temperature * e) as u64);
        self.changes.clear();
        if !moves::propose(setting, &self.now, words, None, &mut self.changes) {
            return Ok(());
        }
        let first = self.changes.len();
        self.apply(setting, 0);
        let mut fine = true;
        if more[2] < COMPOUND {
            let words = self.stream.at(self.number, 2, self.moves)?;
            // Often on the stage where the first one ended: memory that it takes there is given back by the second.
            let near = self.changes.last().filter(|_| more[3] < NEAR).map(|change| change.virtual_stage);
            fine = moves::propose(setting, &self.now, words, near, &mut self.changes);
            self.apply(setting, first);
        }
        setting.rule.settle(setting, &mut self.now, &mut self.changes);
        if !fine || !setting.allows(&self.now, &self.changes) || !self.judge(setting, most)? {
            self.undo(setting);
        }
        Ok(())
    }

    fn apply(&mut self, setting: &Setting<'_>, from: usize) {
        for &change in &self.changes[from..] {
            self.now.apply(setting, change);
        }
    }

    fn undo(&mut self, setting: &Setting<'_>) {
        for change in self.changes.iter().rev() {
            self.now.apply(setting, Change { more: !change.more, ..*change });
        }
    }

    /// Whether the changed state fits and takes at most `most`; then it is complete.
    fn judge(&mut self, setting: &Setting<'_>, most: u64) -> Result<bool> {
        self.deltas.clear();
        deltas(setting, &self.changes, &mut self.deltas);
        if self.filter.exceeds(&self.deltas, most) {
            return Ok(false);
        }
        let (order, caps) = (setting.order, setting.problem.caps());
        self.stages.clear();
        self.new_peaks.clear();
        for change in &self.changes {
            let stage = order.shape().placement.of(change.virtual_stage, order.dims().stages).0;
            if !self.stages.contains(&stage) {
                self.stages.push(stage);
                let peak = setting.vectors.peak(order, stage, &self.now.memory);
                let Some(peak) = peak.filter(|&peak| peak <= caps[stage]) else { return Ok(false) };
                self.new_peaks.push(peak);
            }
        }
        let mut makespan = self.sweep.run(order, &self.now.durations);
        if setting.rendezvous && makespan <= most {
            // Rendezvous is never faster.
            makespan = blocking::makespan(order, &self.now.durations)?;
            if makespan > most {
                return Ok(false);
            }
        }
        if makespan > most {
            let path = Path::of(order, &self.now.durations, &self.sweep);
            self.undo(setting);
            self.filter.learn(&path, &self.now.durations);
            self.apply(setting, 0);
            return Ok(false);
        }
        self.filter.accept(&self.deltas);
        self.now.makespan = makespan;
        self.stages.iter().zip(&self.new_peaks).for_each(|(&stage, &peak)| self.now.peaks[stage] = peak);
        if makespan < self.best.makespan {
            self.best.clone_from(&self.now);
        }
        Ok(true)
    }
}

/// The changes of durations, place by place.
pub(super) fn deltas(setting: &Setting<'_>, changes: &[Change], out: &mut Vec<(usize, i64)>) {
    let (items, order) = (setting.problem.items(), setting.order);
    let k = order.dims().virtual_stages();
    let mut add = |place: usize, by: u64, more: bool| {
        let by = if more { by as i64 } else { -(by as i64) };
        match out.iter_mut().find(|(at, _)| *at == place) {
            Some((_, sum)) => *sum += by,
            None => out.push((place, by)),
        }
    };
    for change in changes {
        let (item, at) = (&items[change.item], change.virtual_stage);
        add(at, item.forward, change.more);
        if order.shape().splits_backward {
            add(k + at, item.backward - item.weight + item.extra, change.more);
            add(2 * k + at, item.weight, change.more);
        } else {
            add(k + at, item.backward + item.extra, change.more);
        }
    }
    out.retain(|(_, by)| *by != 0);
}

/// The worst chain goes on from the best partition of all.
pub(super) fn share(chains: &mut [Chain], setting: &Setting<'_>) {
    let Some(best) = chains.iter().map(|chain| &chain.best).min_by(|a, b| a.compare(b, setting)).cloned() else {
        return;
    };
    let worst = chains.iter_mut().max_by(|a, b| a.best.compare(&b.best, setting));
    if let Some(chain) = worst.filter(|chain| best.makespan < chain.best.makespan) {
        chain.now.clone_from(&best);
        chain.filter = Filter::new(best.durations.operations.len());
    }
}
