//! The best partition of all, and a proof of it: a mixed-integer program over what stages can hold.
//!
//! Choose a pattern for each stage (`patterns`: whole layers, exact peaks, transients and all), so that every layer of the
//! body is placed, segments are in order, and the longest path is as short as it can be. Branch and bound (`tree`) splits the
//! space into regions (`region`); the relaxation of each mixes patterns (`master`) under critical-path cuts that are added as
//! they are needed; every bound is certified in whole numbers (`prices`); every plan is judged by the exact simulator
//! (`round`). Start with [`solve_mip`].
//!
//! Where a stage has too many patterns, HiGHS goes on with a program of whole counts (`compact`, feature `highs`).
//!
//! What the solver of linear programs answers is never trusted: it proposes multipliers and mixtures, and what they prove or
//! come to is worked out anew.

#[cfg(feature = "highs")]
mod compact;
mod master;
mod patterns;
mod prices;
mod region;
mod round;
mod tree;

use super::lp::{LpBackend, Microlp};
use crate::layout::Layout;
use crate::problem::Problem;
use crate::simulate::{Order, Vectors};
use crate::{Error, Result};
use master::Master;
use round::Judge;
use std::time::Instant;
use tree::Tree;

/// The version of HiGHS, where it is built in (feature `highs`): it goes on where there are too many patterns.
pub const HIGHS: Option<&str> = if cfg!(feature = "highs") { Some("1.16.0") } else { None };

/// How far a search for the best partition goes. All limits but `stop` are counts, so the same limits give the same answer.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Regions that are bounded.
    pub nodes: u64,
    /// Entries of linear programs that are solved: a million or two take a second.
    pub work: u64,
    /// Combinations of choices that are looked at for patterns.
    pub combinations: u64,
    /// Patterns that are kept.
    pub patterns: usize,
    /// Nodes of the compact integer program, which HiGHS solves where there are too many patterns; 0 for none.
    pub compact: u64,
    /// When it is to end, for what cannot be asked.
    pub until: Option<Instant>,
    /// Asked between linear programs; once it says yes, what was found so far is the answer.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits {
            nodes: u64::MAX,
            work: 100_000_000,
            combinations: 1 << 23,
            patterns: 1 << 17,
            compact: 10_000,
            until: None,
            stop: &|| false,
        }
    }
}

/// What is looked for.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Relative distance of the best plan from the bound at which the search ends: (makespan − bound) / makespan.
    pub gap: f64,
    /// A partition to begin with, as counts by virtual stage and item; what it takes is worked out anew.
    pub start: Option<&'a [u32]>,
    /// How far to go.
    pub limits: Limits<'a>,
}

/// What is known about the best partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The plan is the best one.
    Optimal,
    /// There is a plan, and a bound below it.
    Feasible,
    /// There is no partition that fits.
    Infeasible,
    /// Neither a plan nor a proof that there is none.
    Unknown,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Nothing is left to look at.
    Proven,
    /// The gap was reached.
    Gap,
    /// A limit of regions or work.
    Limit,
    /// There are too many patterns to look at, and no HiGHS: the bound is that of the linear relaxation.
    Patterns,
    /// It was stopped.
    Stopped,
}

/// The best partition found and how good it is.
#[derive(Debug, Clone)]
pub struct Mip {
    /// The partition; none if none was found.
    pub layout: Option<Layout>,
    /// Its makespan by the exact simulator, in ticks.
    pub makespan: Option<u64>,
    /// No partition takes less, in ticks: proven whatever the solver's tolerances, but where HiGHS went on, whose word it is
    /// less a millionth part. Of no meaning where nothing fits.
    pub bound: u64,
    /// Regions that were bounded, or nodes that HiGHS was given.
    pub nodes: u64,
    /// Paths that were needed.
    pub paths: usize,
    /// Patterns of all stages.
    pub patterns: usize,
    /// What is known.
    pub status: Status,
    /// Why it ended.
    pub reason: Reason,
}

impl Mip {
    /// (makespan − bound) / makespan; 1 without a plan.
    pub fn gap(&self) -> f64 {
        self.makespan.map_or(1.0, |makespan| (makespan - self.bound) as f64 / makespan.max(1) as f64)
    }
}

/// The best partition of `problem` under `order`, whose moments of memory are `vectors`. Transfers are not rendezvous: with
/// these the bound holds and the partition is a good one. Deterministic, on one thread.
///
/// # Errors
/// [`Error::Problem`] if there are fewer layers than virtual stages or `start` is no partition of the problem that fits;
/// [`Error::TooLarge`] for durations whose sum is 2⁶³ ticks or more; what [`super::lower_bound`] says where patterns are too
/// many.
pub fn solve_mip(problem: &Problem, order: &Order, vectors: &Vectors, options: &Options<'_>) -> Result<Mip> {
    solve_mip_with(problem, order, vectors, options, &mut Microlp::new())
}

/// [`solve_mip`] by another solver of linear programs.
///
/// # Errors
/// As [`solve_mip`].
pub fn solve_mip_with(
    problem: &Problem,
    order: &Order,
    vectors: &Vectors,
    options: &Options<'_>,
    backend: &mut dyn LpBackend,
) -> Result<Mip> {
    problem.accepts(order.dims())?;
    let ceiling = ceiling(problem, order)?;
    let mut judge = Judge::new(problem, order, vectors);
    if let Some(start) = options.start {
        judge.judge(start.to_vec())?;
    }
    let below = judge.best.as_ref().map_or(ceiling, |&(best, _)| best);
    let (judge, bound, mut work, reason) = match patterns::all(problem, order, vectors, below, &options.limits) {
        Some(patterns) => {
            let count = patterns.stages.iter().map(Vec::len).sum();
            let steep = 2.0 * order.dims().micro_batches as f64 * heaviest(problem) as f64;
            let master = Master::new(problem, order, patterns, below as f64);
            let mut tree = Tree::new(master, judge, backend, ceiling, steep);
            let reason = tree.grow(&options.limits, options.gap);
            let work = Work { nodes: tree.nodes, paths: tree.master.paths.len(), patterns: count };
            let bound = tree.bound();
            (tree.judge, bound, work, reason)
        }
        None => (judge, 0, Work { nodes: 0, paths: 0, patterns: 0 }, Reason::Patterns),
    };
    let (judge, further) = match reason {
        #[cfg(feature = "highs")]
        Reason::Patterns if options.limits.compact > 0 => {
            compact::solve(judge, problem, order, vectors, bound, options)?
        }
        Reason::Patterns => (judge, relaxed(problem, order, vectors, &options.limits)?),
        _ => return Ok(answer(problem, &judge, bound, work, reason)),
    };
    work.nodes += further.nodes;
    work.paths = further.paths;
    Ok(answer(problem, &judge, further.bound, work, further.reason))
}

/// What came of going on without patterns.
struct Further {
    /// In ticks.
    bound: u64,
    nodes: u64,
    paths: usize,
    reason: Reason,
}

/// The bound of the linear relaxation, where patterns are too many.
fn relaxed(problem: &Problem, order: &Order, vectors: &Vectors, limits: &Limits<'_>) -> Result<Further> {
    let found = super::lower_bound(problem, order, vectors, &super::Options::default(), limits.stop)?;
    let reason = if (limits.stop)() { Reason::Stopped } else { Reason::Patterns };
    Ok(Further { bound: found.ceil(), nodes: 0, paths: found.cuts, reason })
}

struct Work {
    nodes: u64,
    paths: usize,
    patterns: usize,
}

fn answer(problem: &Problem, judge: &Judge<'_>, bound: u64, work: Work, reason: Reason) -> Mip {
    let Work { nodes, paths, patterns } = work;
    let makespan = judge.best.as_ref().map(|&(makespan, _)| makespan);
    let status = match makespan {
        Some(makespan) if bound >= makespan => Status::Optimal,
        Some(_) => Status::Feasible,
        None if reason == Reason::Proven => Status::Infeasible,
        None => Status::Unknown,
    };
    let layout = judge.best.as_ref().map(|(_, counts)| Layout::of_counts(problem, counts));
    let bound = makespan.map_or(bound, |makespan| bound.min(makespan));
    Mip { layout, makespan, bound, nodes, paths, patterns, status, reason }
}

/// Time of the dearest layer and micro-batch, in ticks.
fn heaviest(problem: &Problem) -> u64 {
    let of = |item: &crate::problem::Item| item.forward.saturating_add(item.backward).saturating_add(item.extra);
    problem.items().iter().map(of).max().unwrap_or(0)
}

/// A makespan that no partition reaches: more than all operations and transfers one after the other.
///
/// # Errors
/// [`Error::TooLarge`] for 2⁶³ ticks and more.
fn ceiling(problem: &Problem, order: &Order) -> Result<u64> {
    let items = problem.items();
    let segments = problem.model().segments.iter().enumerate();
    let layers = segments.map(|(at, segment)| {
        let own = items.iter().filter(|item| item.segment == at);
        let most = own.map(|i| u128::from(i.forward) + u128::from(i.backward) + u128::from(i.extra)).max();
        most.unwrap_or(0) * u128::from(segment.count)
    });
    let (durations, _) = problem.costs(order, &vec![0; order.dims().virtual_stages() * items.len()]);
    let links = durations.links.iter().map(|&t| u128::from(t)).sum::<u128>();
    let all = (layers.sum::<u128>() + links) * order.dims().micro_batches as u128;
    let all = all + durations.tails.iter().map(|&t| u128::from(t)).sum::<u128>() + 1;
    u64::try_from(all).ok().filter(|&all| all < 1 << 63).ok_or_else(|| Error::TooLarge {
        what: "the sum of all durations is 2^63 ticks or more; use a coarser unit of time".to_owned(),
    })
}
