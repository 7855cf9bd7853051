//! Kinds of recomputation: what a layer forgets after its forward and runs again in its backward.

pub mod kinds;

pub use kinds::{BUILT_IN, Kind, PARTS, all};
