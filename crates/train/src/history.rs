//! What happened in each epoch of a run, column by column, as curves and checkpoints want it.

use crate::evaluate::Evaluation;
use serde::{Deserialize, Serialize};

/// The epochs of a run so far, from 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// Mean training loss, dropout on, before the step of each epoch.
    pub train_loss: Vec<f64>,
    /// Learning rate of each step.
    pub lr: Vec<f64>,
    /// Nodes without an edge in each draw.
    pub isolated: Vec<u64>,
    /// The epochs that were evaluated.
    pub evaluated: Vec<u32>,
    /// Accuracy on the training nodes, dropout off, in each of those.
    pub train_acc: Vec<f64>,
    /// Loss on the validation nodes.
    pub val_loss: Vec<f64>,
    /// Accuracy on the validation nodes.
    pub val_acc: Vec<f64>,
    /// Accuracy on the test nodes.
    pub test_acc: Vec<f64>,
}

impl History {
    /// Epochs in it.
    pub fn epochs(&self) -> u32 {
        self.train_loss.len() as u32
    }

    /// Appends an epoch.
    pub(crate) fn push(&mut self, train_loss: f64, lr: f64, isolated: u64, evaluation: Option<&Evaluation>) {
        self.train_loss.push(train_loss);
        self.lr.push(lr);
        self.isolated.push(isolated);
        if let Some(found) = evaluation {
            self.evaluated.push(self.epochs());
            self.train_acc.push(found.train_acc);
            self.val_loss.push(found.val_loss);
            self.val_acc.push(found.val_acc);
            self.test_acc.push(found.test_acc);
        }
    }

    /// Standard deviation (n − 1) of the validation loss over the evaluations of the last 50 epochs: how restless the end
    /// of training is. `None` for fewer than two evaluations.
    pub fn val_loss_sd(&self) -> Option<f64> {
        let from = self.epochs().saturating_sub(50);
        let last: Vec<f64> =
            self.evaluated.iter().zip(&self.val_loss).filter(|(e, _)| **e > from).map(|(_, loss)| *loss).collect();
        let n = last.len() as f64;
        let mean = last.iter().sum::<f64>() / n;
        (last.len() > 1).then(|| (last.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
    }

    /// Whether every column has the length it must have.
    pub(crate) fn consistent(&self) -> bool {
        let (n, m) = (self.train_loss.len(), self.evaluated.len());
        let rows = [self.lr.len(), self.isolated.len()];
        let found = [self.train_acc.len(), self.val_loss.len(), self.val_acc.len(), self.test_acc.len()];
        let ascending = self.evaluated.windows(2).all(|w| w[0] < w[1]);
        let inside = self.evaluated.iter().all(|&e| e >= 1 && e as usize <= n);
        rows.iter().all(|&l| l == n) && found.iter().all(|&l| l == m) && ascending && inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_grow_together_and_the_restlessness_looks_at_the_last_epochs_alone() {
        let mut history = History::default();
        assert_eq!(history.val_loss_sd(), None);
        for epoch in 1..=100u32 {
            let val_loss = if epoch <= 50 { 100.0 * f64::from(epoch % 2) } else { f64::from(epoch % 2) };
            let found =
                Evaluation { train_acc: 0.5, val_loss, val_acc: 0.5, test_acc: 0.5, test_macro_f1: 0.5, finite: true };
            history.push(1.0, 0.1, 3, Some(&found).filter(|_| epoch.is_multiple_of(5)));
        }
        assert!(history.consistent());
        assert_eq!((history.epochs(), history.evaluated.len()), (100, 20));
        // 55, 60, ..., 100: 1 0 1 0 ...: sd of five ones and five zeros.
        assert!((history.val_loss_sd().unwrap() - (2.5f64 / 9.0).sqrt()).abs() < 1e-12);
        history.lr.pop();
        assert!(!history.consistent());
    }
}
