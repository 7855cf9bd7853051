//! I + D^-½AD^-½, the first-order filter before the renormalisation trick of Kipf and Welling (ICLR 2017).

use super::{Entry, Triple, inverse, inverse_sqrt};

pub(super) const ENTRY: Entry = Entry {
    name: "first-order",
    summary: "identity plus symmetric normalisation, I + D^-1/2 A D^-1/2",
    symmetric: true,
    triple: |d| Triple { s: 1.0 + d.own * inverse(d.sum()), l: inverse_sqrt(d.sum()), r: inverse_sqrt(d.sum()) },
};
