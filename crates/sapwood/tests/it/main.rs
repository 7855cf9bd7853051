//! The integration tests of the program: one binary, one module per verb.
#![cfg(test)]

mod accuracy;
mod bench;
mod data;
mod machine;
mod sparse;
mod train;
