//! Kernels, one per file, over any format, number type and executor, and their registry.
//!
//! Kernels know no format by name. Each has a slow twin in [`reference`](mod@reference).

pub mod reference;
pub mod spmm;
pub mod spmm_t;

use crate::Fact;

/// The kernels.
pub static ALL: &[Fact] = &[
    Fact {
        name: "spmm",
        summary: "sparse times dense, rows of the result from rows of the matrix",
        can: &["k = 1 (SpMV) and k >= 2", "fused scaling", "alpha and beta", "rows cut across work items"],
    },
    Fact {
        name: "spmm_t",
        summary: "transposed sparse times dense, without building the transpose",
        can: &["k = 1 and k >= 2", "fused scaling", "alpha and beta"],
    },
];
