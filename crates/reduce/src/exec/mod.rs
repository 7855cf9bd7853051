//! Executing plans: one folder per kind of device. All unsafe code of the crate is in here.

pub mod cpu;
