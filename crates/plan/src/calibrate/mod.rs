//! Calibration: what a layer costs, from measurements of runs.
//!
//! [`memory`] takes the peaks of stages apart into memory of parameters and of activations by kind of recomputation, [`times`]
//! takes traces together to one forward and one backward time for each kind of layer, [`guide`] says which runs to measure.
//! Nothing here predicts a run: how many micro-batches a stage keeps comes from [`crate::simulate::Vectors`].

mod dry_run_yaml;
mod events;
pub mod guide;
mod linear;
mod measured;
mod measured_toml;
pub mod memory;
mod missing;
mod names;
mod rows;
mod snippet;
mod student;
mod system;
mod table;
pub mod times;
mod trace;

pub use measured::{Constant, Measured, Run, parse, read};
pub use missing::{Measurement, Undetermined};
