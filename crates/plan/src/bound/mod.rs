//! A proven lower bound of the makespan of every partition under one order.
//!
//! The makespan is the largest length of a path through the operations, and each length is linear in the counts of layers. So
//! the linear program over fractional counts (`rows`) with enough paths as rows (`cuts`) is a relaxation, and no partition is
//! below its optimum; `certify` takes the solver's tolerances out. Start with [`lower_bound`]. The simulator still judges
//! plans; this says how much better one could be.
//!
//! What the relaxation leaves out, and the bound stays valid: whole numbers of layers, the order of segments of the body,
//! transients of recomputed layers.

mod certify;
mod cuts;
mod nearest;
mod rows;

pub mod lp;
pub mod mip;

use crate::Result;
use crate::problem::Problem;
use crate::simulate::{Order, Vectors};
use lp::{LpBackend, Microlp};
use rows::Relaxation;

/// How exact a bound is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Most paths that are added to those of the stages; none for as many as are worth their time: all that are needed in
    /// most problems, about a hundred with a thousand columns.
    pub cuts: Option<usize>,
    /// Relative distance of the simulated makespan from that of the relaxation at which no path is missing.
    pub tolerance: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { cuts: None, tolerance: 1e-7 }
    }
}

/// A lower bound of the makespan.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The bound in ticks of time: at most the makespan of any partition, whatever the solver's tolerances.
    pub ticks: f64,
    /// Paths that were added to those of the stages.
    pub cuts: usize,
    /// Whether no path is missing: then the bound is the optimum of the relaxation.
    pub converged: bool,
    /// The best counts of layers that the relaxation allows, parts of layers and all; by virtual stage and item of the problem.
    pub counts: Vec<f64>,
}

impl Bound {
    /// The bound in whole ticks, rounded down.
    pub fn floor(&self) -> u64 {
        self.ticks.floor() as u64
    }

    /// The least whole number of ticks that is not below the bound: no makespan, which is whole, is below it either.
    pub fn ceil(&self) -> u64 {
        self.ticks.ceil() as u64
    }
}

/// A lower bound of the makespan of all partitions of `problem` under `order` that fit the caps; `vectors` are those of
/// `order`. Deterministic, on one thread. `stop` is asked after each path: what is proven until then is the answer. Source:
/// the specification's section 2.5.
///
/// # Errors
/// [`crate::Error::Infeasible`] if not even fractional counts fit the caps, with the stage that is in the way;
/// [`crate::Error::Problem`] if there are fewer layers than virtual stages, or if the solver fails.
pub fn lower_bound(
    problem: &Problem,
    order: &Order,
    vectors: &Vectors,
    options: &Options,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Bound> {
    lower_bound_with(problem, order, vectors, options, stop, &mut Microlp::new())
}

/// [`lower_bound`] by another solver.
///
/// # Errors
/// As [`lower_bound`].
pub fn lower_bound_with(
    problem: &Problem,
    order: &Order,
    vectors: &Vectors,
    options: &Options,
    stop: &(dyn Fn() -> bool + Sync),
    backend: &mut dyn LpBackend,
) -> Result<Bound> {
    let relaxation = Relaxation::new(problem, order)?;
    let cut = cuts::solve(&relaxation, order, vectors, backend, options, stop)?;
    let ticks = certify::bound(&cut.program, &cut.x, backend) * relaxation.unit;
    Ok(Bound { ticks, cuts: cut.cuts, converged: cut.converged, counts: relaxation.counts(&cut.best) })
}
