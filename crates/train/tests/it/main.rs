//! The training crate as its users see it.
#![cfg(test)]

mod checks;
mod conformance;
mod cost;
mod edges;
mod energy;
mod gradient;
mod learning;
mod models;
mod norms;
mod same_bits;
mod twins;
mod worlds;
