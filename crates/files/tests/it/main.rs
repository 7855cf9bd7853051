//! Tests of `sapwood-files` through its public functions.
#![cfg(test)]

mod atomic;
mod compression;
mod interrupt;
mod npy;
mod npz;
