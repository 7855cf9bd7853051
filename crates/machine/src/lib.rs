//! The hierarchical machine: a tree of masters and workers with speeds, memories and links, read from `machine.toml`,
//! taken from a preset, made from a shape, or discovered.
//!
//! Every tool of Sapwood asks this tree: skeletons are placed on it, matrices divided by its speeds, kernels mapped by
//! its device facts, pipeline stages fitted into its memories. This crate opens no thread, measures nothing and knows
//! no other crate of Sapwood but `sapwood-files`. Start reading at [`Tree`]; [`units`] is the project's only parser of
//! quantities.

mod balance;
mod cpu_list;
mod device;
mod discover;
mod error;
mod expand;
mod level;
mod nearest;
mod path;
mod rates;
mod resolve;
mod shape;
mod toml;
mod tree;
mod work;

pub mod fit;
pub mod presets;
pub mod units;

pub use balance::{largest_remainder, water_fill};
pub use cpu_list::CpuList;
pub use device::Device;
pub use discover::{Discover, Facts, Workers, facts};
pub use error::{Error, Problem, Result};
pub use level::{Compute, Dtype, Level, Link, Measured, Memory, Node, Override, Port, Transport, Values};
pub use nearest::{nearest, slip};
pub use path::{Path, Step, Which};
pub use rates::{ByKernel, CACHED_BYTES, Kernel, LARGE_BYTES, Quantity, Rates};
pub use toml::{Report, check, text_of};
pub use tree::{Header, Measurement, Tree, TreeNode};
pub use work::Work;
