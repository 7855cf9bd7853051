//! Critical-path cuts: every path through the operations is a lower bound of the makespan that is linear in the counts.
//!
//! The relaxation is solved, fractional counts are simulated, and their critical path becomes a row; again until the
//! simulated makespan is that of the relaxation. Then no path is missing and the bound is the exact optimum of the relaxation.
//!
//! What is simulated lies between the counts that the relaxation chose and the best ones seen (in-out separation, Ben-Ameur
//! and Neto 2007): such paths cut deeper, and about a third fewer are needed. Where that path does not cut the relaxation's
//! choice off, the critical path of that choice does.

use super::lp::{LpBackend, Program, Row};
use super::rows::Relaxation;
use super::{Options, nearest};
use crate::Result;
use crate::simulate::path::Path;
use crate::simulate::{Durations, Order, Sweep, Vectors};

/// How often the durations of a stage are multiplied to find the path that stays on it.
const SLOW: f64 = 4096.0;

/// Share of the best counts in those that are simulated.
pub(super) const INSIDE: f64 = 0.75;

/// By how much a path must be longer than T, in units of T, to cut something off.
const DEEP: f64 = 1e-5;

/// Columns × rows × paths up to which paths are added where no number is asked for: a few seconds.
const WORK: f64 = 1e8;

/// The relaxation with all paths that were needed.
pub(super) struct Cut {
    /// The program with its paths.
    pub(super) program: Program,
    /// Its minimiser.
    pub(super) x: Vec<f64>,
    /// The counts with the smallest simulated makespan, in the columns of the program.
    pub(super) best: Vec<f64>,
    /// Paths that were added after those of the stages.
    pub(super) cuts: usize,
    /// Whether the simulated makespan of `best` is that of the program.
    pub(super) converged: bool,
}

/// For each stage the critical path where that stage is by far the slowest: it fills the pipeline, stays for all of the
/// stage's operations, and drains.
/// `stop` is asked before each.
pub(super) fn slow_stages(order: &Order, durations: &Durations<f64>, stop: &(dyn Fn() -> bool + Sync)) -> Vec<Path> {
    let (dims, mut sweep) = (order.dims(), Sweep::new());
    let of = |slow: usize| {
        let mut slowed = durations.clone();
        for (place, ticks) in slowed.operations.iter_mut().enumerate() {
            let (stage, _) = order.shape().placement.of(place % dims.virtual_stages(), dims.stages);
            *ticks *= if stage == slow { SLOW } else { 1.0 };
        }
        sweep.run(order, &slowed);
        Path::of(order, &slowed, |at| sweep.end(at))
    };
    (0..dims.stages).take_while(|_| !stop()).map(of).collect()
}

/// How many paths are worth their time: solving once more takes time with columns × rows.
fn worth(program: &Program) -> usize {
    let (columns, rows) = (program.costs.len() as f64, program.rows.len() as f64);
    // cuts · columns · (rows + cuts / 2) = WORK
    ((rows * rows + 2.0 * WORK / columns).sqrt() - rows) as usize
}

/// Solves the relaxation with as many paths as it needs, at most `options.cuts`. A solver that fails on the way ends it
/// early, and so does `stop`.
///
/// # Errors
/// [`crate::Error::Infeasible`] if no fractional partition meets the caps, [`crate::Error::Problem`] if the solver fails at the start.
pub(super) fn solve(
    relaxation: &Relaxation<'_>,
    order: &Order,
    vectors: &Vectors,
    backend: &mut dyn LpBackend,
    options: &Options,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Cut> {
    let mut program = relaxation.program(vectors);
    for path in slow_stages(order, &relaxation.durations(&relaxation.even()), stop) {
        let row = relaxation.path(&path);
        if !program.rows.contains(&row) {
            program.rows.push(row);
        }
    }
    let Some(mut x) = backend.start(&program)? else { return Err(nearest::failure(relaxation, vectors, backend)?) };
    let most = options.cuts.unwrap_or_else(|| worth(&program));
    let mut simulator = Simulator::new(relaxation, order, x.clone());
    let mut cuts = 0;
    loop {
        let own = simulator.path(x.clone());
        let bound = x[relaxation.makespan()] * relaxation.unit;
        let converged = simulator.best.0 <= bound * (1.0 + options.tolerance);
        if converged || cuts >= most || stop() {
            return Ok(Cut { program, x, best: simulator.best.1, cuts, converged });
        }
        let between = x.iter().zip(&simulator.best.1).map(|(x, best)| x + INSIDE * (best - x)).collect();
        let inner = simulator.path(between);
        let row = if inner.right - inner.at(&x) > DEEP { inner } else { own };
        program.rows.push(row.clone());
        match backend.add(&[row]) {
            Ok(Some(next)) => x = next,
            // Paths never leave an empty program: its tolerances are exhausted. What was solved before is still a bound.
            Ok(None) | Err(_) => return Ok(Cut { program, x, best: simulator.best.1, cuts, converged: false }),
        }
        cuts += 1;
    }
}

/// Simulates counts and remembers the best ones.
pub(super) struct Simulator<'a> {
    relaxation: &'a Relaxation<'a>,
    order: &'a Order,
    sweep: Sweep<f64>,
    /// The smallest makespan, in ticks, and its counts.
    best: (f64, Vec<f64>),
}

impl<'a> Simulator<'a> {
    /// Of counts `x` nothing is known yet.
    pub(super) fn new(relaxation: &'a Relaxation<'a>, order: &'a Order, x: Vec<f64>) -> Simulator<'a> {
        Simulator { relaxation, order, sweep: Sweep::new(), best: (f64::INFINITY, x) }
    }

    /// The critical path of counts.
    pub(super) fn path(&mut self, x: Vec<f64>) -> Row {
        let durations = self.relaxation.durations(&x);
        let makespan = self.sweep.run(self.order, &durations);
        let row = self.relaxation.path(&Path::of(self.order, &durations, |at| self.sweep.end(at)));
        if makespan < self.best.0 {
            self.best = (makespan, x);
        }
        row
    }
}
