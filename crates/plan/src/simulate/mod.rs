//! Exact time and exact memory of a schedule.
//!
//! [`Order`] is a schedule made ready: all operations in one topological order, worked out once. [`time`] gives a makespan
//! for durations, [`memory`] the peaks for activations; [`twin`] is the slow reference of both. Everything is in whole ticks,
//! so sums have no order. Nothing here knows layers, kinds of recomputation or frameworks.

pub mod blocking;
pub mod memory;
mod order;
pub mod path;
pub mod time;
pub mod timeline;
pub mod twin;

pub use memory::{Live, Vectors};
pub use order::{Order, Step};
pub use time::{Durations, LANES, Sweep, Time, Wide};
pub use timeline::{Span, Timeline, Usage};
