//! The pipeline planner: where to cut a very large network into stages, what to recompute, in which order to run.
//!
//! Start with [`schedule`] (the order in which stages run), [`simulate`] (exact time and memory of it), and read on in the
//! order of the modules. The simulator is the only judge: nothing else here decides how long a plan takes or whether it fits.

mod error;

pub mod baseline;
pub mod bound;
pub mod calibrate;
pub mod cost_expr;
pub mod explain;
pub mod export;
pub mod import;
pub mod layout;
pub mod megatron;
pub mod model;
pub mod outcome;
pub mod problem;
pub mod recompute;
pub mod report;
pub mod schedule;
pub mod search;
pub mod simulate;
pub mod solve;
pub mod ticks;
mod toml_table;

pub use error::{Error, Result};
