//! The planner as its users see it.
#![cfg(test)]

mod baseline;
mod bound;
mod calibrate;
mod compact;
mod cost_expr;
mod exchange;
mod formulas;
mod golden_simulate;
mod infeasible;
mod laws;
mod limits;
mod mip;
mod own_toml;
mod reference;
mod solve;
