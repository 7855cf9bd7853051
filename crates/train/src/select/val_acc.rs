//! The epoch with the highest validation accuracy; ties by the smaller validation loss, then the earlier epoch.

use super::{Candidate, Entry};

pub(super) const ENTRY: Entry = Entry {
    name: "val-acc",
    summary: "highest validation accuracy; ties: smaller validation loss, then the earlier epoch",
    validates: true,
    train_mode: false,
    replaces,
};

fn replaces(new: &Candidate, best: &Candidate) -> bool {
    new.val_acc > best.val_acc || (new.val_acc == best.val_acc && new.val_loss < best.val_loss)
}
