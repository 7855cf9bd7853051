//! Branch and bound over regions, the one with the least bound first; of equal ones the newest.

use super::master::{Active, Master, Mixed};
use super::patterns::Pattern;
use super::region::{self, Mixture, Region, Split};
use super::round::Judge;
use super::{Limits, Reason};
use crate::bound::cuts::{INSIDE, slow_stages};
use crate::bound::lp::LpBackend;
use crate::simulate::Durations;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Most rounds of paths in a region after the first one.
const ROUNDS: usize = 40;

/// Rounds whose gain is looked at.
const BACK: usize = 5;

/// Share of the way to the goal that they must gain for more rounds.
const GAIN: f64 = 0.002;

/// Part of the best makespan, as a divisor, within which a bound closes a region: the precision of the solvers. It counts
/// for makespans of a billion ticks and more.
const CLOSE: u64 = 1_000_000_000;

/// Weights below which a path is not handed on.
const UNUSED: f64 = 1e-7;

/// An open region.
struct Open {
    splits: Vec<Split>,
    active: Active,
}

/// The tree.
pub(super) struct Tree<'a, 'b> {
    pub(super) master: Master<'a>,
    pub(super) judge: Judge<'a>,
    backend: &'b mut dyn LpBackend,
    /// No makespan is this long.
    ceiling: u64,
    /// Most of a price of a layer, in ticks.
    steep: f64,
    open: BTreeMap<(u64, Reverse<u64>), Open>,
    made: u64,
    /// The least bound of regions that were closed by their bounds.
    closed: u64,
    pub(super) nodes: u64,
}

impl<'a, 'b> Tree<'a, 'b> {
    /// Everything is open, and the paths of the stages are known.
    pub(super) fn new(
        mut master: Master<'a>,
        judge: Judge<'a>,
        backend: &'b mut dyn LpBackend,
        ceiling: u64,
        steep: f64,
    ) -> Tree<'a, 'b> {
        let all = |stage: &Vec<Pattern>| even(&(0..stage.len() as u32).collect::<Vec<_>>());
        let durations = master.durations(&master.patterns.stages.iter().map(all).collect());
        let paths = slow_stages(master.order, &durations, &|| false).iter().map(|path| master.learn(path)).collect();
        let root = Open { splits: Vec::new(), active: Active { paths, patterns: Vec::new() } };
        let open = BTreeMap::from([((0, Reverse(0)), root)]);
        Tree { master, judge, backend, ceiling, steep, open, made: 1, closed: u64::MAX, nodes: 0 }
    }

    /// The best makespan, or what none reaches.
    fn best(&self) -> u64 {
        self.judge.best.as_ref().map_or(self.ceiling, |&(best, _)| best)
    }

    /// The bound from which on a region is closed.
    fn goal(&self) -> u64 {
        self.judge.best.as_ref().map_or(self.ceiling, |&(best, _)| best - best / CLOSE)
    }

    /// No plan takes less, in ticks.
    pub(super) fn bound(&self) -> u64 {
        let open = self.open.first_key_value().map_or(u64::MAX, |(&(bound, _), _)| bound);
        open.min(self.closed).min(self.best())
    }

    /// Goes on until the gap is reached or `limits` say to end; why it ended.
    pub(super) fn grow(&mut self, limits: &Limits<'_>, gap: f64) -> Reason {
        loop {
            let (best, bound) = (self.best(), self.bound());
            if self.judge.best.is_some() && bound < best && (best - bound) as f64 <= gap * best as f64 {
                return Reason::Gap;
            }
            let Some((&(bound, _), _)) = self.open.first_key_value() else { return Reason::Proven };
            if bound >= self.goal() {
                // So are all others.
                self.closed = self.closed.min(bound);
                self.open.clear();
                return Reason::Proven;
            }
            if self.nodes >= limits.nodes || self.master.work >= limits.work {
                return Reason::Limit;
            }
            if (limits.stop)() {
                return Reason::Stopped;
            }
            if let Some(((bound, _), open)) = self.open.pop_first() {
                self.nodes += 1;
                self.visit(bound, open, limits);
            }
        }
    }

    /// Bounds a region, and closes or splits it.
    fn visit(&mut self, parent: u64, mut open: Open, limits: &Limits<'_>) {
        let Master { patterns, places, .. } = &self.master;
        let allowed = Region::new(patterns, places, &open.splits).allowed(patterns, places);
        if allowed.iter().any(Vec::is_empty) {
            return;
        }
        open.active.patterns.retain(|&(stage, pattern)| allowed[stage].binary_search(&pattern).is_ok());
        for (stage, allowed) in allowed.iter().enumerate() {
            if !open.active.patterns.iter().any(|&(other, _)| other == stage) {
                open.active.patterns.push((stage, allowed[allowed.len() / 2]));
            }
        }
        let (bound, mixture) = self.relax(parent, &allowed, &mut open.active, limits);
        if bound >= self.goal() {
            self.closed = self.closed.min(bound);
            return;
        }
        let Master { patterns, places, .. } = &self.master;
        let of = |mixture: &Mixture| region::branch(patterns, places, mixture);
        // Without a mixture, or where it mixes nothing, as if all allowed patterns were mixed.
        let all = || of(&allowed.iter().map(|own| even(own)).collect());
        match mixture.as_ref().and_then(of).or_else(all) {
            Some(splits) => splits.into_iter().for_each(|split| self.push(bound, &open, split)),
            // One plan is left, and it is judged.
            None => {
                let only: Vec<u32> = allowed.iter().map(|all| all[0]).collect();
                self.judge.whole(&self.master, &only);
            }
        }
    }

    fn push(&mut self, bound: u64, parent: &Open, split: Split) {
        let mut splits = parent.splits.clone();
        splits.push(split);
        self.open.insert((bound, Reverse(self.made)), Open { splits, active: parent.active.clone() });
        self.made += 1;
    }

    /// The bound of a region and its best mixture, with paths as they are needed; what mattered stays in `active`.
    fn relax(
        &mut self,
        parent: u64,
        allowed: &[Vec<u32>],
        active: &mut Active,
        limits: &Limits<'_>,
    ) -> (u64, Option<Mixture>) {
        let (mut bound, mut mixture, mut inside) = (parent, None, Inside::default());
        let mut course = Vec::new();
        loop {
            let goal = self.goal();
            let Some(priced) = self.master.price(allowed, active, goal, self.steep, self.backend) else { break };
            bound = bound.max(priced.bound);
            if bound >= goal {
                break;
            }
            let Some(mixed) = self.master.mix(active, self.backend) else { break };
            self.judge.near(&self.master, &mixed.mixture, &self.master.prices(&priced.weights));
            course.push(mixed.makespan);
            let path = self.separate(&mixed, &mut inside);
            let stays = path.filter(|path| !active.paths.contains(path));
            if let Some(path) = stays.filter(|_| self.goes_on(&course, limits)) {
                active.paths.push(path);
                mixture = Some(mixed.mixture);
                continue;
            }
            active.paths = priced.weights.iter().filter(|&&(_, w)| w > UNUSED).map(|&(path, _)| path).collect();
            active.paths.extend(stays);
            active.patterns = mixed.present();
            mixture = Some(mixed.mixture);
            break;
        }
        (bound, mixture)
    }

    /// Whether another round is worth its time, by the makespans of the relaxation so far.
    fn goes_on(&self, course: &[f64], limits: &Limits<'_>) -> bool {
        if self.master.work >= limits.work || (limits.stop)() {
            return false;
        }
        let Some(&before) = course.iter().nth_back(BACK).filter(|_| self.nodes > 1) else { return true };
        let now = course.last().copied().unwrap_or(before);
        course.len() < ROUNDS && now - before >= GAIN * (self.goal() as f64 - now)
    }

    /// A path that is longer than T with a mixture: the critical one between it and the best durations so far, or its own.
    fn separate(&mut self, mixed: &Mixed, inside: &mut Inside) -> Option<usize> {
        let durations = self.master.durations(&mixed.mixture);
        let (makespan, own) = self.master.simulate(&durations);
        let least = mixed.makespan + self.master.deep();
        if self.master.length(own, &durations) <= least {
            return None;
        }
        inside.see(makespan, &durations);
        let between = inside.between(&durations);
        let (makespan, path) = self.master.simulate(&between);
        inside.see(makespan, &between);
        Some(if self.master.length(path, &durations) > least { path } else { own })
    }
}

/// The durations with the smallest makespan so far.
#[derive(Default)]
struct Inside(Option<(f64, Durations<f64>)>);

impl Inside {
    fn see(&mut self, makespan: f64, durations: &Durations<f64>) {
        if self.0.as_ref().is_none_or(|(best, _)| makespan < *best) {
            self.0 = Some((makespan, durations.clone()));
        }
    }

    /// Durations between given ones and the best.
    fn between(&self, durations: &Durations<f64>) -> Durations<f64> {
        let mut between = durations.clone();
        if let Some((_, best)) = &self.0 {
            let both = between.operations.iter_mut().zip(&best.operations);
            both.for_each(|(own, best)| *own += INSIDE * (best - *own));
        }
        between
    }
}

/// All patterns alike.
fn even(allowed: &[u32]) -> Vec<(u32, f64)> {
    allowed.iter().map(|&pattern| (pattern, 1.0 / allowed.len() as f64)).collect()
}
