//! Search for a good partition under one order: simulated annealing with the exact makespan as its objective and the exact
//! peaks as hard constraints, then steepest descent.
//!
//! A number of chains ([`CHAINS`]) run for a budget of moves, each with random numbers of its own; they meet after every 64th
//! of the budget. Nothing depends on the number of threads or on the clock. Start with [`solve`].

mod anneal;
mod descent;
mod filter;
mod moves;
mod seeds;
mod state;

use crate::layout::Layout;
use crate::problem::Problem;
use crate::simulate::{Order, Vectors};
use crate::{Error, Result};
use sapwood_skeleton::{ChunkPlan, Exec, rows};
use state::State;

/// Chains that search side by side.
pub const CHAINS: usize = 8;

/// How often the chains meet.
const ROUNDS: u64 = 64;

/// How long and with which random numbers.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Proposed moves of all chains together.
    pub moves: u64,
    /// Seed of the random numbers.
    pub seed: u64,
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
    /// Whether the whole budget was spent.
    pub complete: bool,
}

/// What all chains share.
pub(crate) struct Setting<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) order: &'a Order,
    pub(crate) vectors: &'a Vectors,
    /// Pinned segments in the midst of the body; see [`Problem::pins`].
    pub(crate) pins: Vec<(usize, u32)>,
    /// For each item the other items of its segment.
    pub(crate) siblings: Vec<Vec<u32>>,
}

impl<'a> Setting<'a> {
    fn new(problem: &'a Problem, order: &'a Order, vectors: &'a Vectors) -> Setting<'a> {
        let items = problem.items();
        let others = |at: usize| {
            let same = |&other: &usize| other != at && items[other].segment == items[at].segment;
            (0..items.len()).filter(same).map(|other| other as u32).collect()
        };
        let pins = problem.pins(order.dims().virtual_stages());
        Setting { problem, order, vectors, pins, siblings: (0..items.len()).map(others).collect() }
    }
}

/// Searches for the partition with the smallest makespan that fits the caps. `stop` is asked between rounds.
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
    let setting = Setting::new(problem, order, vectors);
    let seeds = seeds::feasible(&setting)?;
    let mut chains: Vec<anneal::Chain> = (0..CHAINS).map(|at| anneal::Chain::new(at, &seeds, options)).collect();
    let mut complete = true;
    let schedule = anneal::Cooling::new(&seeds[0], options.moves / CHAINS as u64);
    for round in 0..ROUNDS {
        if stop() {
            complete = false;
            break;
        }
        exec.for_chunks_mut(&ChunkPlan::of(CHAINS, 1).dynamic(), rows(&mut chains, 1), |_, _, chain| {
            chain
                .iter_mut()
                .try_for_each(|chain| chain.run(&setting, &schedule, round))
                .map_err(sapwood_skeleton::Error::other)
        })?;
        anneal::share(&mut chains, &setting);
    }
    let moves = chains.iter().map(|chain| chain.moves).sum();
    let mut ends: Vec<State> = chains.into_iter().map(|chain| chain.best).collect();
    exec.for_chunks_mut(&ChunkPlan::of(CHAINS, 1).dynamic(), rows(&mut ends, 1), |_, _, ends| {
        ends.iter_mut().for_each(|state| descent::descend(state, &setting));
        Ok(())
    })?;
    let best =
        ends.into_iter().min_by(|a, b| a.compare(b, &setting)).ok_or(Error::Problem { what: "no chain".into() })?;
    Ok(Found {
        layout: Layout::of_counts(problem, &best.counts),
        makespan: best.makespan,
        peaks: best.peaks,
        moves,
        complete,
    })
}

#[cfg(test)]
mod tests;
