//! Fusion: which operations share one pass over memory.
//!
//! A [`Region`] walks one domain, the iterators of its reductions' operands. Reductions of the same operand domain and axes
//! share a region where no path leads out of it and back in; what depends on another reduction of the region waits for a
//! later *sweep* over the same data (softmax: maximum, sum, quotient). Elementwise operations and views are computed where
//! they are needed, again for each region. In memory are only inputs, outputs, results that another region reads, and what
//! is read across the grain (cut edges). Every legal fusion is taken: on a CPU a pass over memory costs more than the
//! arithmetic it saves.

mod memory;
mod prepare;
mod regions;

pub use memory::{Access, strides_by_class};
pub use prepare::prepare;
pub use regions::{Region, Regions, Store};
