//! Integration tests of the graph crate, one binary.
#![cfg(test)]

mod conformance;
mod data;
mod draw_laws;
mod draws;
mod generators;
mod loading;
mod operators;
mod ranked;
mod registry;
mod sampler_laws;
mod samplers;
mod scores;
mod structure;
mod support;
