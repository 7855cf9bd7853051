//! The whole choice: schedules, numbers of chunks, groups of micro-batches and partitions, one after the other, with proven
//! lower bounds that leave out what cannot win. Start with [`solve`].
//!
//! Equal cuts and the plans of the baselines are judged first, for all combinations: no answer is worse. Then every
//! combination is searched by itself ([`crate::search`]); its answer is judged by the exact simulator. A combination
//! whose bound is not below the makespan found so far cannot win and is skipped; its moves go to those after it.

mod candidates;
mod groups;
mod infeasible;

pub use candidates::Considered;
pub use groups::Group;
pub use infeasible::{Caps, Infeasible, Remedy, infeasible};

use crate::baseline;
use crate::bound::mip;
use crate::layout::Layout;
use crate::megatron;
use crate::outcome::{self, Outcome};
use crate::problem::Problem;
use crate::schedule::Entry;
use crate::search::{self, Rule};
use crate::simulate::{Order, Vectors};
use crate::{Error, Result};
use candidates::{Candidate, STOPPED};
use sapwood_skeleton::Exec;
use std::sync::Arc;
use std::time::Instant;

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
    /// By branch and bound over what stages can hold, after the searches; before that by the relaxation.
    Mip,
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
    /// (makespan − bound) / makespan at which the search of a combination ends.
    pub gap: f64,
    /// Moves of all searches together.
    pub moves: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// When `stop` will say yes, where that is known: for what cannot ask it.
    pub until: Option<Instant>,
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
    let (mut candidates, mut considered) = candidates::all(request, stop)?;
    let all = considered.iter().all(|line| line.reason != STOPPED);
    let solved = Solved {
        best: None,
        considered: Vec::new(),
        optimal: false,
        complete: all,
        moves: 0,
        failure: None,
        found: false,
    };
    let mut choice = Choice { exec, request, stop, solved };
    // Where no move is asked for, all that is wanted is whether anything fits.
    if request.moves > 0 {
        choice.begin(&mut candidates)?;
    }
    for at in 0..candidates.len() {
        let (before, rest) = candidates.split_at_mut(at);
        let Some(candidate) = rest.first_mut().filter(|_| request.proof != Proof::None && !stop()) else { break };
        match before.last().filter(|other| Arc::ptr_eq(&other.order, &candidate.order)) {
            Some(same) => candidate.bound_of(same),
            None => candidate.bound(request.problem, stop),
        }
    }
    // The most promising first; of equal ones the one that was named first.
    candidates.sort_by_key(|candidate| candidate.lower_bound.unwrap_or(u64::MAX));
    choice.all(&mut candidates)?;
    choice.again(&mut candidates)?;
    if request.proof == Proof::Mip {
        choice.prove(&mut candidates)?;
    }
    let mut solved = choice.solved;
    let best = solved.best.as_ref().map(|best| best.outcome.makespan);
    solved.optimal =
        all && best.is_some() && candidates.iter().all(|candidate| candidate.impossible || candidate.beaten(best));
    if let Some(best) = &mut solved.best
        && let Some(chosen) = candidates.iter_mut().find(|candidate| candidate.is(best))
    {
        chosen.reason = "chosen".to_owned();
        chosen.best = Some((best.outcome.makespan, Vec::new()));
        best.lower_bound = chosen.lower_bound.unwrap_or(0);
    }
    considered.extend(candidates.into_iter().map(|candidate| candidate.line(request.problem)));
    solved.considered = considered;
    Ok(solved)
}

/// Combinations that are searched a second time.
const AGAIN: usize = 2;

/// A choice on its way.
struct Choice<'a> {
    exec: Exec<'a>,
    request: &'a Request<'a>,
    stop: &'a (dyn Fn() -> bool + Sync),
    solved: Solved,
}

impl Choice<'_> {
    /// Judges equal cuts and the plans of the baselines for every combination, before anything that takes long: however early
    /// it is stopped, the answer is no worse than any of them.
    fn begin(&mut self, candidates: &mut [Candidate]) -> Result<()> {
        let problem = self.request.problem;
        for candidate in candidates.iter() {
            if self.solved.best.is_some() && (self.stop)() {
                return Ok(());
            }
            let options = self.options(candidate, 0, 0);
            let equal = search::equal(problem, &candidate.order, &candidate.vectors, &options)?;
            self.judge(candidate, [options.starts.clone(), equal].concat())?;
        }
        for planner in baseline::ALL {
            for same in candidates.chunk_by_mut(|a, b| Arc::ptr_eq(&a.order, &b.order)) {
                if (self.stop)() {
                    return Ok(());
                }
                let Some(counts) = candidates::planned(problem, planner, &same[0].order)? else { continue };
                for candidate in same {
                    self.judge(candidate, vec![counts.clone()])?;
                    candidate.starts.push(counts.clone());
                }
            }
        }
        Ok(())
    }

    /// Judges partitions of a combination as they are.
    fn judge(&mut self, candidate: &Candidate, starts: Vec<Vec<u32>>) -> Result<()> {
        let options = search::Options { starts, ..self.options(candidate, 0, 0) };
        let stop = || self.solved.best.is_some() && (self.stop)();
        let (order, vectors) = (&candidate.order, &candidate.vectors);
        match search::judge(self.request.problem, order, vectors, &options, &stop)? {
            Some(found) if self.makespan().is_none_or(|makespan| found.makespan < makespan) => {
                self.offer(candidate, found.layout).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// How a combination is searched.
    fn options(&self, candidate: &Candidate, moves: u64, seed: u64) -> search::Options {
        search::Options {
            moves,
            seed,
            target: candidate.target(self.request.gap),
            starts: candidate.starts.clone(),
            rule: candidate.rule.clone(),
            rendezvous: self.request.rendezvous,
        }
    }

    /// Searches the combinations that can win, in their order, with equal shares of half of the moves; of all moves if there
    /// is one combination alone.
    fn all(&mut self, candidates: &mut [Candidate]) -> Result<()> {
        let many = candidates.len();
        let budget = if many == 1 { self.request.moves } else { self.request.moves / 2 };
        for (at, candidate) in candidates.iter_mut().enumerate() {
            let moves = budget.saturating_sub(self.solved.moves) / (many - at) as u64;
            if let Some(failure) = candidate.failure.take() {
                candidate.reason = match &failure {
                    Error::Infeasible { stage, need, cap } => {
                        format!("nothing fits, not even parts of layers: stage {stage} needs {need:.0} of {cap}")
                    }
                    other => other.to_string(),
                };
                self.solved.failure.get_or_insert(failure);
            } else if candidate.beaten(self.makespan()) {
                candidate.reason = "its lower bound is not below the best".to_owned();
            } else if (self.stop)() && self.solved.best.is_some() {
                self.solved.complete = false;
                candidate.reason = STOPPED.to_owned();
            } else {
                // A plan that fits is found in any case.
                let moves = if (self.stop)() { 0 } else { moves };
                self.search(candidate, moves, self.request.seed)?;
            }
        }
        Ok(())
    }

    /// Searches the best combinations again with the moves that are left, from where they are and with other random numbers.
    fn again(&mut self, candidates: &mut [Candidate]) -> Result<()> {
        let makespan = |candidate: &Candidate| candidate.best.as_ref().map_or(u64::MAX, |(makespan, _)| *makespan);
        let mut best: Vec<&mut Candidate> =
            candidates.iter_mut().filter(|candidate| candidate.best.is_some()).collect();
        best.sort_by_key(|candidate| makespan(candidate));
        best.truncate(AGAIN);
        let many = best.len();
        for (at, candidate) in best.into_iter().enumerate() {
            let moves = self.request.moves.saturating_sub(self.solved.moves) / (many - at) as u64;
            let done = candidate.beaten(self.makespan()) || makespan(candidate) <= candidate.target(self.request.gap);
            if moves > 0 && !done && !(self.stop)() {
                let (_, counts) = candidate.best.clone().unwrap_or_default();
                candidate.starts.push(counts);
                self.search(candidate, moves, self.request.seed.wrapping_add(1))?;
            }
        }
        Ok(())
    }

    /// Looks for the best partition of each combination that may still win, with a proof.
    fn prove(&mut self, candidates: &mut [Candidate]) -> Result<()> {
        candidates.sort_by_key(|candidate| candidate.best.as_ref().map_or(u64::MAX, |(makespan, _)| *makespan));
        let mut proven: Vec<(Arc<Order>, u64)> = Vec::new();
        for candidate in candidates.iter_mut() {
            let known = proven.iter().find(|(order, _)| Arc::ptr_eq(order, &candidate.order)).map(|(_, bound)| *bound);
            candidate.lower_bound = candidate.lower_bound.max(known);
            if candidate.impossible || candidate.beaten(self.makespan()) || (self.stop)() || known.is_some() {
                continue;
            }
            let start = candidate.best.as_ref().map(|(_, counts)| counts.as_slice());
            let limits = mip::Limits { stop: self.stop, until: self.request.until, ..mip::Limits::default() };
            let options = mip::Options { gap: self.request.gap, start, limits };
            let found = mip::solve_mip(self.request.problem, &candidate.order, &candidate.vectors, &options)?;
            self.solved.complete &= found.reason != mip::Reason::Stopped;
            if found.status == mip::Status::Infeasible {
                candidate.impossible = true;
                continue;
            }
            candidate.lower_bound = candidate.lower_bound.max(Some(found.bound));
            proven.push((Arc::clone(&candidate.order), found.bound));
            if let (Rule::Any, false, Some(layout)) = (&candidate.rule, self.request.rendezvous, found.layout) {
                self.take(candidate, layout)?;
            }
        }
        Ok(())
    }

    /// The makespan of the best plan so far.
    fn makespan(&self) -> Option<u64> {
        self.solved.best.as_ref().map(|best| best.outcome.makespan)
    }

    /// Searches one combination.
    fn search(&mut self, candidate: &mut Candidate, moves: u64, seed: u64) -> Result<()> {
        let (problem, options) = (self.request.problem, self.options(candidate, moves, seed));
        let found = match search::solve(self.exec, problem, &candidate.order, &candidate.vectors, &options, self.stop) {
            Ok(found) => found,
            Err(failure @ (Error::Infeasible { .. } | Error::Problem { .. })) => {
                candidate.reason = failure.to_string();
                let solved = &mut self.solved;
                let known = solved.failure.take().filter(|_| solved.found);
                (solved.failure, solved.found) = (Some(nearer(known, failure)), true);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        self.solved.moves += found.moves;
        self.solved.complete &= found.complete;
        self.take(candidate, found.layout)
    }

    /// What a search of a combination found, which may be the best so far.
    fn take(&mut self, candidate: &mut Candidate, layout: Layout) -> Result<()> {
        let (makespan, counts) = self.offer(candidate, layout)?;
        if candidate.best.as_ref().is_none_or(|(best, _)| makespan < *best) {
            candidate.best = Some((makespan, counts));
        }
        candidate.reason = "slower".to_owned();
        Ok(())
    }

    /// Judges a partition of a combination, which may be the best so far; its makespan and counts.
    fn offer(&mut self, candidate: &Candidate, layout: Layout) -> Result<(u64, Vec<u32>)> {
        let (request, problem, solved) = (self.request, self.request.problem, &mut self.solved);
        let counts = layout.counts(problem)?;
        let outcome = outcome::simulate(problem, &candidate.order, &counts, request.rendezvous)?;
        let makespan = outcome.makespan;
        let peaks = |outcome: &Outcome| outcome.peaks.iter().map(|peak| peak.total()).max();
        let key = |outcome: &Outcome| (outcome.makespan, peaks(outcome));
        let better = solved.best.as_ref().is_none_or(|best| key(&outcome) < key(&best.outcome));
        if better {
            solved.best = Some(Best {
                order: Order::clone(&candidate.order),
                setting: if let Rule::Global(setting) = &candidate.rule { Some(setting.clone()) } else { None },
                layout,
                outcome,
                lower_bound: 0,
            });
        }
        Ok((makespan, counts))
    }
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

/// The order and the moments of a schedule of some sizes.
pub(crate) fn ready(entry: &Entry, dims: &crate::schedule::Dims) -> Result<(Order, Vectors)> {
    let order = Order::new(entry, dims)?;
    let vectors = Vectors::new(&order);
    Ok((order, vectors))
}
