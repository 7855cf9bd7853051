//! The rule of the published DropEdge program, kept so that its results can be compared with: the epoch whose training
//! pass had the smallest loss on the validation nodes; ties: the later epoch.
//!
//! Two things are wrong with it. The loss is that of the pass which trains, with dropout on and on the sampled graph, so
//! noise has a part in the choice: of epochs that are equally good it takes one that was lucky in its draw. And that loss
//! is taken *before* the step while the weights are kept from *after* it, so what is reported are not the weights that were
//! judged. Use `val-acc` or `val-loss` for anything but parity.

use super::{Candidate, Entry};

pub(super) const ENTRY: Entry = Entry {
    name: "dropedge",
    summary: "for parity: smallest validation loss of the training pass before the step, weights from after it; ties: the later epoch",
    validates: true,
    train_mode: true,
    replaces,
};

/// A loss that is no number is replaced by any that follows.
fn replaces(new: &Candidate, best: &Candidate) -> bool {
    new.train_mode_val_loss <= best.train_mode_val_loss || best.train_mode_val_loss.is_nan()
}

#[cfg(test)]
mod tests {
    use super::super::{ALL, Candidate, find};

    /// The epoch chosen by (train-mode loss, loss, accuracy) of each.
    fn best(epochs: &[(f64, f64, f64)]) -> u32 {
        let rule = find(ALL, "dropedge").unwrap();
        let candidates = epochs.iter().zip(1..).map(|(&(train_mode_val_loss, val_loss, val_acc), epoch)| Candidate {
            epoch,
            val_loss,
            val_acc,
            train_mode_val_loss,
        });
        candidates.reduce(|old, new| if (rule.replaces)(&new, &old) { new } else { old }).unwrap().epoch
    }

    #[test]
    fn the_smallest_loss_of_the_training_pass_whatever_evaluation_says() {
        assert_eq!(best(&[(1.0, 0.1, 0.9), (0.5, 0.9, 0.1), (0.7, 0.0, 1.0)]), 2);
    }

    #[test]
    fn ties_go_to_the_later_epoch() {
        assert_eq!(best(&[(0.5, 0.1, 0.9), (0.5, 0.9, 0.1), (0.6, 0.1, 0.9), (0.5, 0.9, 0.1), (0.7, 0.0, 1.0)]), 4);
    }

    #[test]
    fn a_loss_that_is_no_number_never_stays() {
        assert_eq!(best(&[(f64::NAN, 0.1, 0.9), (0.5, 0.9, 0.1)]), 2);
        assert_eq!(best(&[(0.5, 0.9, 0.1), (f64::NAN, 0.1, 0.9)]), 1);
        assert_eq!(best(&[(f64::INFINITY, 0.9, 0.1), (0.5, 0.1, 0.9)]), 2);
    }
}
