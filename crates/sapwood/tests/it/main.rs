//! The integration tests of the program: one binary, one module per verb.
#![cfg(test)]

mod accuracy;
mod bench;
mod data;
mod drop;
mod machine;
mod rank;
mod sparse;
mod train;
