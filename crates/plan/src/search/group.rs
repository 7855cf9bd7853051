//! Chains that one worker runs side by side: each goes on until it has to know a makespan, then one wide sweep simulates all of
//! them. What a chain does depends on nothing but itself, so how chains are grouped changes no result.

use super::anneal::{Chain, Cooling};
use super::filter::Whole;
use super::state::State;
use super::{CHAINS, Options, Setting};
use crate::Result;
use crate::simulate::{Durations, LANES, Sweep, Wide};

/// Some chains.
pub(super) struct Group<T> {
    pub(super) chains: Vec<Chain<T>>,
    durations: Durations<Wide<T>>,
    wide: Sweep<Wide<T>>,
    single: Sweep<u64>,
}

impl<T: Whole> Group<T> {
    /// All chains, for so many workers.
    pub(super) fn all(seeds: &[State], options: &Options, workers: usize) -> Vec<Group<T>> {
        let Durations { operations, links, tails } = &seeds[0].durations;
        let wide = |times: &[u64]| times.iter().map(|&t| Wide([T::of(t); LANES])).collect::<Vec<_>>();
        let durations = Durations { operations: wide(operations), links: wide(links), tails: wide(tails) };
        let mut chains = (0..CHAINS).map(|at| Chain::new(at, seeds, options));
        let size = CHAINS.div_ceil(workers.max(1)).min(LANES);
        let group = |_| Group {
            chains: chains.by_ref().take(size).collect(),
            durations: durations.clone(),
            wide: Sweep::new(),
            single: Sweep::new(),
        };
        (0..CHAINS.div_ceil(size)).map(group).collect()
    }

    /// A round: goes on until each chain has made `last` moves, or `stop` says so.
    pub(super) fn run(
        &mut self,
        setting: &Setting<'_>,
        cooling: &Cooling,
        last: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        self.chains.iter_mut().for_each(|chain| chain.begin(cooling));
        loop {
            self.chains.iter_mut().try_for_each(|chain| chain.go(setting, cooling, last, stop))?;
            match self.chains.iter().filter(|chain| chain.waits.is_some()).count() {
                0 => return Ok(()),
                1 => self.one(setting)?,
                _ => self.several(setting)?,
            }
        }
    }

    /// The one that waits.
    fn one(&mut self, setting: &Setting<'_>) -> Result<()> {
        let Some(chain) = self.chains.iter_mut().find(|chain| chain.waits.is_some()) else { return Ok(()) };
        let makespan = self.single.run(setting.order, &chain.now.durations);
        chain.decide(setting, makespan, |at| self.single.end(at))
    }

    fn several(&mut self, setting: &Setting<'_>) -> Result<()> {
        for (lane, chain) in self.chains.iter().enumerate().filter(|(_, chain)| chain.waits.is_some()) {
            let operations = self.durations.operations.iter_mut().zip(&chain.now.durations.operations);
            operations.for_each(|(wide, &time)| wide.0[lane] = T::of(time));
        }
        let makespans = self.wide.run(setting.order, &self.durations);
        let wide = &self.wide;
        let mut chains = self.chains.iter_mut().enumerate();
        chains.try_for_each(|(lane, chain)| {
            chain.decide(setting, makespans.0[lane].ticks(), |at| wide.end(at).0[lane].ticks())
        })
    }
}

/// The worst chain goes on from the best partition of all.
pub(super) fn share<T: Whole>(groups: &mut [Group<T>], setting: &Setting<'_>) {
    let chains = groups.iter().flat_map(|group| &group.chains);
    let Some(best) = chains.map(|chain| &chain.best).min_by(|a, b| a.compare(b, setting)).cloned() else {
        return;
    };
    let chains = groups.iter_mut().flat_map(|group| &mut group.chains);
    let worst = chains.max_by(|a, b| a.best.compare(&b.best, setting));
    if let Some(chain) = worst.filter(|chain| best.makespan < chain.best.makespan) {
        chain.follow(&best);
    }
}
