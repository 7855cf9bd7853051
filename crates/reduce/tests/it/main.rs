//! Tests of the whole crate: golden bits, laws, users' cases.

mod golden;
mod inputs;
