//! The planner as its users see it.
#![cfg(test)]

mod golden_simulate;
mod laws;
mod reference;
