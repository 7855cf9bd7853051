//! D^-½AD^-½.

use super::{Entry, Triple, inverse, inverse_sqrt};

pub(super) const ENTRY: Entry = Entry {
    name: "sym",
    summary: "symmetric normalisation, D^-1/2 A D^-1/2",
    symmetric: true,
    triple: |d| Triple { s: d.own * inverse(d.sum()), l: inverse_sqrt(d.sum()), r: inverse_sqrt(d.sum()) },
};
