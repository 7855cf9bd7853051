//! What parameters and activations of a layer take, from measured peaks.
//!
//! The equations of `rows` are solved by least squares. With several chunks, or with transients, the heaviest moment
//! of a stage depends on the costs: it is chosen by the costs found so far until it stays the same, so that what is found agrees
//! with the simulator. The head is the peak of the first stage without its layers, the tail that of the last one; both contain
//! the constant.

use super::linear::Factors;
use super::measured::{Constant, Measured};
use super::missing::{self, Undetermined};
use super::rows::{Moments, Row};
use super::student::t95;
use super::system::{Column, Solution, System, end, first, guess};
use crate::Result;
use std::collections::BTreeSet;

/// Most times that the heaviest moments are chosen anew.
const MOST_ROUNDS: usize = 100;
/// Residuals and values below this part of the largest peak are rounding.
const ROUNDING: f64 = 1e-9;

/// What measurements say.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The costs.
    Found(Fit),
    /// They do not determine the costs.
    Undetermined(Undetermined),
}

/// Costs, in the unit of the measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The unknowns: `constant` (where it is one), `parameters`, and `activation.KIND` for each kind.
    pub unknowns: Vec<Unknown>,
    /// Rank of the equations, the number of unknowns.
    pub rank: usize,
    /// Condition number of the equations, their columns scaled to unit norm.
    pub condition: f64,
    /// The measurements that were fitted.
    pub residuals: Vec<Residual>,
    /// Memory of the first stage besides its layers, the constant in it; none where it was not measured. With one stage the
    /// tail is in it, too.
    pub head: Option<f64>,
    /// The same of the last stage.
    pub tail: Option<f64>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// A cost that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Half the width of its 95 % interval (Student's t); none where there are as many unknowns as equations.
    pub ci95: Option<f64>,
    /// The most that it moves if each measured peak is wrong by 1 at most.
    pub gain: f64,
}

/// A measurement and what was found for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Residual {
    /// The run, counted from 0.
    pub run: usize,
    /// The stage.
    pub stage: usize,
    /// What was measured.
    pub peak: f64,
    /// What the costs give.
    pub fitted: f64,
}

/// Finds the costs of measured runs.
///
/// # Errors
/// [`crate::Error::Unknown`], [`crate::Error::Refused`], [`crate::Error::Deadlock`] for a schedule that does not run so,
/// [`crate::Error::Problem`] where it needs the number of micro-batches, [`crate::Error::TooLarge`].
pub fn fit(measured: &Measured) -> Result<Verdict> {
    let moments = Moments::of(measured)?;
    let rows = first(measured, &moments);
    let system = System::new(measured, &rows);
    match settle(&system, &moments, rows) {
        Ok((rows, solution, settled)) => Ok(Verdict::Found(finish(&system, &rows, &solution, settled))),
        Err((rows, factors)) => Ok(Verdict::Undetermined(missing::find(&system, &moments, &rows, &factors))),
    }
}

type Settled = (Vec<Row>, Solution, bool);

/// Chooses the heaviest moments by the costs until they stay the same, from several first guesses; of those that agree with
/// themselves the one with the smallest residuals. The last part says whether there was such a one.
fn settle(system: &System<'_>, moments: &Moments, rows: Vec<Row>) -> std::result::Result<Settled, (Vec<Row>, Factors)> {
    let kinds = system.measured.kinds.len();
    let mut best: Option<Settled> = None;
    let mut deficient = None;
    let starts = [
        rows,
        moments.rows(system.measured, &guess(kinds, 1.0, 1.0)),
        moments.rows(system.measured, &guess(kinds, 1.0, 0.6)),
    ];
    let mut tried = BTreeSet::new();
    for mut rows in starts {
        for _ in 0..MOST_ROUNDS {
            let chosen: Vec<(usize, usize)> = rows.iter().map(|row| row.moment).collect();
            if !tried.insert(chosen) {
                break;
            }
            let solution = match system.solve(&rows) {
                Ok(solution) => solution,
                Err(factors) => {
                    deficient.get_or_insert((rows, factors));
                    break;
                }
            };
            let next = moments.rows(system.measured, &system.activations(&solution.values));
            let same = next.iter().zip(&rows).all(|(a, b)| a.coefficients == b.coefficients);
            let better = |(_, other, settled): &Settled| (!same, solution.squares()) < (!settled, other.squares());
            if best.as_ref().is_none_or(better) {
                best = Some((rows, solution, same));
            }
            rows = next;
            if same {
                break;
            }
        }
    }
    match (best, deficient) {
        (Some(best), _) => Ok(best),
        (None, Some(deficient)) => Err(deficient),
        (None, None) => Err((Vec::new(), Factors::of(&[], system.columns.len()))),
    }
}

/// The costs of a solution, with how sure they are.
fn finish(system: &System<'_>, rows: &[Row], solution: &Solution, settled: bool) -> Fit {
    let most = rows.iter().map(|row| row.peak).fold(0.0, f64::max);
    let inverse = inverse(solution);
    let freedom = solution.freedom();
    let sigma = (freedom > 0).then(|| (solution.squares() / freedom as f64).sqrt());
    let unknown = |(at, &column): (usize, &Column)| {
        let row = &inverse[at];
        let error = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        Unknown {
            name: system.name(column),
            value: rounded(solution.values[at], most),
            ci95: sigma.map(|sigma| rounded(t95(freedom) * sigma * error, most)),
            gain: row.iter().map(|x| x.abs()).sum(),
        }
    };
    let unknowns: Vec<Unknown> = system.columns.iter().enumerate().map(unknown).collect();
    let [head, tail] = ends(system, rows, &solution.values, most);
    let mut residuals: Vec<Residual> = solution
        .equations
        .of
        .iter()
        .zip(&solution.residuals)
        .map(|(&at, residual)| {
            let Row { run, stage, peak, .. } = rows[at];
            Residual { run, stage, peak, fitted: peak - rounded(*residual, most) }
        })
        .collect();
    residuals.sort_by_key(|residual| (residual.run, residual.stage));
    let mut fit = Fit {
        rank: solution.factors.rank(),
        condition: solution.factors.condition().unwrap_or(f64::INFINITY),
        unknowns,
        residuals,
        head,
        tail,
        warnings: Vec::new(),
    };
    fit.warnings = warnings(system, &fit, settled);
    fit
}

/// The pseudo-inverse by unknown and measurement. Over the measurements of an end its rows sum to 0, so that taking their mean
/// off changes nothing.
pub(super) fn inverse(solution: &Solution) -> Vec<Vec<f64>> {
    let rows = solution.equations.matrix.len();
    let mut found = vec![vec![0.0; rows]; solution.values.len()];
    for at in 0..rows {
        let mut unit = vec![0.0; rows];
        unit[at] = 1.0;
        for (row, value) in found.iter_mut().zip(solution.factors.solve(&unit)) {
            row[at] = value;
        }
    }
    found
}

/// Head and tail: means over the runs of a peak without what its layers take.
fn ends(system: &System<'_>, rows: &[Row], values: &[f64], most: f64) -> [Option<f64>; 2] {
    [0, 1].map(|which| {
        let of_layers = |row: &Row| {
            let columns = system.columns.iter().zip(values);
            columns.map(|(&column, value)| system.coefficient(row, column) * value).sum::<f64>()
        };
        let all = rows.iter().filter(|row| end(system.measured, row.stage) == Some(which));
        let all: Vec<f64> = all.map(|row| row.peak - of_layers(row)).collect();
        (!all.is_empty()).then(|| rounded(all.iter().sum::<f64>() / all.len() as f64, most))
    })
}

/// Exact zeros in place of what is left by rounding.
fn rounded(value: f64, most: f64) -> f64 {
    if value.abs() <= most * ROUNDING { 0.0 } else { value }
}

fn warnings(system: &System<'_>, fit: &Fit, settled: bool) -> Vec<String> {
    let measured = system.measured;
    let mut found = measured.warnings.clone();
    if !settled {
        found.push(
            "no choice of the heaviest moments agrees with the costs found for it; these are the costs with the smallest \
             residuals, measure with the same layers in all chunks of a stage"
                .to_owned(),
        );
    }
    if measured.constant == Constant::IfEnough && !system.columns.contains(&Column::Constant) {
        found.push("too few stages are measured to find a constant, it is left out".to_owned());
    }
    if measured.constant == Constant::Yes && !system.columns.contains(&Column::Constant) {
        found.push("no stage without head and tail is measured: the constant is part of both".to_owned());
    }
    if measured.stages == 1 {
        found.push("with one stage the head contains the tail".to_owned());
    }
    let ends = [("head", fit.head), ("tail", fit.tail)];
    let values = fit.unknowns.iter().map(|unknown| (unknown.name.as_str(), Some(unknown.value))).chain(ends);
    for (name, value) in values {
        if let Some(value) = value.filter(|&value| value < 0.0) {
            found.push(format!("{name} is {value:.2}, below 0: measurements and model do not agree"));
        }
    }
    let of = |name: &str| fit.unknowns.iter().find(|unknown| unknown.name == name).map(|unknown| unknown.value);
    if let Some(none) = of("activation.none") {
        for kind in &measured.kinds[1..] {
            if let Some(value) = of(&format!("activation.{kind}")).filter(|&value| value > none) {
                found.push(format!("activation.{kind} is {value:.2}, more than the {none:.2} without recomputation"));
            }
        }
    }
    found
}
