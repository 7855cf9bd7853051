//! The training crate as its users see it.
#![cfg(test)]

mod conformance;
mod edges;
mod gradient;
mod learning;
mod same_bits;
mod worlds;
