//! D⁻¹A, the random walk.

use super::{Entry, Triple, inverse};

pub(super) const ENTRY: Entry = Entry {
    name: "rw",
    summary: "row normalisation, D^-1 A",
    symmetric: false,
    triple: |d| Triple { s: d.own * inverse(d.sum()), l: inverse(d.sum()), r: 1.0 },
};
