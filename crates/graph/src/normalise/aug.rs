//! D̃^-½(A + I)D̃^-½, the propagation of Kipf and Welling (ICLR 2017).

use super::{Entry, Triple, inverse, inverse_sqrt};

pub(super) const ENTRY: Entry = Entry {
    name: "aug",
    summary: "symmetric normalisation with self-loops, D~^-1/2 (A+I) D~^-1/2 (GCN)",
    symmetric: true,
    triple: |d| Triple {
        s: d.tilde * inverse(d.augmented()),
        l: inverse_sqrt(d.augmented()),
        r: inverse_sqrt(d.augmented()),
    },
};
