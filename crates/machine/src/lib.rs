//! The hierarchical machine: tree, units, discovery, presets

mod work;

pub use work::Work;
