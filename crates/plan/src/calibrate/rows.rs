//! Equations: the peak of a measured stage as a sum over the unknown costs.
//!
//! peak = constant + layers·parameters + Σ over kinds of (layers of the kind that are alive)·activation, at the heaviest moment
//! of the stage. How many micro-batches of which chunk are alive at a moment is the schedule's; with one chunk the heaviest
//! moment does not depend on costs, with several the caller gives costs to judge by.

use super::measured::Measured;
use crate::schedule::{self, Dims, Grouping};
use crate::simulate::{Live, Order, Vectors};
use crate::{Error, Result};

/// Most operations of a schedule that is walked here.
const MOST_OPERATIONS: usize = 1 << 23;

/// The moments that can be the peak of each stage.
#[derive(Debug)]
pub(super) struct Moments {
    stages: Vec<Vec<Live>>,
    transient: bool,
}

/// An equation: a measured stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) run: usize,
    pub(super) stage: usize,
    /// Which of the moments was judged the heaviest, and which kind has the largest transient then.
    pub(super) moment: (usize, usize),
    /// How often parameters, and the activations of each kind, are in memory.
    pub(super) coefficients: Vec<f64>,
    /// What was measured.
    pub(super) peak: f64,
}

impl Moments {
    /// The moments of a measured schedule.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Refused`] and [`Error::Deadlock`] for a schedule that does not run so, [`Error::Problem`]
    /// where the number of micro-batches matters and is not told, [`Error::TooLarge`].
    pub(super) fn of(measured: &Measured) -> Result<Moments> {
        let vectors = match measured.micro_batches {
            Some(micro_batches) => vectors(measured, micro_batches)?,
            None => {
                // Whole groups, so that the last one is as long as the others.
                let group = match measured.group {
                    Grouping::First => measured.stages,
                    Grouping::Uniform(size) => size.max(1),
                };
                let several =
                    |times: usize| times.saturating_mul(measured.stages).div_ceil(group).saturating_mul(group);
                let enough = vectors(measured, several(2))?;
                if enough != vectors(measured, several(3))? {
                    let what = format!(
                        "with {} a stage keeps the more the more micro-batches there are: write micro_batches",
                        measured.schedule
                    );
                    return Err(Error::Problem { what });
                }
                enough
            }
        };
        let stages = (0..measured.stages).map(|stage| vectors.of(stage).to_vec()).collect();
        Ok(Moments { stages, transient: measured.transient })
    }

    /// The equations of all measured stages, by run and stage; the heaviest moments are those of the costs `activations`.
    pub(super) fn rows(&self, measured: &Measured, activations: &[f64]) -> Vec<Row> {
        let mut rows = Vec::new();
        for (at, run) in measured.runs.iter().enumerate() {
            for (stage, peak) in run.peaks.iter().enumerate() {
                if let Some(peak) = *peak {
                    let chunks = (stage..run.counts.len()).step_by(measured.stages).map(|at| &run.counts[at][..]);
                    let (moment, coefficients) = self.row(&chunks.collect::<Vec<_>>(), stage, activations);
                    rows.push(Row { run: at, stage, moment, coefficients, peak });
                }
            }
        }
        rows
    }

    /// The heaviest moment of a stage that holds `chunks` (layers by kind), and the coefficients of parameters and activations
    /// at it.
    pub(super) fn row(&self, chunks: &[&[u32]], stage: usize, activations: &[f64]) -> ((usize, usize), Vec<f64>) {
        let weight = |live: &Live| {
            let kept = live.chunks.iter().zip(chunks).map(|(&n, counts)| f64::from(n) * dot(counts, activations));
            let (again, _) = self.again(live, chunks, activations);
            kept.sum::<f64>() + again
        };
        let mut best = (0, f64::NEG_INFINITY);
        for (at, live) in self.stages[stage].iter().enumerate() {
            let weight = weight(live);
            if weight > best.1 {
                best = (at, weight);
            }
        }
        let live = &self.stages[stage][best.0];
        let (_, kind) = self.again(live, chunks, activations);
        ((best.0, kind), self.coefficients(live, chunks, kind))
    }

    fn coefficients(&self, live: &Live, chunks: &[&[u32]], again: usize) -> Vec<f64> {
        let kinds = chunks.first().map_or(0, |counts| counts.len());
        let mut found = vec![0.0; 1 + kinds];
        for (counts, &alive) in chunks.iter().zip(&live.chunks) {
            for (kind, &count) in counts.iter().enumerate() {
                found[0] += f64::from(count);
                found[1 + kind] += f64::from(count) * f64::from(alive);
            }
        }
        if again > 0 {
            found[1] += 1.0;
            found[1 + again] -= 1.0;
        }
        found
    }

    /// What the backward of a moment makes again, activation(none) − activation(kind), and the kind of the layer in which that
    /// is the most; 0 for none.
    fn again(&self, live: &Live, chunks: &[&[u32]], activations: &[f64]) -> (f64, usize) {
        let Some(chunk) = live.backward.filter(|_| self.transient) else { return (0.0, 0) };
        let counts = chunks.get(chunk as usize).copied().unwrap_or_default();
        let mut most = (0.0, 0);
        for kind in (1..counts.len()).filter(|&kind| counts[kind] > 0) {
            let again = activations[0] - activations[kind];
            if again > most.0 {
                most = (again, kind);
            }
        }
        most
    }
}

fn vectors(measured: &Measured, micro_batches: usize) -> Result<Vectors> {
    let size = measured.stages.checked_mul(measured.chunks).and_then(|k| k.checked_mul(micro_batches));
    if size.is_none_or(|size| size > MOST_OPERATIONS) {
        let what = format!(
            "{} stages of {} chunks with {micro_batches} micro-batches are too many to walk through: write fewer micro_batches",
            measured.stages, measured.chunks
        );
        return Err(Error::TooLarge { what });
    }
    let dims = Dims { stages: measured.stages, chunks: measured.chunks, micro_batches, group: measured.group };
    Ok(Vectors::new(&Order::new(schedule::find(&measured.schedule)?, &dims)?))
}

fn dot(counts: &[u32], activations: &[f64]) -> f64 {
    counts.iter().zip(activations).map(|(&n, activation)| f64::from(n) * activation).sum()
}
