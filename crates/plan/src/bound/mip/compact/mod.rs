//! The compact integer program: whole counts of layers in place of patterns, for what has too many of them.
//!
//! It is the linear relaxation of `bound` with whole numbers and with what that leaves out (`program`), under the paths that
//! the relaxation needed, solved by HiGHS (`highs`) on one thread. Only plans below the best one are asked for. What HiGHS
//! finds is judged by the exact simulator; where that takes longer than the program says, the critical path becomes a row,
//! and it is solved again. HiGHS works in turns, since only a limit stops it; one that was too short is followed by one of
//! twice as many nodes. They are counted in full, for it does not say how many it used.
//!
//! **What is trusted.** Other than all else here the bound is what HiGHS says, not worked out anew: its least open node, less
//! [`TOLERANCE`] of itself for the tolerances with which it solves linear programs and tells whole numbers.

mod highs;
mod program;

use super::round::Judge;
use super::{Further, Options, Reason};
use crate::Result;
use crate::bound::cuts::{self, Simulator};
use crate::bound::lp::{Microlp, Row};
use crate::bound::rows::{Column, Relaxation};
use crate::bound::{self, certify};
use crate::problem::Problem;
use crate::simulate::{Order, Vectors};
use highs::{Answer, Ended};
use program::Compact;

/// The part of a bound that is taken off: HiGHS' tolerance of feasibility, which is also set.
const TOLERANCE: f64 = 1e-6;

/// By how much a path must be longer than T, in units of T, to cut something off: more than tolerances.
const DEEP: f64 = 1e-5;

/// Nodes of the first turn.
const TURN: u64 = 500;

/// Goes on from the best plan of `judge`, which it hands back with what is better.
///
/// # Errors
/// As [`bound::lower_bound`].
pub(super) fn solve<'a>(
    judge: Judge<'a>,
    problem: &Problem,
    order: &Order,
    vectors: &Vectors,
    known: u64,
    options: &Options<'_>,
) -> Result<(Judge<'a>, Further)> {
    let relaxation = Relaxation::new(problem, order)?;
    let (mut backend, limits) = (Microlp::new(), &options.limits);
    let cut = cuts::solve(&relaxation, order, vectors, &mut backend, &bound::Options::default(), limits.stop)?;
    let linear = certify::bound(&cut.program, &cut.x, &mut backend) * relaxation.unit;
    let mut search = Search {
        compact: Compact::new(&relaxation, vectors, cut.program),
        simulator: Simulator::new(&relaxation, order, cut.x),
        relaxation: &relaxation,
        judge,
        bound: known.max(linear.ceil() as u64),
        nodes: 0,
        paths: cut.cuts,
    };
    if let Some((_, counts)) = &search.judge.best {
        let items = problem.items().len();
        let own = |column: &Column| f64::from(counts[column.virtual_stage * items + column.item]);
        let x = relaxation.columns.iter().map(own).chain([0.0]).collect();
        search.learn(x);
    }
    let reason = search.go(options)?;
    let further = Further { bound: search.bound, nodes: search.nodes, paths: search.paths, reason };
    Ok((search.judge, further))
}

struct Search<'a, 'b> {
    compact: Compact,
    simulator: Simulator<'a>,
    relaxation: &'a Relaxation<'a>,
    judge: Judge<'b>,
    bound: u64,
    nodes: u64,
    paths: usize,
}

impl Search<'_, '_> {
    fn go(&mut self, options: &Options<'_>) -> Result<Reason> {
        let (limits, mut turn) = (&options.limits, TURN);
        loop {
            let best = self.judge.best.as_ref().map(|&(best, _)| best);
            if best.is_some_and(|best| self.closed(best)) {
                return Ok(Reason::Proven);
            }
            if best.is_some_and(|best| (best - self.bound) as f64 <= options.gap * best as f64) {
                return Ok(Reason::Gap);
            }
            if (limits.stop)() {
                return Ok(Reason::Stopped);
            }
            if self.nodes >= limits.compact {
                return Ok(Reason::Limit);
            }
            let most = best.map(|best| (best as f64 - 0.5) / self.relaxation.unit);
            let turned = turn.min(limits.compact - self.nodes);
            let answer = highs::solve(&self.compact, most, turned, limits.until)?;
            self.nodes += turned;
            if answer.ended == Ended::Limit {
                turn = turn.saturating_mul(2);
            }
            self.raise(&answer, best);
            let news = answer.x.is_some_and(|x| self.take(x));
            if answer.ended == Ended::Empty && best.is_none() {
                return Ok(Reason::Proven);
            }
            // The least there is, and yet neither a path nor a better plan: tolerances are exhausted.
            if answer.ended != Ended::Limit && !news && !best.is_some_and(|best| self.closed(best)) {
                return Ok(Reason::Limit);
            }
        }
    }

    /// Whether a makespan is proven to be the best, but for tolerances.
    fn closed(&self, best: u64) -> bool {
        best.saturating_sub(self.bound) as f64 <= 2.0 * TOLERANCE * best as f64
    }

    /// The bound that an answer proves, in whole ticks.
    fn raise(&mut self, answer: &Answer, best: Option<u64>) {
        let ticks = answer.bound * (1.0 - TOLERANCE) * self.relaxation.unit;
        let ticks = if ticks.is_finite() { ticks.max(0.0).ceil() as u64 } else { 0 };
        self.bound = self.bound.max(best.map_or(ticks, |best| ticks.min(best)));
    }

    /// Judges a solution; whether it brought a path or a better plan.
    fn take(&mut self, x: Vec<f64>) -> bool {
        let before = self.judge.best.as_ref().map(|&(best, _)| best);
        let whole: Vec<f64> = x.iter().take(self.relaxation.makespan()).map(|x| x.round()).collect();
        let counts = self.relaxation.counts(&whole).iter().map(|&count| count as u32).collect();
        // What tolerances let through is no plan, but its path is one.
        let _ = self.judge.judge(counts);
        let time = x[self.relaxation.makespan()];
        let better = self.judge.best.as_ref().map(|&(best, _)| best) != before;
        self.learn(whole.into_iter().chain([time]).collect()) || better
    }

    /// Adds the critical path of counts if it is longer than their T.
    fn learn(&mut self, x: Vec<f64>) -> bool {
        let row: Row = self.simulator.path(x.clone());
        let new = row.right - row.at(&x) > DEEP;
        if new {
            self.paths += 1;
            self.compact.program.rows.push(row);
        }
        new
    }
}
