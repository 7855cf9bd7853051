//! HiGHS on one thread with a limit of nodes: the same program gives the same answer.

use super::program::Compact;
use crate::bound::lp::Sense;
use crate::{Error, Result};
use ::highs::{Col, HighsModelStatus, HighsSolutionStatus, Model, RowProblem, SolvedModel};
use std::time::Instant;

/// Why HiGHS ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// With a minimiser.
    Whole,
    /// There is no solution.
    Empty,
    /// By a limit.
    Limit,
}

/// What HiGHS says.
pub(super) struct Answer {
    /// Its best solution, by column.
    pub(super) x: Option<Vec<f64>>,
    /// No solution is below, as it says; in units of T. The most that was asked for where there is none.
    pub(super) bound: f64,
    pub(super) ended: Ended,
}

/// Solutions of `compact` with T at most `most`.
///
/// # Errors
/// [`Error::Problem`] if HiGHS fails.
pub(super) fn solve(compact: &Compact, most: Option<f64>, nodes: u64, until: Option<Instant>) -> Result<Answer> {
    let failed = |why: &str| Error::Problem { what: format!("the integer program failed: {why}") };
    let mut model = Model::try_new(program(compact, most)).map_err(|_| failed("HiGHS refused it"))?;
    let left = until.map_or(f64::INFINITY, |until| until.saturating_duration_since(Instant::now()).as_secs_f64());
    options(&mut model, nodes, left).map_err(|_| failed("HiGHS refused an option"))?;
    let solved = model.try_solve().map_err(|_| failed("HiGHS ended with an error"))?;
    let (ended, bound) = match solved.status() {
        HighsModelStatus::Optimal => (Ended::Whole, dual(&solved).min(solved.objective_value())),
        // No column is free, so it is not unbounded.
        HighsModelStatus::Infeasible | HighsModelStatus::UnboundedOrInfeasible => (Ended::Empty, most.unwrap_or(0.0)),
        _ => (Ended::Limit, dual(&solved).min(most.unwrap_or(f64::INFINITY))),
    };
    let found = ended != Ended::Empty && solved.primal_solution_status() == HighsSolutionStatus::Feasible;
    Ok(Answer { x: found.then(|| solved.get_solution().columns().to_vec()), bound, ended })
}

fn dual(solved: &SolvedModel) -> f64 {
    solved.double_info_value(c"mip_dual_bound").unwrap_or(0.0)
}

fn program(compact: &Compact, most: Option<f64>) -> RowProblem {
    let mut problem = RowProblem::new();
    let program = &compact.program;
    let mut columns: Vec<Col> = Vec::with_capacity(program.costs.len());
    for (at, &cost) in program.costs.iter().enumerate() {
        columns.push(match compact.most[at] {
            Some(count) => problem.add_integer_column(cost, 0.0..=f64::from(count)),
            None => problem.add_column(cost, 0.0..=most.unwrap_or(f64::INFINITY)),
        });
    }
    for row in &program.rows {
        let terms = row.terms.iter().map(|&(column, coefficient)| (columns[column], coefficient));
        match row.sense {
            Sense::Le => problem.add_row(..=row.right, terms),
            Sense::Ge => problem.add_row(row.right.., terms),
            Sense::Eq => problem.add_row(row.right..=row.right, terms),
        };
    }
    problem
}

fn options(model: &mut Model, nodes: u64, left: f64) -> std::result::Result<(), ::highs::TrySetOptionError> {
    model.make_quiet();
    model.try_set_option("threads", 1)?;
    model.try_set_option("parallel", "off")?;
    model.try_set_option("mip_feasibility_tolerance", super::TOLERANCE)?;
    model.try_set_option("mip_rel_gap", 0.0)?;
    model.try_set_option("mip_abs_gap", 0.0)?;
    model.try_set_option("mip_max_nodes", i32::try_from(nodes).unwrap_or(i32::MAX))?;
    if left.is_finite() {
        model.try_set_option("time_limit", left)?;
    }
    Ok(())
}
