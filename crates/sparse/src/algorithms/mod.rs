//! Iterative methods, one per file, and their registry.
//!
//! Each is written once over [`LinOp`] or [`Walk`], for every format and executor; no format is named here. Iteration
//! counts, residuals and reasons for stopping are part of every result.

pub mod cg;
pub mod lanczos;
pub mod linop;
pub mod pagerank;
mod tree;

pub use cg::{Cg, CgColumn, CgOptions, CgStop, cg};
pub use lanczos::{Lanczos, LanczosOptions, lanczos};
pub use linop::{Borrowed, LinOp, Scaled, Transposed, Walk};
pub use pagerank::{Method, PageRank, PageRankOptions, pagerank};

use crate::Fact;

/// The algorithms.
pub static ALL: &[Fact] = &[
    Fact {
        name: "cg",
        summary: "solutions of symmetric positive definite linear systems, many right-hand sides at once",
        can: &["semidefinite systems in their range", "Jacobi preconditioner", "each column stops for itself"],
    },
    Fact {
        name: "lanczos",
        summary: "largest eigenvalues and eigenvectors of symmetric operators",
        can: &["full re-orthogonalisation, thick restart", "multiple eigenvalues", "deflation of known vectors"],
    },
    Fact {
        name: "pagerank",
        summary: "stationary scores of a random walk that restarts, with a bound on their error",
        can: &[
            "power iteration",
            "Gauss-Seidel in fixed blocks",
            "Chebyshev semi-iteration on symmetric graphs",
            "weights, sinks, any teleport",
            "exact sums: ties stay ties",
        ],
    },
];
