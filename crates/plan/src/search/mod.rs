//! Search for a good partition under one order: simulated annealing with the exact makespan as its objective and the exact
//! peaks as hard constraints, then descent.
//!
//! A number of chains ([`CHAINS`]) run for a budget of moves, each with random numbers of its own; after every 64th of the
//! second half of the budget the worst chain goes on from the best partition. Nothing depends on the number of threads or on
//! the clock. Start with [`solve`].

mod anneal;
mod descent;
mod express;
mod filter;
mod group;
mod moves;
mod repair;
mod seeds;
mod state;

use crate::layout::Layout;
use crate::model::Role;
use crate::problem::Problem;
use crate::simulate::{Order, Sweep, Vectors, blocking};
use crate::{Error, Result};
use anneal::{Chain, Cooling};
use filter::Whole;
use group::Group;
use sapwood_skeleton::{ChunkPlan, Exec, rows};
use state::{Change, State};
use std::ops::Range;

pub use express::Rule;

/// Chains that search side by side.
pub const CHAINS: usize = 8;

/// How often the chains meet.
const ROUNDS: u64 = 64;

/// Moves for each simulation that the descent may make.
const DESCENT: u64 = 8;

/// How long, with which random numbers, and for what.
#[derive(Debug, Clone)]
pub struct Options {
    /// Proposed moves of all chains together.
    pub moves: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// A makespan at which the search may end, in ticks of time.
    pub target: u64,
    /// Partitions to begin with besides uniform ones, as counts by virtual stage and item.
    pub starts: Vec<Vec<u32>>,
    /// Which partitions are allowed.
    pub rule: Rule,
    /// Whether transfers are rendezvous.
    pub rendezvous: bool,
}

impl Default for Options {
    fn default() -> Options {
        let rule = Rule::Any;
        Options { moves: 10_000_000, seed: 0, target: 0, starts: Vec::new(), rule, rendezvous: false }
    }
}

/// The best partition found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The partition.
    pub layout: Layout,
    /// Its makespan, in ticks of time.
    pub makespan: u64,
    /// Its peaks, in ticks of memory.
    pub peaks: Vec<u64>,
    /// Moves that were proposed.
    pub moves: u64,
    /// Whether the search ended by its budget or its target, and not because it was stopped.
    pub complete: bool,
}

/// What all chains share.
pub(crate) struct Setting<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) order: &'a Order,
    pub(crate) vectors: &'a Vectors,
    /// Pinned segments in the midst of the body; see [`Problem::pins`].
    pub(crate) pins: Vec<(usize, u32)>,
    /// Items of layers that predict further tokens, where Megatron-LM has to state the plan.
    pub(crate) mtp: Vec<usize>,
    /// Items of each segment.
    segments: Vec<Range<usize>>,
    /// Items of each segment of the body.
    pub(crate) body: Vec<Range<usize>>,
    /// For each item the other items of its segment.
    pub(crate) siblings: Vec<Vec<u32>>,
    pub(crate) rule: express::Ready,
    pub(crate) rendezvous: bool,
}

impl<'a> Setting<'a> {
    fn new(problem: &'a Problem, order: &'a Order, vectors: &'a Vectors, options: &Options) -> Result<Setting<'a>> {
        let items = problem.items();
        let others = |at: usize| {
            let same = |&other: &usize| other != at && items[other].segment == items[at].segment;
            (0..items.len()).filter(same).map(|other| other as u32).collect()
        };
        let at = |segment: usize| items.partition_point(|item| item.segment < segment);
        let segments: Vec<Range<usize>> = (0..problem.model().segments.len()).map(|s| at(s)..at(s + 1)).collect();
        let moves = |range: &&Range<usize>| items.get(range.start).is_some_and(|item| problem.is_body(item.segment));
        let body = segments.iter().filter(|range| !range.is_empty()).filter(moves).cloned().collect();
        let pins = problem.pins(order.dims().virtual_stages());
        let siblings = (0..items.len()).map(others).collect();
        let (rule, rendezvous) = (options.rule.ready(problem)?, options.rendezvous);
        let predicts = |at: &usize| problem.model().segments[items[*at].segment].role == Role::Mtp;
        let mtp = (0..items.len()).filter(|at| rule.follows() && predicts(at)).collect();
        Ok(Setting { problem, order, vectors, segments, body, pins, mtp, siblings, rule, rendezvous })
    }

    /// Whether no sum of durations exceeds 32 bits, whatever the partition; `seed` is any.
    fn narrow(&self, seed: &State) -> bool {
        let items = self.problem.items();
        let longest = |range: &Range<usize>| {
            let times = items[range.clone()].iter().map(|item| item.forward + item.backward + item.extra);
            u128::from(times.max().unwrap_or(0))
        };
        let layers = |range: &Range<usize>| u128::from(self.problem.model().segments[items[range.start].segment].count);
        let all: u128 = self.segments.iter().map(|range| longest(range) * layers(range)).sum();
        let sum = |times: &[u64]| times.iter().map(|&t| u128::from(t)).sum::<u128>();
        let micro_batches = self.order.dims().micro_batches as u128;
        (all + sum(&seed.durations.links)) * micro_batches + sum(&seed.durations.tails) <= u128::from(u32::MAX)
    }

    /// Whether what changed is allowed: what the framework can state, and pinned segments where they are in the model.
    fn allows(&self, state: &State, changes: &[Change]) -> bool {
        let items = self.problem.items().len();
        let row = |at: usize| &state.counts[at * items..(at + 1) * items];
        state.keeps_pins(self) && changes.iter().all(|change| self.rule.allows(self, row(change.virtual_stage)))
    }

    /// The makespan of a state; the largest number for one that deadlocks.
    fn makespan(&self, state: &State, sweep: &mut Sweep<u64>) -> u64 {
        if self.rendezvous {
            blocking::makespan(self.order, &state.durations).unwrap_or(u64::MAX)
        } else {
            sweep.run(self.order, &state.durations)
        }
    }
}

/// Counts of an equal cut whose layers keep all, or as much as is allowed; what it takes in memory is not asked.
///
/// # Errors
/// [`Problem::accepts`].
pub fn even(problem: &Problem, order: &Order, vectors: &Vectors) -> Result<Vec<u32>> {
    problem.accepts(order.dims())?;
    Ok(seeds::even(&Setting::new(problem, order, vectors, &Options::default())?))
}

/// Counts of the equal cuts that chains may begin with, each with one kind of recomputation for all; whether they fit is not
/// asked.
///
/// # Errors
/// As [`solve`].
pub fn equal(problem: &Problem, order: &Order, vectors: &Vectors, options: &Options) -> Result<Vec<Vec<u32>>> {
    problem.accepts(order.dims())?;
    Ok(seeds::equal(&Setting::new(problem, order, vectors, options)?))
}

/// The best of `options.starts` that fits and may be stated, as it is: there is no search. Once there is one, `stop` is asked
/// before each simulation.
///
/// # Errors
/// As [`solve`], but that nothing fits is no error.
pub fn judge(
    problem: &Problem,
    order: &Order,
    vectors: &Vectors,
    options: &Options,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Found>> {
    problem.accepts(order.dims())?;
    let setting = Setting::new(problem, order, vectors, options)?;
    let states = seeds::states(&setting, options.starts.clone(), stop)?;
    let runs = states.iter().filter(|state| state.fits(&setting) && state.makespan < u64::MAX);
    Ok(runs.min_by(|a, b| a.compare(b, &setting)).map(|best| Found::of(problem, best, 0, true)))
}

/// Searches for the partition with the smallest makespan that fits the caps. `stop` is asked after every few simulations; one
/// that fits is found in any case.
///
/// # Errors
/// [`Error::Problem`] if there are fewer layers than virtual stages; [`Error::Infeasible`] if no partition that the seeds know
/// fits.
pub fn solve(
    exec: Exec<'_>,
    problem: &Problem,
    order: &Order,
    vectors: &Vectors,
    options: &Options,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Found> {
    problem.accepts(order.dims())?;
    let setting = Setting::new(problem, order, vectors, options)?;
    let seeds = seeds::feasible(&setting, options, stop)?;
    if options.moves == 0 {
        // What fits is all that is asked.
        let seed = seeds.into_iter().next().ok_or(Error::Problem { what: "no partition to begin with".into() })?;
        return Ok(Found::of(problem, &seed, 0, true));
    }
    let run = if setting.narrow(&seeds[0]) { anneal::<u32> } else { anneal::<u64> };
    let (mut best, moves, complete) = run(exec, &setting, options, &seeds, stop)?;
    descent::descend(&mut best, &setting, (options.moves / DESCENT).max(1), stop);
    Ok(Found::of(problem, &best, moves, complete))
}

/// The best state that the chains find, their moves, and whether they made all of them.
fn anneal<T: Whole>(
    exec: Exec<'_>,
    setting: &Setting<'_>,
    options: &Options,
    seeds: &[State],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(State, u64, bool)> {
    let mut groups = Group::<T>::all(seeds, options, exec.threads());
    let cooling = Cooling::new(&seeds[0], options.moves / CHAINS as u64);
    let mut complete = true;
    for round in 0..ROUNDS {
        let mut chains = groups.iter().flat_map(|group| &group.chains);
        if chains.clone().any(|chain| chain.stopped) || stop() {
            complete = false;
            break;
        }
        if chains.any(|chain| chain.best.makespan <= options.target) {
            break;
        }
        let last = cooling.before(round + 1);
        exec.for_chunks_mut(&ChunkPlan::of(groups.len(), 1).dynamic(), rows(&mut groups, 1), |_, _, groups| {
            let run = |group: &mut Group<T>| group.run(setting, &cooling, last, stop);
            groups.iter_mut().try_for_each(run).map_err(sapwood_skeleton::Error::other)
        })?;
        // Early on, chains that all follow one partition end in one and the same valley.
        if round >= ROUNDS / 2 {
            group::share(&mut groups, setting);
        }
    }
    let chains: Vec<Chain<T>> = groups.into_iter().flat_map(|group| group.chains).collect();
    complete &= !chains.iter().any(|chain| chain.stopped);
    let moves = chains.iter().map(|chain| chain.moves).sum();
    let best = chains.into_iter().map(|chain| chain.best).min_by(|a, b| a.compare(b, setting));
    Ok((best.ok_or(Error::Problem { what: "no chain".into() })?, moves, complete))
}

impl Found {
    fn of(problem: &Problem, state: &State, moves: u64, complete: bool) -> Found {
        let layout = Layout::of_counts(problem, &state.counts);
        Found { layout, makespan: state.makespan, peaks: state.peaks.clone(), moves, complete }
    }
}

#[cfg(test)]
mod tests;
