//! The planner as its users see it.
#![cfg(test)]

mod bound;
mod calibrate;
mod exchange;
mod golden_simulate;
mod laws;
mod reference;
