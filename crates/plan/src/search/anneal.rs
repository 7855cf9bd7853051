//! A chain of simulated annealing.
//!
//! Each move has random words of its own, found by chain and number of the move. What is accepted is decided before anything is
//! evaluated: a makespan of at most that of now + temperature · e with e from the exponential distribution. So a known path
//! that is longer already may reject a move without changing what the chain does.

use super::filter::{Filter, Whole};
use super::moves::{self, Words};
use super::state::{Change, State};
use super::{Options, Setting};
use crate::Result;
use crate::simulate::blocking;
use crate::simulate::path::Path;
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
    pub(super) fn before(&self, round: u64) -> u64 {
        (u128::from(self.moves) * u128::from(round) / u128::from(super::ROUNDS)) as u64
    }

    fn at(&self, moved: u64) -> f64 {
        self.first * COLD.powf(moved as f64 / self.moves.max(1) as f64)
    }
}

/// Operations that are simulated before a chain asks whether to stop: about a millisecond.
const ASKED: u64 = 1 << 20;

/// One chain.
pub(super) struct Chain<T> {
    number: u32,
    stream: Stream,
    pub(super) now: State,
    pub(super) best: State,
    pub(super) moves: u64,
    /// Whether it was stopped.
    pub(super) stopped: bool,
    /// The most that the makespan of `now` may be, where that is to be told to [`Chain::decide`].
    pub(super) waits: Option<u64>,
    temperature: f64,
    filter: Filter<T>,
    changes: Vec<Change>,
    deltas: Vec<(usize, i64)>,
    stages: Vec<usize>,
    new_peaks: Vec<u64>,
}

impl<T: Whole> Chain<T> {
    pub(super) fn new(number: usize, seeds: &[State], options: &Options) -> Chain<T> {
        let start = seeds[number % seeds.len()].clone();
        Chain {
            number: number as u32,
            stream: Stream::new(options.seed, Purpose::Plan),
            filter: Filter::new(start.durations.operations.len()),
            best: start.clone(),
            now: start,
            moves: 0,
            stopped: false,
            waits: None,
            temperature: 0.0,
            changes: Vec::new(),
            deltas: Vec::new(),
            stages: Vec::new(),
            new_peaks: Vec::new(),
        }
    }

    /// Begins a round.
    pub(super) fn begin(&mut self, cooling: &Cooling) {
        self.temperature = cooling.at(self.moves);
    }

    /// Goes on until a makespan has to be known, `last` moves are made, or `stop` says so, which is asked after every few
    /// moves, the fewer the longer a simulation is.
    pub(super) fn go(
        &mut self,
        setting: &Setting<'_>,
        cooling: &Cooling,
        last: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        // The temperature of a round falls in steps: its power is dear.
        const STEP: u64 = 256;
        let few = (ASKED / setting.order.len().max(1) as u64).clamp(1, STEP);
        while self.moves < last && !self.stopped {
            if self.moves.is_multiple_of(STEP) {
                self.temperature = cooling.at(self.moves);
            }
            if self.moves.is_multiple_of(few) && stop() {
                self.stopped = true;
                break;
            }
            self.waits = self.step(setting)?;
            if self.waits.is_some() {
                break;
            }
            self.moves += 1;
        }
        Ok(())
    }

    /// One move: nothing if it is rejected, else it is made, and the most that its makespan may be.
    fn step(&mut self, setting: &Setting<'_>) -> Result<Option<u64>> {
        let words: Words = self.stream.at(self.number, 0, self.moves)?;
        let more: Words = self.stream.at(self.number, 1, self.moves)?;
        self.changes.clear();
        if !moves::propose(setting, &self.now, words, None, &mut self.changes) {
            return Ok(None);
        }
        let first = self.changes.len();
        self.make(setting, State::count);
        let mut fine = true;
        if more[2] < COMPOUND {
            let words = self.stream.at(self.number, 2, self.moves)?;
            // Often on the stage where the first one ended: memory that it takes there is given back by the second.
            let near = self.changes.last().filter(|_| more[3] < NEAR).map(|change| change.virtual_stage);
            fine = moves::propose(setting, &self.now, words, near, &mut self.changes);
            self.changes[first..].iter().for_each(|&change| self.now.count(setting, change));
        }
        setting.rule.settle(setting, &mut self.now, &mut self.changes);
        if !fine || !setting.allows(&self.now, &self.changes) {
            self.unmake(setting, State::count);
            return Ok(None);
        }
        self.deltas.clear();
        deltas(setting, &self.changes, &mut self.deltas);
        let e = -ln_f64(1.0 - uniform_f64(more[0], more[1]));
        let most = self.now.makespan.saturating_add((self.temperature * e) as u64);
        if self.filter.longest(&self.deltas) > most {
            self.unmake(setting, State::count);
            return Ok(None);
        }
        self.make(setting, State::keep);
        if !self.fits(setting) {
            self.unmake(setting, State::count);
            self.unmake(setting, State::keep);
            return Ok(None);
        }
        self.make(setting, State::last);
        Ok(Some(most))
    }

    /// Applies the changes to a part of the state.
    fn make(&mut self, setting: &Setting<'_>, part: fn(&mut State, &Setting<'_>, Change)) {
        self.changes.iter().for_each(|&change| part(&mut self.now, setting, change));
    }

    /// Takes them back.
    fn unmake(&mut self, setting: &Setting<'_>, part: fn(&mut State, &Setting<'_>, Change)) {
        self.changes.iter().rev().for_each(|change| part(&mut self.now, setting, change.back()));
    }

    /// Whether the stages that changed are within their caps.
    fn fits(&mut self, setting: &Setting<'_>) -> bool {
        let (order, caps) = (setting.order, setting.problem.caps());
        self.stages.clear();
        self.new_peaks.clear();
        self.changes.iter().all(|change| {
            let stage = order.shape().placement.of(change.virtual_stage, order.dims().stages).0;
            if self.stages.contains(&stage) {
                return true;
            }
            let peak = setting.vectors.peak(order, stage, &self.now.memory).filter(|&peak| peak <= caps[stage]);
            self.stages.push(stage);
            self.new_peaks.extend(peak);
            peak.is_some()
        })
    }

    /// Goes on from another state.
    pub(super) fn follow(&mut self, state: &State) {
        self.now.clone_from(state);
        self.filter = Filter::new(state.durations.operations.len());
    }

    /// Keeps the move that waits, or takes it back: `makespan` and `end` are what a sweep of its durations comes to.
    pub(super) fn decide(&mut self, setting: &Setting<'_>, makespan: u64, end: impl Fn(usize) -> u64) -> Result<()> {
        let Some(most) = self.waits.take() else { return Ok(()) };
        self.moves += 1;
        let mut real = makespan;
        if setting.rendezvous && makespan <= most {
            // Rendezvous is never faster.
            real = blocking::makespan(setting.order, &self.now.durations)?;
        }
        if real > most {
            if makespan > most {
                let path = Path::of(setting.order, &self.now.durations, end);
                self.filter.learn(&path, &self.now.durations, &self.deltas);
            }
            self.unmake(setting, State::count);
            self.unmake(setting, State::cost);
            return Ok(());
        }
        self.filter.accept(&self.deltas);
        self.now.makespan = real;
        self.stages.iter().zip(&self.new_peaks).for_each(|(&stage, &peak)| self.now.peaks[stage] = peak);
        if real < self.best.makespan {
            self.best.clone_from(&self.now);
        }
        Ok(())
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
