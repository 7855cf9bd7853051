//! The integration tests of the program: one binary, one module per verb.
#![cfg(test)]

mod accuracy;
mod bench;
mod calibrate;
mod compile;
mod data;
mod drop;
mod machine;
mod plan;
mod presets;
mod rank;
mod recompute;
mod report;
mod resume;
mod sparse;
mod train;
mod train_cost;
