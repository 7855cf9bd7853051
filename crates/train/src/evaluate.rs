//! How good logits are: loss and accuracy on the validation nodes, accuracy and macro F1 on the test nodes.
//!
//! One pass over logits that were computed once serves all parts of a split. Nothing here changes a network or chooses an
//! epoch; [`crate::select`] sees the validation results alone.

use crate::Result;
use crate::layer::loss::{Targets, cross_entropy};
use crate::rows::CHUNK;
use sapwood_skeleton::{ChunkPlan, Exec, rows};
use sapwood_sparse::{Block, Real};
use serde::{Deserialize, Serialize};

/// The three parts of a split, labelled nodes only.
#[derive(Debug, Clone)]
pub struct Judges {
    /// Nodes that train.
    pub train: Targets,
    /// Nodes that choose.
    pub val: Targets,
    /// Nodes that judge.
    pub test: Targets,
}

/// What one evaluation found. Without nodes a mean is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// Share of the training nodes classified rightly, dropout off.
    pub train_acc: f64,
    /// Mean loss of the validation nodes.
    pub val_loss: f64,
    /// Share of the validation nodes classified rightly.
    pub val_acc: f64,
    /// Share of the test nodes classified rightly.
    pub test_acc: f64,
    /// Mean over the classes that a test node has or is given of the harmonic mean of precision and recall.
    pub test_macro_f1: f64,
    /// No logit is NaN or infinite.
    pub finite: bool,
}

/// Storage of evaluations, reused from one to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    predicted: Vec<u32>,
    losses: Vec<f64>,
    counts: Vec<Counts>,
}

/// Test nodes of one class: rightly given it, given it, having it.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    right: u64,
    given: u64,
    has: u64,
}

/// The class of a row with a logit that is not finite.
pub const BROKEN: u32 = u32::MAX;

/// Judges `logits`, n × classes.
///
/// # Errors
/// When the executor fails.
pub fn evaluate<T: Real>(
    exec: Exec<'_>,
    logits: &Block<T>,
    judges: &Judges,
    scratch: &mut Scratch,
) -> Result<Evaluation> {
    predict(exec, logits, &mut scratch.predicted)?;
    let predicted = &scratch.predicted;
    Ok(Evaluation {
        train_acc: accuracy(predicted, &judges.train),
        val_loss: cross_entropy(exec, logits, &judges.val, &mut scratch.losses)?,
        val_acc: accuracy(predicted, &judges.val),
        test_acc: accuracy(predicted, &judges.test),
        test_macro_f1: macro_f1(predicted, &judges.test, logits.cols(), &mut scratch.counts),
        finite: !predicted.contains(&BROKEN),
    })
}

/// The class of each row: the largest logit, the lowest class where two are equal; [`BROKEN`] where one is not finite.
///
/// # Errors
/// When the executor fails.
pub fn predict<T: Real>(exec: Exec<'_>, logits: &Block<T>, predicted: &mut Vec<u32>) -> Result<()> {
    let classes = logits.cols();
    predicted.resize(logits.rows(), 0);
    exec.for_chunks_mut(&ChunkPlan::of(logits.rows(), CHUNK), rows(predicted.as_mut_slice(), 1), |_, range, out| {
        let logits = &logits.as_slice()[range.start * classes..range.end * classes];
        for (out, row) in out.iter_mut().zip(logits.chunks_exact(classes.max(1))) {
            *out = largest(row);
        }
        Ok(())
    })?;
    Ok(())
}

fn largest<T: Real>(row: &[T]) -> u32 {
    let mut best = 0;
    for (class, z) in row.iter().enumerate() {
        if !z.is_finite() {
            return BROKEN;
        }
        if *z > row[best] {
            best = class;
        }
    }
    best as u32
}

/// How often test nodes of one class were given another: `counts[has · classes + given]`.
pub fn confusion(predicted: &[u32], targets: &Targets, classes: usize) -> Vec<u64> {
    let mut counts = vec![0; classes * classes];
    for (row, &given) in predicted.iter().enumerate() {
        let cell = targets.of(row).map(|has| has as usize * classes + given as usize);
        if let Some(count) = cell.filter(|_| given != BROKEN).and_then(|cell| counts.get_mut(cell)) {
            *count += 1;
        }
    }
    counts
}

/// The share of targets that are met.
pub(crate) fn accuracy(predicted: &[u32], targets: &Targets) -> f64 {
    let right = predicted.iter().enumerate().filter(|&(row, &p)| targets.of(row) == Some(p)).count();
    right as f64 / targets.count() as f64
}

fn macro_f1(predicted: &[u32], targets: &Targets, classes: usize, counts: &mut Vec<Counts>) -> f64 {
    counts.clear();
    counts.resize(classes, Counts::default());
    for (row, &given) in predicted.iter().enumerate() {
        let Some(has) = targets.of(row) else { continue };
        if let Some(c) = counts.get_mut(has as usize) {
            c.has += 1;
            c.right += u64::from(given == has);
        }
        if let Some(c) = counts.get_mut(given as usize) {
            c.given += 1;
        }
    }
    let seen = counts.iter().filter(|c| c.has + c.given > 0);
    let (sum, number) =
        seen.fold((0.0, 0u32), |(sum, n), c| (sum + 2.0 * c.right as f64 / (c.has + c.given) as f64, n + 1));
    sum / f64::from(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_skeleton::Runtime;

    fn judged(rows: &[[f32; 3]], test: &[i32]) -> Evaluation {
        let runtime = Runtime::threads(2).unwrap();
        let logits = Block::from_fn(rows.len(), 3, |i, j| rows[i][j]).unwrap();
        let targets = Targets::new(rows.len(), |i| u32::try_from(test[i]).ok());
        let nobody = Targets::new(rows.len(), |_| None);
        let judges = Judges { train: targets.clone(), val: nobody, test: targets };
        evaluate(runtime.exec(), &logits, &judges, &mut Scratch::default()).unwrap()
    }

    #[test]
    fn accuracy_and_macro_f1_by_hand() {
        // Given 0 0 1 2 1; has 0 1 1 1 -1. Class 0: 1 of 2 given, 1 has: 2/3. Class 1: right 1, given 1, has 3: 1/2.
        // Class 2: given 1, has 0: 0. Scikit-learn's f1_score(average="macro") says the same.
        let rows = [[1.0, 0.0, 0.0], [2.0, 1.0, 2.0], [0.0, 9.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];
        let e = judged(&rows, &[0, 1, 1, 1, -1]);
        assert_eq!((e.test_acc, e.train_acc, e.finite), (0.5, 0.5, true));
        assert!((e.test_macro_f1 - (2.0 / 3.0 + 0.5 + 0.0) / 3.0).abs() < 1e-15);
        assert!(e.val_acc.is_nan() && e.val_loss.is_nan());
    }

    #[test]
    fn a_nan_logit_is_seen_and_never_right() {
        let e = judged(&[[f32::NAN, 0.0, 0.0], [0.0, 1.0, 0.0]], &[0, 1]);
        assert_eq!((e.test_acc, e.finite), (0.5, false));
    }
}
