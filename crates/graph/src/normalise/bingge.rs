//! I + D̃^-½(A + I)D̃^-½, named so by the DropEdge program.

use super::{Entry, Triple, inverse, inverse_sqrt};

pub(super) const ENTRY: Entry = Entry {
    name: "bingge",
    summary: "identity plus symmetric normalisation with self-loops, I + D~^-1/2 (A+I) D~^-1/2",
    symmetric: true,
    triple: |d| Triple {
        s: 1.0 + d.tilde * inverse(d.augmented()),
        l: inverse_sqrt(d.augmented()),
        r: inverse_sqrt(d.augmented()),
    },
};
