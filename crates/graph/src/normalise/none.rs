//! A as it is.

use super::{Entry, Triple};

pub(super) const ENTRY: Entry =
    Entry { name: "none", summary: "adjacency, A", symmetric: true, triple: |d| Triple { s: d.own, l: 1.0, r: 1.0 } };
