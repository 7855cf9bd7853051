//! A + I.

use super::{Entry, Triple};

pub(super) const ENTRY: Entry = Entry {
    name: "identity-plus",
    summary: "adjacency with self-loops, A + I",
    symmetric: true,
    triple: |d| Triple { s: d.tilde, l: 1.0, r: 1.0 },
};
