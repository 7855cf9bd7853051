//! D − A, the Laplacian.

use super::{Entry, Triple};

pub(super) const ENTRY: Entry = Entry {
    name: "lap",
    summary: "Laplacian, D - A",
    symmetric: true,
    triple: |d| Triple { s: d.others, l: -1.0, r: 1.0 },
};
