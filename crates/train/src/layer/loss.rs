//! Softmax cross-entropy, fused with its gradient: one pass over the logits turns them into
//! G = (softmax(z) − onehot) / (number of labelled rows).
//!
//! Rows without a target give no loss and a zero gradient. Row losses are summed in double precision in the fixed tree.
//! The loss knows rows and classes; which nodes they are is the caller's business.

use crate::Result;
use crate::rows::CHUNK;
use sapwood_skeleton::monoid::Sum;
use sapwood_skeleton::{ChunkPlan, Exec, math, rows};
use sapwood_sparse::{Block, Real};

/// The class that each row should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Targets {
    class: Vec<u32>,
    count: usize,
}

/// No target.
const NONE: u32 = u32::MAX;

impl Targets {
    /// Targets of `rows` rows: `class(row)` where there is one.
    pub fn new(rows: usize, class: impl FnMut(usize) -> Option<u32>) -> Targets {
        let class: Vec<u32> = (0..rows).map(class).map(|c| c.unwrap_or(NONE)).collect();
        let count = class.iter().filter(|&&c| c != NONE).count();
        Targets { class, count }
    }

    /// Rows that have one.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The target of `row`.
    pub fn of(&self, row: usize) -> Option<u32> {
        self.class.get(row).copied().filter(|&c| c != NONE)
    }
}

/// Replaces `logits`, n × classes, by the gradient of the mean loss and returns the mean loss; NaN without targets.
/// `losses` is storage for the losses of the rows.
///
/// # Errors
/// When the executor fails.
pub fn softmax_cross_entropy<T: Real>(
    exec: Exec<'_>,
    logits: &mut Block<T>,
    targets: &Targets,
    losses: &mut Vec<f64>,
) -> Result<f64> {
    let (n, classes) = (logits.rows(), logits.cols());
    let weight = 1.0 / targets.count as f64;
    losses.resize(n, 0.0);
    let parts = (rows(logits.as_mut_slice(), classes), rows(losses.as_mut_slice(), 1));
    exec.for_chunks_mut(&ChunkPlan::of(n, CHUNK), parts, |worker, range, (logits, losses)| {
        let targets = &targets.class[range];
        let labelled = targets.iter().filter(|&&c| c != NONE).count();
        let compact = worker.arena().take::<T>(labelled * classes)?;
        log_softmax_losses(logits, targets, compact, losses);
        let mut probabilities = compact.chunks_exact(classes.max(1));
        for (row, &target) in logits.chunks_exact_mut(classes.max(1)).zip(targets) {
            match if target == NONE { None } else { probabilities.next() } {
                Some(exps) => gradient(row, exps, target as usize, weight),
                None => row.fill(T::ZERO),
            }
        }
        Ok(())
    })?;
    Ok(mean_loss(exec, targets, losses)?)
}

/// The mean loss alone; `logits` stay as they are. NaN without targets.
///
/// # Errors
/// When the executor fails.
pub fn cross_entropy<T: Real>(
    exec: Exec<'_>,
    logits: &Block<T>,
    targets: &Targets,
    losses: &mut Vec<f64>,
) -> Result<f64> {
    let (n, classes) = (logits.rows(), logits.cols());
    losses.resize(n, 0.0);
    exec.for_chunks_mut(&ChunkPlan::of(n, CHUNK), rows(losses.as_mut_slice(), 1), |worker, range, losses| {
        let logits = &logits.as_slice()[range.start * classes..range.end * classes];
        let targets = &targets.class[range];
        let labelled = targets.iter().filter(|&&c| c != NONE).count();
        let compact = worker.arena().take::<T>(labelled * classes)?;
        log_softmax_losses(logits, targets, compact, losses);
        Ok(())
    })?;
    Ok(mean_loss(exec, targets, losses)?)
}

/// For each row with a target: e^(z − max z) into the next row of `compact`, and ln Σ e^(z − max z) − (z_target − max z)
/// into `losses`; 0 for the others.
fn log_softmax_losses<T: Real>(logits: &[T], targets: &[u32], compact: &mut [T], losses: &mut [f64]) {
    let Some(classes) = logits.len().checked_div(targets.len()).filter(|&c| c > 0) else { return };
    let rows = || logits.chunks_exact(classes).zip(targets).filter(|&(_, &target)| target != NONE);
    for ((row, _), out) in rows().zip(compact.chunks_exact_mut(classes)) {
        let max = row.iter().fold(row[0], |max, &z| max.max_nan(z));
        out.iter_mut().zip(row).for_each(|(o, &z)| *o = z - max);
    }
    losses.fill(0.0);
    let mut shifted = compact.chunks_exact(classes);
    for (loss, &target) in losses.iter_mut().zip(targets).filter(|&(_, &target)| target != NONE) {
        *loss = shifted.next().map_or(0.0, |row| -row[target as usize].to_f64());
    }
    math::exp_slice(compact);
    let mut exps = compact.chunks_exact(classes);
    for (loss, _) in losses.iter_mut().zip(targets).filter(|&(_, &target)| target != NONE) {
        *loss += exps.next().map_or(0.0, |row| math::ln_f64(sum(row)));
    }
}

/// row = (exps / Σ exps − onehot(target)) · weight.
fn gradient<T: Real>(row: &mut [T], exps: &[T], target: usize, weight: f64) {
    let factor = T::from_f64(weight / sum(exps));
    row.iter_mut().zip(exps).for_each(|(g, &e)| *g = e * factor);
    row[target] -= T::from_f64(weight);
}

fn sum<T: Real>(row: &[T]) -> f64 {
    row.iter().map(|v| v.to_f64()).sum()
}

fn mean_loss(exec: Exec<'_>, targets: &Targets, losses: &[f64]) -> sapwood_skeleton::Result<f64> {
    let total = exec.reduce(losses.len(), &Sum::<f64>::new(), |i| losses[i])?;
    Ok(total / targets.count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_skeleton::Runtime;

    fn logits(n: usize, classes: usize) -> Block<f64> {
        Block::from_fn(n, classes, |i, j| ((i * 13 + j * 7) % 19) as f64 * 0.3 - 2.0).unwrap()
    }

    fn targets(n: usize, classes: usize) -> Targets {
        Targets::new(n, |i| (i % 3 != 1).then_some((i % classes) as u32))
    }

    /// The definition, row by row.
    fn plain(z: &Block<f64>, targets: &Targets) -> (f64, Vec<f64>) {
        let (mut loss, mut grad) = (0.0, vec![0.0; z.as_slice().len()]);
        for i in 0..z.rows() {
            let Some(t) = targets.of(i) else { continue };
            let total: f64 = z.row(i).iter().map(|v| v.exp()).sum();
            loss -= (z.row(i)[t as usize].exp() / total).ln();
            for j in 0..z.cols() {
                let hot = if j == t as usize { 1.0 } else { 0.0 };
                grad[i * z.cols() + j] = (z.row(i)[j].exp() / total - hot) / targets.count() as f64;
            }
        }
        (loss / targets.count() as f64, grad)
    }

    #[test]
    fn loss_and_gradient_equal_the_definition_on_any_number_of_threads() {
        for (n, classes) in [(1, 1), (12, 3), (700, 22)] {
            let targets = targets(n, classes);
            let (want, want_grad) = plain(&logits(n, classes), &targets);
            let mut bits = Vec::new();
            for threads in [1, 2, 3] {
                let runtime = Runtime::threads(threads).unwrap();
                let (mut z, mut losses) = (logits(n, classes), vec![7.0; 5]);
                let alone = cross_entropy(runtime.exec(), &z, &targets, &mut losses).unwrap();
                let loss = softmax_cross_entropy(runtime.exec(), &mut z, &targets, &mut losses).unwrap();
                assert_eq!(loss.to_bits(), alone.to_bits());
                assert!((loss - want).abs() < 1e-13 * want.abs().max(1.0), "{loss} {want}");
                assert!(z.as_slice().iter().zip(&want_grad).all(|(a, b)| (a - b).abs() < 1e-15));
                bits.push(loss.to_bits());
            }
            assert!(bits.iter().all(|b| *b == bits[0]));
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let runtime = Runtime::sequential().unwrap();
        let (n, classes, mut losses) = (12, 4, Vec::new());
        let targets = targets(n, classes);
        let mut grad = logits(n, classes);
        softmax_cross_entropy(runtime.exec(), &mut grad, &targets, &mut losses).unwrap();
        for at in 0..n * classes {
            let mut side = |step: f64| {
                let mut z = logits(n, classes);
                z.as_mut_slice()[at] += step;
                cross_entropy(runtime.exec(), &z, &targets, &mut losses).unwrap()
            };
            let slope = (side(1e-5) - side(-1e-5)) / 2e-5;
            assert!((slope - grad.as_slice()[at]).abs() < 1e-9, "{at}: {slope} {}", grad.as_slice()[at]);
        }
    }

    #[test]
    fn large_logits_stay_finite_and_nan_is_seen() {
        let runtime = Runtime::sequential().unwrap();
        let mut losses = Vec::new();
        let targets = Targets::new(2, |i| Some(i as u32));
        let mut z = Block::<f32>::from_fn(2, 2, |i, j| if i == j { 1e30 } else { -1e30 }).unwrap();
        assert_eq!(softmax_cross_entropy(runtime.exec(), &mut z, &targets, &mut losses).unwrap(), 0.0);
        assert!(z.as_slice().iter().all(|g| *g == 0.0));
        let mut z = Block::<f32>::from_fn(2, 2, |i, _| if i == 0 { f32::NAN } else { 0.0 }).unwrap();
        assert!(softmax_cross_entropy(runtime.exec(), &mut z, &targets, &mut losses).unwrap().is_nan());
        let nobody = Targets::new(2, |_| None);
        assert!(cross_entropy(runtime.exec(), &z, &nobody, &mut losses).unwrap().is_nan());
    }
}
