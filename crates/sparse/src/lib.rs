//! A reusable parallel sparse library for graph learning.
//!
//! One source of each algorithm serves every storage format, number type and executor, and a result has the same bits
//! on all of them: the order of every sum is fixed by the matrix alone ([`order`]). Start with [`Csr`], [`Block`] and
//! [`spmm`]; dense products are in [`dense`], readers in [`io`].
//!
//! No thread is started here and no sum depends on how the work was cut: work runs on a
//! [`sapwood_skeleton::Exec`], formats know no executor, kernels know no format.

pub mod algorithms;
pub mod any;
pub mod check;
pub mod dense;
pub mod describe;
mod error;
pub mod formats;
pub mod io;
pub mod kernels;
mod micro;
pub mod order;
pub mod plan;
pub mod planned;
mod registry;
pub mod reshape;
pub mod scalar;
pub mod scale;
mod scratch;
pub mod structure;

pub use dense::Block;
pub use error::{Error, Result};
pub use formats::csr::Csr;
pub use kernels::spmm::spmm;
pub use kernels::spmm_t::spmm_transposed;
pub use order::Affine;
pub use plan::WorkPlan;
pub use planned::{Multiply, Planned};
pub use registry::Fact;
pub use reshape::transpose;
pub use scalar::{Index, One, Real, Scalar};
pub use scale::Scale;
pub use structure::{Structure, WorkRange};
