//! A compiler for the reductions of neural networks: softmax, norms, losses, statistics.
//!
//! A [`Program`] is a list of primitive operations on dense tensors. It comes from text, from an ONNX file or from calls of
//! its builder; composite operations (softmax, layer norm, ...) are lowered to primitives when they are added. The value of
//! every reduction is defined by the canonical tree of [`tree`], so results have the same bits for any number of threads
//! and on any device that follows it.
//!
//! Start with `program` (what is computed), then `canon` (the shortest form of a loop nest) and `exec` (how it runs).
//! Nothing here starts threads, approximates `exp`, or reads files of arrays by itself.

pub mod canon;
pub mod composites;
mod dtype;
pub mod elementwise;
mod error;
pub mod exec;
pub mod fill;
pub mod fuse;
pub mod monoids;
pub mod onnx;
mod plan;
pub mod program;
pub mod scalar;
mod tensor;
pub mod tree;

pub use dtype::{Dtype, Scalar};
pub use error::{Error, Result};
pub use monoids::{NanPolicy, Params, ReduceOp};
pub use plan::{Accum, Determinism, KernelPlan, NotFused, Options, ReducePlan, compile};
pub use program::Program;
pub use tensor::{Tensor, TensorView, c_strides, elements};
