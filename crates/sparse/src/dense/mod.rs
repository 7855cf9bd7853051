//! Dense storage and dense products: the only way to them in this project.
//!
//! [`Block`] holds the numbers, [`gemm`], [`gemm_bt`] and [`gemm_at`] multiply them. No thread pool of a library is ever
//! used: blocks of rows run on our executor.

pub(crate) mod block;
mod gemm;

pub use block::Block;
pub use gemm::{ROWS, gemm, gemm_at, gemm_bt};
