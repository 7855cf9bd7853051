//! Branch and bound over regions, the one with the least bound first.

use super::master::{Active, Master, Mixed};
use super::patterns::Pattern;
use super::region::{self, Region, Split};
use super::round::Judge;
use super::{Limits, Reason};
use crate::bound::cuts::slow_stages;
use crate::bound::lp::LpBackend;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Rounds of paths in a region after the first.
const BACK: usize = 5;
const FRAC: f64 = 0.01;
const ROUNDS: usize = 40;

/// Share of the best mixture in what is simulated; see [`crate::bound::cuts`].
const INSIDE: f64 = 0.75;

/// Relative distance from the best makespan at which a region is as good as closed, for makespans of a billion ticks: the
/// precision of the solvers.
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
    pub(super) backend: &'b mut dyn LpBackend,
    /// No makespan that is looked for is this long.
    pub(super) ceiling: u64,
    /// Most of a price of a layer, in ticks.
    pub(super) steep: f64,
    open: BTreeMap<(u64, Reverse<u64>), Open>,
    made: u64,
    /// The least bound of regions that were closed by [`CLOSE`].
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
        let all = |stage: &Vec<Pattern>| (0..stage.len() as u32).map(|at| (at, 1.0 / stage.len() as f64)).collect();
        let even = master.durations(&master.patterns.stages.iter().map(all).collect());
        slow_stages(master.order, &even).iter().for_each(|path| {
            master.learn(path);
        });
        let active = Active { paths: (0..master.paths.len()).collect(), patterns: Vec::new() };
        let root = Open { splits: Vec::new(), active };
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
            if self.open.is_empty() {
                return Reason::Proven;
            }
            if self.judge.best.is_some() && (best - bound) as f64 <= gap * best as f64 {
                return if bound == best { Reason::Proven } else { Reason::Gap };
            }
            if self.nodes >= limits.nodes {
                return Reason::Nodes;
            }
            if (limits.stop)() {
                return Reason::Stopped;
            }
            let Some(((bound, _), open)) = self.open.pop_first() else { return Reason::Proven };
            if bound >= self.goal() {
                self.closed = self.closed.min(bound);
                continue;
            }
            self.nodes += 1;
            self.visit(bound, open, limits);
        }
    }

    /// Bounds a region, and closes or splits it.
    fn visit(&mut self, parent: u64, mut open: Open, limits: &Limits<'_>) {
        let master = &self.master;
        let region = Region::new(master.virtual_stages(), master.patterns.width, &open.splits);
        let allowed = region.allowed(&master.patterns, &master.places);
        if allowed.iter().any(Vec::is_empty) {
            return;
        }
        open.active.patterns.retain(|&(stage, pattern)| allowed[stage].binary_search(&pattern).is_ok());
        for (stage, allowed) in allowed.iter().enumerate() {
            if !open.active.patterns.iter().any(|&(other, _)| other == stage) {
                open.active.patterns.push((stage, allowed[allowed.len() / 2]));
            }
        }
        let (bound, mixed) = self.relax(parent, &allowed, &mut open.active, limits);
        if bound >= self.goal() {
            self.closed = self.closed.min(bound);
            return;
        }
        if let Some(mixed) = &mixed {
            open.active.patterns = mixed.mixture.iter().enumerate().flat_map(|(stage, own)| own.iter().map(move |&(pattern, _)| (stage, pattern))).collect();
        }
        // Without a mixture, as if all allowed patterns were mixed.
        let even = || allowed.iter().map(|all| all.iter().map(|&at| (at, 1.0 / all.len() as f64)).collect()).collect();
        let mixture = mixed.map_or_else(even, |mixed| mixed.mixture);
        let master = &self.master;
        let splits = region::branch(&master.patterns, &master.places, &mixture)
            .or_else(|| region::branch(&master.patterns, &master.places, &even()));
        match splits {
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

    /// The bound of a region and its best mixture, with paths as they are needed.
    fn relax(
        &mut self,
        parent: u64,
        allowed: &[Vec<u32>],
        active: &mut Active,
        limits: &Limits<'_>,
    ) -> (u64, Option<Mixed>) {
        let (mut bound, mut mixed) = (parent, None);
        let mut inside: Option<(f64, Vec<f64>)> = None;
        let rounds = if self.nodes == 1 { limits.paths } else { ROUNDS };
        let mut course: Vec<f64> = Vec::new();
        for round in 0.. {
            let priced = self.master.price(allowed, active, self.goal(), self.steep, self.backend);
            let Some(priced) = priced else { break };
            bound = bound.max(priced.bound);
            if bound >= self.goal() {
                break;
            }
            let Some(next) = self.master.mix(active, self.backend) else { break };
            let prices = self.prices(&priced.weights);
            self.judge.near(&self.master, &next.mixture, &prices);
            let path = self.separate(&next, &mut inside);
            let next_makespan = next.makespan;
            course.push(next.makespan);
            let before = course[course.len().saturating_sub(1 + BACK)];
            mixed = Some(next);
            let slow = self.nodes > 1 && course.len() > BACK && next_makespan - before < FRAC * (self.goal() as f64 - next_makespan);
            let last = round >= rounds || slow || self.master.paths.len() >= limits.paths || (limits.stop)();
            match path {
                Some(path) if !last && !active.paths.contains(&path) => active.paths.push(path),
                _ => {
                    active.paths = priced.weights.iter().filter(|(_, weight)| *weight > UNUSED).map(|&(path, _)| path).collect();
                    active.paths.extend(path);
                    active.paths.sort_unstable();
                    active.paths.dedup();
                    break;
                }
            }
        }
        (bound, mixed)
    }

    /// Prices of ticks, by place of the durations.
    fn prices(&self, weights: &[(usize, f64)]) -> Vec<f64> {
        let mut prices = vec![0.0; self.master.operations()];
        for &(path, weight) in weights {
            let counts = &self.master.paths[path].operations;
            prices.iter_mut().zip(counts).for_each(|(price, &count)| *price += weight * f64::from(count));
        }
        prices
    }

    /// A path that is longer than T with a mixture.
    fn separate(&mut self, mixed: &Mixed, inside: &mut Option<(f64, Vec<f64>)>) -> Option<usize> {
        let durations = self.master.durations(&mixed.mixture);
        let (makespan, own) = self.master.simulate(&durations);
        let deep = |master: &Master<'_>, path| master.length(path, &durations) > mixed.makespan + master.deep();
        if !deep(&self.master, own) {
            return None;
        }
        if inside.as_ref().is_none_or(|(best, _)| makespan < *best) {
            *inside = Some((makespan, durations.operations.clone()));
        }
        let Some((_, best)) = inside.clone() else { return Some(own) };
        let mut between = durations.clone();
        between.operations.iter_mut().zip(&best).for_each(|(own, best)| *own += INSIDE * (best - *own));
        let (makespan, path) = self.master.simulate(&between);
        if inside.as_ref().is_some_and(|(best, _)| makespan < *best) {
            *inside = Some((makespan, between.operations));
        }
        Some(if deep(&self.master, path) { path } else { own })
    }
}
