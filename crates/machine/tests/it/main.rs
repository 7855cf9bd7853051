//! Tests of `sapwood-machine` through its public functions.
#![cfg(test)]

mod bad_files;
mod balance;
mod discovery;
mod files;
mod presets;
mod random;
mod rates;
mod resolving;
mod shapes;
mod t2;
