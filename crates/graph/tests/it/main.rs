//! Integration tests of the graph crate, one binary.
#![cfg(test)]

mod archives;
mod conformance;
mod damage;
mod data;
mod draw_laws;
mod draws;
mod generators;
mod loading;
mod npz;
mod ogb;
mod operators;
mod pickles;
mod planetoid;
mod ranked;
mod registry;
mod sampler_laws;
mod samplers;
mod scores;
mod structure;
mod support;
