//! The learning rate as it is.

use super::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "const",
    form: "const",
    summary: "the same in every epoch",
    open_ended: true,
    accepts: |arguments| arguments.is_empty(),
    factor: |_, _, _| 1.0,
};
