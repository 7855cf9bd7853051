//! Which epoch of a run is reported: one file per rule and one line in [`ALL`].
//!
//! A rule sees validation results only; by type it cannot see a test label. The choice moves results by up to two
//! points, so it is always printed.

mod dropedge;
mod last;
mod val_acc;
mod val_loss;

/// What a rule may look at: the results of one evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Epoch, from 1.
    pub epoch: u32,
    /// Mean loss on the validation nodes, dropout off; NaN without any.
    pub val_loss: f64,
    /// Share of the validation nodes classified rightly; NaN without any.
    pub val_acc: f64,
    /// Mean loss on the validation nodes in the epoch's own pass, taken before its step: dropout on, on the sampled graph.
    /// NaN unless the rule [asks](Entry::train_mode) for it.
    pub train_mode_val_loss: f64,
}

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--select` spells it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Whether the rule needs labelled validation nodes.
    pub validates: bool,
    /// Whether the rule reads [`Candidate::train_mode_val_loss`], which the trainer computes for such rules only.
    pub train_mode: bool,
    /// Whether the later candidate (first argument) replaces the best so far (second).
    pub replaces: fn(&Candidate, &Candidate) -> bool,
}

/// Every rule; the first is the default.
pub static ALL: &[Entry] = &[val_acc::ENTRY, val_loss::ENTRY, last::ENTRY, dropedge::ENTRY];

/// The registry line of `name` among `all`.
///
/// # Errors
/// With the valid names and the nearest one.
pub fn find<'a>(all: &'a [Entry], name: &str) -> crate::Result<&'a Entry> {
    let known = all.iter().map(|e| e.name);
    all.iter()
        .find(|e| e.name == name)
        .ok_or_else(|| sapwood_graph::Error::unknown("selection rule", name, known).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(rule: &str, candidates: &[(f64, f64)]) -> u32 {
        let rule = find(ALL, rule).unwrap();
        let mut chosen: Option<Candidate> = None;
        for (i, &(val_loss, val_acc)) in candidates.iter().enumerate() {
            let new = Candidate { epoch: i as u32 + 1, val_loss, val_acc, train_mode_val_loss: f64::NAN };
            if chosen.is_none_or(|old| (rule.replaces)(&new, &old)) {
                chosen = Some(new);
            }
        }
        chosen.unwrap().epoch
    }

    #[test]
    fn accuracy_then_smaller_loss_then_the_earlier_epoch() {
        assert_eq!(best("val-acc", &[(1.0, 0.5), (2.0, 0.7), (0.1, 0.6)]), 2);
        assert_eq!(best("val-acc", &[(1.0, 0.7), (0.9, 0.7), (0.95, 0.7)]), 2);
        assert_eq!(best("val-acc", &[(0.9, 0.7), (0.9, 0.7)]), 1);
    }

    #[test]
    fn loss_and_last() {
        assert_eq!(best("val-loss", &[(1.0, 0.9), (0.5, 0.1), (0.5, 0.9)]), 2);
        assert_eq!(best("last", &[(1.0, 0.9), (0.5, 0.1), (9.0, 0.0)]), 3);
        assert_eq!(best("last", &[(f64::NAN, f64::NAN), (f64::NAN, f64::NAN)]), 2);
    }

    #[test]
    fn only_the_dropedge_rule_asks_for_the_loss_of_the_training_pass() {
        let asking: Vec<&str> = ALL.iter().filter(|e| e.train_mode).map(|e| e.name).collect();
        assert_eq!(asking, ["dropedge"]);
        assert!(ALL.iter().all(|e| e.validates || !e.train_mode));
    }
}
