//! I − D^-½AD^-½, the symmetric Laplacian; an isolated node has 1.

use super::{Entry, Triple, inverse, inverse_sqrt};

pub(super) const ENTRY: Entry = Entry {
    name: "sym-lap",
    summary: "symmetric Laplacian, I - D^-1/2 A D^-1/2",
    symmetric: true,
    triple: |d| Triple { s: 1.0 - d.own * inverse(d.sum()), l: -inverse_sqrt(d.sum()), r: inverse_sqrt(d.sum()) },
};
