//! The executor from outside: golden bits, laws over thread counts and plans, and what happens when a chunk fails.
#![cfg(test)]

mod executor;
mod failures;
mod generators;
mod golden;
mod probing;
