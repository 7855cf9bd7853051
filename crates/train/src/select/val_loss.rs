//! The epoch with the smallest validation loss; ties by the earlier epoch.

use super::{Candidate, Entry};

pub(super) const ENTRY: Entry = Entry {
    name: "val-loss",
    summary: "smallest validation loss; ties: the earlier epoch",
    validates: true,
    train_mode: false,
    replaces,
};

fn replaces(new: &Candidate, best: &Candidate) -> bool {
    new.val_loss < best.val_loss
}
