//! D̃⁻¹(A + I), a random walk that may stay.

use super::{Entry, Triple, inverse};

pub(super) const ENTRY: Entry = Entry {
    name: "aug-rw",
    summary: "row normalisation with self-loops, D~^-1 (A+I)",
    symmetric: false,
    triple: |d| Triple { s: d.tilde * inverse(d.augmented()), l: inverse(d.augmented()), r: 1.0 },
};
