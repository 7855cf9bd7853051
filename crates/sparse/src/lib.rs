//! A reusable parallel sparse library for graph learning.
//!
//! One source of each algorithm serves every storage format, number type and executor, and a result has the same bits
//! on all of them: the order of every sum is fixed by the matrix alone ([`order`]). Start with [`Csr`], [`Block`] and
//! [`spmm`]; dense products are in [`dense`], readers in [`io`].
//!
//! No thread is started here and no sum depends on how the work was cut: work runs on a
//! [`sapwood_skeleton::Exec`], formats know no executor, kernels know no format.

mod error;
pub mod formats;
pub mod order;
pub mod scalar;
pub mod structure;

pub use error::{Error, Result};
pub use formats::csr::Csr;
pub use order::Affine;
pub use scalar::{Index, One, Real, Scalar};
pub use structure::{Structure, WorkRange};
