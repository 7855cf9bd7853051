//! The whole choice: schedules, numbers of chunks, groups of micro-batches and partitions, one after the other, with proven
//! lower bounds that leave out what cannot win. Start with [`solve`].
//!
//! Every combination is searched by itself ([`crate::search`]); its answer is judged by the exact simulator. A combination
//! whose bound is not below the makespan found so far cannot win and is skipped; its moves go to those after it.

mod candidates;
mod groups;
mod infeasible;

pub use candidates::Considered;
pub use groups::Group;
pub use infeasible::{Caps, Infeasible, Remedy, infeasible};

use crate::bound;
use crate::layout::Layout;
use crate::megatron;
use crate::outcome::{self, Outcome};
use crate::problem::Problem;
use crate::schedule::Entry;
use crate::search::{self, Rule};
use crate::simulate::{Order, Vectors};
use crate::{Error, Result};
use candidates::Candidate;
use sapwood_skeleton::Exec;
use std::sync::Arc;

/// The framework that has to state the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Express {
    /// None.
    #[default]
    Any,
    /// Megatron-LM: 1f1b and interleaved, groups that it accepts, one setting of recomputation.
    Megatron,
    /// MindFormers: its schedules, the first rule of groups, nested lists of recomputed layers.
    Mindformers,
}

/// How makespans are bounded from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proof {
    /// By the linear relaxation with critical-path cuts.
    #[default]
    Lp,
    /// Not at all.
    None,
}

/// What is to be chosen, and for how long.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The model with its caps.
    pub problem: &'a Problem,
    /// Micro-batches of a step.
    pub micro_batches: usize,
    /// Schedules that may be taken.
    pub schedules: Vec<&'static Entry>,
    /// Numbers of chunks that may be taken.
    pub chunks: Vec<usize>,
    /// How micro-batches are grouped.
    pub group: Group,
    /// Who has to state the plan.
    pub express: Express,
    /// How makespans are bounded.
    pub proof: Proof,
    /// Relative distance from the bound at which the search of a combination ends.
    pub gap: f64,
    /// Moves of all searches together.
    pub moves: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Whether transfers are rendezvous.
    pub rendezvous: bool,
    /// A partition to begin with, where it has as many virtual stages.
    pub start: Option<Layout>,
}

/// The best plan that was found.
#[derive(Debug, Clone)]
pub struct Best {
    /// Its schedule.
    pub order: Order,
    /// The one setting of recomputation, where one had to hold for all.
    pub setting: Option<megatron::Setting>,
    /// The partition.
    pub layout: Layout,
    /// The verdict on it.
    pub outcome: Outcome,
    /// A makespan that no partition of the same schedule, chunks and groups is below, in ticks of time; 0 where none was
    /// asked for.
    pub lower_bound: u64,
}

/// What came of a request.
#[derive(Debug)]
pub struct Solved {
    /// The best plan; none if nothing that fits was found.
    pub best: Option<Best>,
    /// Every combination with what came of it.
    pub considered: Vec<Considered>,
    /// Whether no plan of any combination can be better.
    pub optimal: bool,
    /// Whether it ended by itself.
    pub complete: bool,
    /// Proposed moves.
    pub moves: u64,
    /// Why there is no plan: the failure of the combination that comes nearest.
    pub failure: Option<Error>,
    /// Whether that is of a partition that was found, and not of the relaxation.
    found: bool,
}

/// Chooses. `stop` is asked now and then; once it says yes, what was found so far is the answer.
///
/// # Errors
/// [`Error::Problem`] if no combination is possible at all; whatever fails other than that nothing fits.
pub fn solve(exec: Exec<'_>, request: &Request<'_>, stop: &(dyn Fn() -> bool + Sync)) -> Result<Solved> {
    let (mut candidates, mut considered) = candidates::all(request)?;
    for at in 0..candidates.len() {
        let (before, rest) = candidates.split_at_mut(at);
        let Some(candidate) = rest.first_mut().filter(|_| request.proof == Proof::Lp && !stop()) else { break };
        match before.last().filter(|other| Arc::ptr_eq(&other.order, &candidate.order)) {
            Some(same) => candidate.bound_of(same),
            None => candidate.bound(request.problem, stop),
        }
    }
    // The most promising first; of equal ones the one that was named first.
    candidates.sort_by_key(|candidate| candidate.lower_bound.unwrap_or(u64::MAX));
    let mut solved = Solved {
        best: None,
        considered: Vec::new(),
        optimal: false,
        complete: true,
        moves: 0,
        failure: None,
        found: false,
    };
    let mut proven = request.proof != Proof::None;
    let many = candidates.len();
    for (at, candidate) in candidates.into_iter().enumerate() {
        let left = request.moves.saturating_sub(solved.moves) / (many - at) as u64;
        let (line, settled) = one(exec, request, candidate, left, &mut solved, stop)?;
        proven &= settled;
        considered.push(line);
    }
    solved.optimal = proven && solved.best.is_some();
    solved.considered = considered;
    Ok(solved)
}

/// Searches one combination; whether no plan of it can be better than the best one.
fn one(
    exec: Exec<'_>,
    request: &Request<'_>,
    candidate: Candidate,
    moves: u64,
    solved: &mut Solved,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(Considered, bool)> {
    let bound = candidate.lower_bound;
    let beaten =
        |solved: &Solved| bound.zip(solved.best.as_ref()).is_some_and(|(bound, best)| bound >= best.outcome.makespan);
    let problem = request.problem;
    if let Some(failure) = candidate.failure {
        let reason = match &failure {
            Error::Infeasible { stage, need, cap } => {
                format!("nothing fits, not even parts of layers: stage {stage} needs {need:.0} of {cap}")
            }
            other => other.to_string(),
        };
        let line = candidate.line.with(problem, bound, None, reason);
        let proven = candidate.impossible;
        solved.failure.get_or_insert(failure);
        return Ok((line, proven));
    }
    if beaten(solved) {
        return Ok((
            candidate.line.with(problem, bound, None, "its lower bound is not below the best".to_owned()),
            true,
        ));
    }
    let stopped = stop();
    solved.complete &= !stopped;
    if stopped && solved.best.is_some() {
        return Ok((candidate.line.with(problem, bound, None, "stopped before its turn".to_owned()), false));
    }
    let target = bound.map_or(0, |bound| (bound as f64 * (1.0 + request.gap)) as u64);
    let options = search::Options {
        // A plan that fits is found in any case.
        moves: if stopped { 0 } else { moves },
        seed: request.seed,
        target: target.max(bound.unwrap_or(0)),
        starts: candidate.starts,
        rule: candidate.rule.clone(),
        rendezvous: request.rendezvous,
    };
    let found = match search::solve(exec, problem, &candidate.order, &candidate.vectors, &options, stop) {
        Ok(found) => found,
        Err(failure @ (Error::Infeasible { .. } | Error::Problem { .. })) => {
            let line = candidate.line.with(problem, bound, None, failure.to_string());
            let known = solved.failure.take().filter(|_| solved.found);
            (solved.failure, solved.found) = (Some(nearer(known, failure)), true);
            return Ok((line, false));
        }
        Err(failure) => return Err(failure),
    };
    solved.moves += found.moves;
    solved.complete &= found.complete;
    let counts = found.layout.counts(problem)?;
    let outcome = outcome::simulate(problem, &candidate.order, &counts, request.rendezvous)?;
    let makespan = outcome.makespan;
    let peaks = |outcome: &Outcome| outcome.peaks.iter().map(|peak| peak.total()).max();
    let better = solved
        .best
        .as_ref()
        .is_none_or(|best| (makespan, peaks(&outcome)) < (best.outcome.makespan, peaks(&best.outcome)));
    let reason = if better { "best so far" } else { "slower" };
    if better {
        solved.best = Some(Best {
            order: Arc::unwrap_or_clone(candidate.order),
            setting: if let Rule::Global(setting) = candidate.rule { Some(setting) } else { None },
            layout: found.layout,
            outcome,
            lower_bound: bound.unwrap_or(0),
        });
    }
    let settled = beaten(solved);
    Ok((candidate.line.with(problem, bound, Some(makespan), reason.to_owned()), settled))
}

/// The failure that says most: the nearest partition, if there is one.
fn nearer(a: Option<Error>, b: Error) -> Error {
    let over = |e: &Error| match e {
        Error::Infeasible { need, cap, .. } => need / cap,
        _ => f64::INFINITY,
    };
    match a {
        Some(a) if over(&a) <= over(&b) => a,
        _ => b,
    }
}

impl Candidate {
    /// Bounds the makespans of this combination.
    fn bound(&mut self, problem: &Problem, stop: &(dyn Fn() -> bool + Sync)) {
        match bound::lower_bound(problem, &self.order, &self.vectors, &bound::Options::default(), stop) {
            Ok(found) => {
                self.lower_bound = Some(found.ceil());
                self.starts.extend(round(problem, &self.order, &found.counts));
            }
            Err(failure) => (self.failure, self.impossible) = (Some(failure), true),
        }
    }

    /// The bound of another one of the same order, whose partitions are bounded whatever they recompute.
    fn bound_of(&mut self, other: &Candidate) {
        (self.lower_bound, self.impossible) = (other.lower_bound, other.impossible);
        self.failure = other.failure.as_ref().map(|why| Error::Problem { what: why.to_string() });
        self.starts.clone_from(&other.starts);
    }
}

/// The partition that is nearest to fractional counts: largest remainders by segment, in model order.
fn round(problem: &Problem, order: &Order, counts: &[f64]) -> Option<Vec<u32>> {
    let (items, k) = (problem.items(), order.dims().virtual_stages());
    let mut whole = vec![0u32; counts.len()];
    for (segment, s) in problem.model().segments.iter().enumerate() {
        let own: Vec<usize> = (0..counts.len()).filter(|at| items[at % items.len()].segment == segment).collect();
        let mut left = s.count;
        for &at in &own {
            whole[at] = (counts[at].max(0.0) as u32).min(left);
            left -= whole[at];
        }
        let mut by_rest = own;
        by_rest.sort_by(|&a, &b| counts[b].fract().total_cmp(&counts[a].fract()).then(a.cmp(&b)));
        by_rest.iter().cycle().take(left as usize).for_each(|&at| whole[at] += 1);
    }
    debug_assert_eq!(whole.len(), k * items.len());
    problem.check(&whole).ok().map(|()| whole)
}

/// The order and the moments of a schedule of some sizes.
pub(crate) fn ready(entry: &Entry, dims: &crate::schedule::Dims) -> Result<(Order, Vectors)> {
    let order = Order::new(entry, dims)?;
    let vectors = Vectors::new(&order);
    Ok((order, vectors))
}
