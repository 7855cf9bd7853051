//! The CPU executor: interprets fused regions on tiles that stay in the nearest cache, always along the canonical tree.
//!
//! [`Executable::new`] divides a program into regions (`fuse`) and compiles each (`kernel.rs`); [`Executable::run`] gives
//! their tasks (`task.rs`) to the workers. A task holds the kept elements of some tiles and goes through all sweeps over the
//! reduced ones; where there are few tasks and much to reduce, the pieces of one sweep are shared out instead, and put
//! together in the tree's order. No order depends on the number of workers, so neither do the bits. Results that pass
//! between regions lie in buffers that are made once.

mod blocked;
mod emit;
mod kernel;
mod leaves;
mod moves;
mod run;
mod space;
mod task;
mod topk;
mod typed;
mod vector;

pub use run::Executable;

#[cfg(test)]
mod tests;
