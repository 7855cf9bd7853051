//! The system of equations of measured runs: which costs are unknown, and what each measured stage says about them.
//!
//! A stage between the first and the last gives an equation. The first stage holds the head and the last one the tail, each
//! an unknown of its own; with one measurement of it such a stage says nothing else, with several (of several runs) their
//! differences from their mean do, which is what eliminating the head or the tail from least squares leaves.

use super::linear::Factors;
use super::measured::{Constant, Measured};
use super::rows::{Moments, Row};

/// An unknown cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Memory of each stage besides its layers.
    Constant,
    /// Memory of a layer that is always there.
    Parameters,
    /// What a layer keeps with a kind of recomputation, by its place.
    Activation(usize),
}

/// The unknowns of measured runs.
#[derive(Debug)]
pub(super) struct System<'a> {
    pub(super) measured: &'a Measured,
    pub(super) columns: Vec<Column>,
}

/// Equations, ready to be solved.
#[derive(Debug)]
pub(super) struct Equations {
    /// By row the coefficients of the unknowns.
    pub(super) matrix: Vec<Vec<f64>>,
    /// By row the measured side.
    pub(super) right: Vec<f64>,
    /// By row the place of the measurement among those given.
    pub(super) of: Vec<usize>,
    /// Rows that are linear in others, as differences from a mean are.
    pub(super) spent: usize,
}

/// A solution.
#[derive(Debug)]
pub(super) struct Solution {
    pub(super) factors: Factors,
    pub(super) equations: Equations,
    /// By column.
    pub(super) values: Vec<f64>,
    /// By row, measured − fitted.
    pub(super) residuals: Vec<f64>,
}

impl<'a> System<'a> {
    /// The unknowns of `measured`, whose measured stages are `rows`.
    pub(super) fn new(measured: &'a Measured, rows: &[Row]) -> System<'a> {
        let has = |kind: usize| {
            rows.iter().any(|row| {
                let counts = &measured.runs[row.run].counts;
                (row.stage..counts.len()).step_by(measured.stages).any(|at| counts[at][kind] > 0)
            })
        };
        let kinds = (0..measured.kinds.len()).filter(|&kind| kind > 0 && measured.all_kinds || has(kind));
        let mut columns: Vec<Column> =
            [Column::Constant, Column::Parameters].into_iter().chain(kinds.map(Column::Activation)).collect();
        // Without a stage that has neither head nor tail they contain the constant.
        let between = rows.iter().filter(|row| end(measured, row.stage).is_none()).count();
        let constant = match measured.constant {
            Constant::Yes => between > 0,
            Constant::No => false,
            Constant::IfEnough => between >= columns.len(),
        };
        if !constant {
            columns.remove(0);
        }
        System { measured, columns }
    }

    /// The name of an unknown.
    pub(super) fn name(&self, column: Column) -> String {
        match column {
            Column::Constant => "constant".to_owned(),
            Column::Parameters => "parameters".to_owned(),
            Column::Activation(kind) => format!("activation.{}", self.measured.kinds[kind]),
        }
    }

    /// The coefficient of an unknown in a row.
    pub(super) fn coefficient(&self, row: &Row, column: Column) -> f64 {
        match column {
            Column::Constant => f64::from(u8::from(end(self.measured, row.stage).is_none())),
            Column::Parameters => row.coefficients[0],
            Column::Activation(kind) => row.coefficients[1 + kind],
        }
    }

    /// The equations of `rows`.
    pub(super) fn equations(&self, rows: &[Row]) -> Equations {
        let mut found = Equations { matrix: Vec::new(), right: Vec::new(), of: Vec::new(), spent: 0 };
        let line = |row: &Row| self.columns.iter().map(|&column| self.coefficient(row, column)).collect::<Vec<f64>>();
        let mut ends: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        for (at, row) in rows.iter().enumerate() {
            match end(self.measured, row.stage) {
                Some(end) => ends[end].push(at),
                None => found.push(line(row), row.peak, at),
            }
        }
        for all in ends.into_iter().filter(|all| all.len() > 1) {
            found.spent += 1;
            let count = all.len() as f64;
            let lines: Vec<Vec<f64>> = all.iter().map(|&at| line(&rows[at])).collect();
            let mean: Vec<f64> =
                (0..self.columns.len()).map(|j| lines.iter().map(|l| l[j]).sum::<f64>() / count).collect();
            let peak = all.iter().map(|&at| rows[at].peak).sum::<f64>() / count;
            for (&at, line) in all.iter().zip(lines) {
                let line = line.iter().zip(&mean).map(|(value, mean)| value - mean).collect();
                found.push(line, rows[at].peak - peak, at);
            }
        }
        found
    }

    /// The least-squares solution; the factors alone where the equations do not determine it.
    pub(super) fn solve(&self, rows: &[Row]) -> Result<Solution, Factors> {
        let equations = self.equations(rows);
        let factors = Factors::of(&equations.matrix, self.columns.len());
        if !factors.is_full() {
            return Err(factors);
        }
        let values = factors.solve(&equations.right);
        let fitted = |line: &Vec<f64>| line.iter().zip(&values).map(|(a, x)| a * x).sum::<f64>();
        let residuals =
            equations.matrix.iter().zip(&equations.right).map(|(line, right)| right - fitted(line)).collect();
        Ok(Solution { factors, equations, values, residuals })
    }

    /// Activations by kind, 0 for those that are no unknown.
    pub(super) fn activations(&self, values: &[f64]) -> Vec<f64> {
        let mut found = vec![0.0; self.measured.kinds.len()];
        for (&column, &value) in self.columns.iter().zip(values) {
            if let Column::Activation(kind) = column {
                found[kind] = value;
            }
        }
        found
    }
}

impl Equations {
    fn push(&mut self, line: Vec<f64>, right: f64, of: usize) {
        self.matrix.push(line);
        self.right.push(right);
        self.of.push(of);
    }
}

impl Solution {
    /// Sum of the squares of the residuals.
    pub(super) fn squares(&self) -> f64 {
        self.residuals.iter().map(|r| r * r).sum()
    }

    /// Degrees of freedom that are left.
    pub(super) fn freedom(&self) -> usize {
        self.residuals.len().saturating_sub(self.equations.spent + self.values.len())
    }
}

/// Whether a stage holds the head (0) or the tail (1); with one stage both are one.
pub(super) fn end(measured: &Measured, stage: usize) -> Option<usize> {
    match stage {
        0 => Some(0),
        s if s + 1 == measured.stages => Some(1),
        _ => None,
    }
}

/// Activations to judge moments by before anything is known: the first kind keeps `most`, the last one `least`.
pub(super) fn guess(kinds: usize, most: f64, least: f64) -> Vec<f64> {
    let step = (most - least) / kinds.saturating_sub(1).max(1) as f64;
    (0..kinds).map(|kind| most - step * kind as f64).collect()
}

/// The moments and a first guess at the equations.
pub(super) fn first(measured: &Measured, moments: &Moments) -> Vec<Row> {
    moments.rows(measured, &guess(measured.kinds.len(), 1.0, 0.1))
}
