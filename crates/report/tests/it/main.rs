//! Integration tests of the report crate, one binary.
#![cfg(test)]

mod html5;
mod laws;
mod markup;
mod pages;
mod pictures;
mod samples;
