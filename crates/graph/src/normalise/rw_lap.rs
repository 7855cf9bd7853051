//! I − D⁻¹A, the Laplacian of the random walk; an isolated node has 1.

use super::{Entry, Triple, inverse};

pub(super) const ENTRY: Entry = Entry {
    name: "rw-lap",
    summary: "random-walk Laplacian, I - D^-1 A",
    symmetric: false,
    triple: |d| Triple { s: 1.0 - d.own * inverse(d.sum()), l: -inverse(d.sum()), r: 1.0 },
};
