//! Data-parallel execution on the machine tree, with the same bits on every shape.
//!
//! Start with [`Runtime`] (owns the workers) and [`Exec`] (runs chunked work on them). A [`ChunkPlan`] cuts the work
//! by the data alone, never by the number of threads; reductions follow the fixed tree of [`fixed_tree`]; random
//! numbers come from the counter-based streams of [`random`]. So a result depends on the input and the seed only.
//!
//! This is the only crate of the project that starts threads, draws random numbers, approximates `exp` and `ln`, or
//! asks what instructions the processor has. It knows nothing of matrices, graphs or networks.

mod chunk;
mod error;
mod exec;
pub mod fixed_tree;
pub mod isa;
pub mod launch;
pub mod math;
pub mod monoid;
mod pool;
pub mod probe;
pub mod random;
mod runtime;

pub use chunk::ChunkPlan;
pub use error::{Error, Result};
pub use exec::{Exec, Worker};
pub use monoid::Monoid;
pub use pool::arena::Arena;
pub use pool::parts::{Parts, per_chunk, rows, spans};
pub use runtime::{MAX_THREADS, Runtime};
pub use sapwood_machine::Work;
