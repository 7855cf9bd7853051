//! Tests of `sapwood-files` through its public functions.

mod atomic;
mod compression;
mod interrupt;
mod npy;
