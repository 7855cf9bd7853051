//! Integration tests of the graph crate, one binary.
#![cfg(test)]

mod conformance;
mod data;
mod draw_laws;
mod draws;
mod loading;
mod operators;
mod registry;
mod samplers;
mod support;
