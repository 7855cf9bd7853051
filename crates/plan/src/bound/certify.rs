//! A proven bound from multipliers of rows.
//!
//! For any multipliers of the right sign the weighted sum of all rows is an inequality that every partition meets, so what it
//! leaves as the least T is a lower bound, however the multipliers were found (weak duality; Neumaier and Shcherbina 2004).
//! The multipliers come from solving the dual program; those of the assignment rows are then worked out anew, as the largest
//! that the others allow, and rounding errors are bounded term by term. So no tolerance of a solver is part of the bound.

use super::lp::{LpBackend, Program, Row, Sense};

/// Slack below which a row counts as tight.
const TIGHT: f64 = 1e-6;

/// A lower bound of the last column of `program`, T, that holds for every x that meets its rows; in units of T. `x` is a
/// minimiser, or near one. Every column but T must be in exactly one row of [`Sense::Eq`], with coefficient 1.
pub(super) fn bound(program: &Program, x: &[f64], backend: &mut dyn LpBackend) -> f64 {
    best(program, x, backend).0
}

/// The same with the multipliers of the rows that prove it, those of rows of [`Sense::Le`] times −1.
pub(super) fn best(program: &Program, x: &[f64], backend: &mut dyn LpBackend) -> (f64, Vec<f64>) {
    let goal = x.last().copied().unwrap_or(0.0);
    let rows: Vec<&Row> = program.rows.iter().collect();
    let paths = all_paths(program);
    // Each path alone: the work bounds.
    let share = 1.0 / paths.len().max(1) as f64;
    let own: Vec<f64> = (0..rows.len()).map(|at| if paths.contains(&at) { share } else { 0.0 }).collect();
    let mut best = (weak_duality(program.costs.len(), &rows, &own), own);
    for tight in [TIGHT, f64::INFINITY] {
        if let Some(found) = multipliers(program, x, tight, backend) {
            let bound = weak_duality(program.costs.len(), &rows, &found);
            best = if bound > best.0 { (bound, found) } else { best };
        }
        if best.0 >= goal * (1.0 - TIGHT) {
            break;
        }
    }
    best
}

/// Multipliers by solving the dual over the rows whose slack at `x` is at most `tight`; 0 for the others.
fn multipliers(program: &Program, x: &[f64], tight: f64, backend: &mut dyn LpBackend) -> Option<Vec<f64>> {
    let near = |row: &Row| row.sense == Sense::Eq || (row.at(x) - row.right).abs() <= tight * row.right.abs().max(1.0);
    let chosen: Vec<usize> = (0..program.rows.len()).filter(|&at| near(&program.rows[at])).collect();
    let rows: Vec<&Row> = chosen.iter().map(|&at| &program.rows[at]).collect();
    let found = backend.start(&dual(&program.costs, &rows)).ok().flatten()?;
    let mut all = vec![0.0; program.rows.len()];
    chosen.iter().zip(found).for_each(|(&at, multiplier)| all[at] = multiplier);
    Some(all)
}

fn all_paths(program: &Program) -> Vec<usize> {
    let makespan = program.costs.len() - 1;
    let is = |row: &Row| row.terms.iter().any(|&(column, _)| column == makespan);
    (0..program.rows.len()).filter(|&at| is(&program.rows[at])).collect()
}

/// The dual as a minimisation: a column for each row, rows at most their cost. Multipliers of rows of [`Sense::Le`] are
/// those of the row times −1.
fn dual(costs: &[f64], rows: &[&Row]) -> Program {
    let sign = |row: &Row| if row.sense == Sense::Le { -1.0 } else { 1.0 };
    let mut columns: Vec<Row> =
        costs.iter().map(|&cost| Row { terms: Vec::new(), sense: Sense::Le, right: cost }).collect();
    for (at, row) in rows.iter().enumerate() {
        row.terms.iter().for_each(|&(column, c)| columns[column].terms.push((at, sign(row) * c)));
    }
    Program {
        costs: rows.iter().map(|row| -sign(row) * row.right).collect(),
        free: rows.iter().map(|row| row.sense == Sense::Eq).collect(),
        rows: columns,
    }
}

/// The bound of any multipliers, whatever their quality. All columns are at least 0.
fn weak_duality(columns: usize, rows: &[&Row], multipliers: &[f64]) -> f64 {
    let makespan = columns - 1;
    // Left sides without the assignment, their sizes, and how many terms: the error of a sum is below terms · ε · size.
    let (mut left, mut size) = (vec![0.0_f64; columns], vec![0.0_f64; columns]);
    let (mut right, mut right_size) = (0.0_f64, 0.0_f64);
    for (row, &multiplier) in rows.iter().zip(multipliers) {
        if row.sense == Sense::Eq {
            continue;
        }
        let weight = if row.sense == Sense::Le { -multiplier.max(0.0) } else { multiplier.max(0.0) };
        for &(column, c) in &row.terms {
            left[column] += weight * c;
            size[column] += (weight * c).abs();
        }
        right += weight * row.right;
        right_size += (weight * row.right).abs();
    }
    // Coefficients are rounded a few times themselves.
    let epsilon = (rows.len() + columns + 64) as f64 * f64::EPSILON;
    for row in rows.iter().filter(|row| row.sense == Sense::Eq) {
        let most = |&(column, _): &(usize, f64)| -left[column] - epsilon * size[column];
        let multiplier = row.terms.iter().map(most).fold(f64::INFINITY, f64::min);
        right += multiplier * row.right;
        right_size += (multiplier * row.right).abs();
    }
    // Now T · weights of the paths ≥ right.
    let weights = left[makespan] + epsilon * size[makespan];
    let bound = (right - epsilon * right_size) / weights * (1.0 - f64::EPSILON);
    if bound.is_finite() { bound.max(0.0) } else { 0.0 }
}
