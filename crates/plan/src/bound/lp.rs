//! Linear programs and who solves them.
//!
//! A backend starts with a program and then takes rows one after the other, so that it may go on from the last vertex. What it
//! answers is not trusted: `certify` makes a proven bound of it. Another solver is another implementation of
//! [`LpBackend`]; nothing else here knows which one runs.

use crate::{Error, Result};
use microlp::{ComparisonOp, OptimizationDirection, Solution, SolveOutcome, Variable};

/// How the sum of a row compares with its right side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// At most.
    Le,
    /// At least.
    Ge,
    /// Equal.
    Eq,
}

/// A row of a linear program.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Columns and their coefficients, each column once.
    pub terms: Vec<(usize, f64)>,
    /// How they compare.
    pub sense: Sense,
    /// The right side.
    pub right: f64,
}

impl Row {
    /// The sum of the terms at `x`.
    pub fn at(&self, x: &[f64]) -> f64 {
        self.terms.iter().map(|&(column, coefficient)| coefficient * x[column]).sum()
    }
}

/// Minimise `costs` · x over the rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// By column.
    pub costs: Vec<f64>,
    /// By column whether it may be negative; if not it is at least 0. None has an upper bound.
    pub free: Vec<bool>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// Solves linear programs that grow.
pub trait LpBackend {
    /// Name, as reports have it.
    fn name(&self) -> &'static str;

    /// A minimiser of `program`, by column; `None` if no point meets all rows.
    ///
    /// # Errors
    /// [`Error::Problem`] if the solver fails.
    fn start(&mut self, program: &Program) -> Result<Option<Vec<f64>>>;

    /// A minimiser once `rows` are added to what was solved last; `None` if no point meets all rows.
    ///
    /// # Errors
    /// [`Error::Problem`] if the solver fails or nothing was solved before.
    fn add(&mut self, rows: &[Row]) -> Result<Option<Vec<f64>>>;
}

/// The solver in pure Rust, always there: microlp, a revised simplex method. Each new row goes on from the last vertex.
#[derive(Debug, Default)]
pub struct Microlp {
    columns: Vec<Variable>,
    solution: Option<Solution>,
}

impl Microlp {
    /// A solver that has seen no program.
    pub fn new() -> Microlp {
        Microlp::default()
    }

    fn take(&mut self, outcome: std::result::Result<SolveOutcome, microlp::Error>) -> Result<Option<Vec<f64>>> {
        let outcome = match outcome {
            Err(microlp::Error::Infeasible) => return Ok(None),
            outcome => outcome.map_err(|e| failed(&e.to_string()))?,
        };
        let solution = outcome.into_solution().map_err(|_| failed("stopped without a solution"))?;
        let x = self.columns.iter().map(|&column| solution.var_value(column)).collect();
        self.solution = Some(solution);
        Ok(Some(x))
    }
}

fn failed(why: &str) -> Error {
    Error::Problem { what: format!("the linear program of the lower bound failed: {why}") }
}

fn parts(row: &Row, columns: &[Variable]) -> (Vec<(Variable, f64)>, ComparisonOp) {
    let sense = match row.sense {
        Sense::Le => ComparisonOp::Le,
        Sense::Ge => ComparisonOp::Ge,
        Sense::Eq => ComparisonOp::Eq,
    };
    (row.terms.iter().map(|&(column, coefficient)| (columns[column], coefficient)).collect(), sense)
}

impl LpBackend for Microlp {
    fn name(&self) -> &'static str {
        "microlp"
    }

    fn start(&mut self, program: &Program) -> Result<Option<Vec<f64>>> {
        let mut problem = microlp::Problem::new(OptimizationDirection::Minimize);
        let least = |free: bool| if free { f64::NEG_INFINITY } else { 0.0 };
        let columns = program.costs.iter().zip(&program.free);
        self.columns = columns.map(|(&cost, &free)| problem.add_var(cost, (least(free), f64::INFINITY))).collect();
        for row in &program.rows {
            let (terms, sense) = parts(row, &self.columns);
            problem.add_constraint(terms, sense, row.right);
        }
        let outcome = problem.solve();
        self.take(outcome)
    }

    fn add(&mut self, rows: &[Row]) -> Result<Option<Vec<f64>>> {
        let mut x = None;
        for row in rows {
            let solution = self.solution.take().ok_or_else(|| failed("no program was started"))?;
            let (terms, sense) = parts(row, &self.columns);
            x = self.take(solution.add_constraint(terms, sense, row.right))?;
            if x.is_none() {
                break;
            }
        }
        Ok(x)
    }
}
