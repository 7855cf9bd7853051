//! Tests of the whole crate: golden bits, laws, users' cases.
#![cfg(test)]

mod golden;
mod inputs;
mod onnx;
