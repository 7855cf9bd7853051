//! What a level of the machine, an exception from it, and a single node say: compute, memory, link and the rest.
//!
//! All rates and times are plain SI numbers (FLOP/s, byte/s, s, s/byte); a number that was measured carries its
//! spread. Nothing here computes a cost.

use std::collections::BTreeMap;
use std::fmt;

use crate::cpu_list::CpuList;
use crate::device::Device;
use crate::path::Path;

/// A number that may have been measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured<T> {
    /// The value used.
    pub value: T,
    /// Median absolute deviation of the samples, if it was measured.
    pub mad: Option<T>,
    /// Number of samples; 0 if the value was stated.
    pub samples: u32,
}

impl<T> Measured<T> {
    /// A value that was not measured.
    pub const fn stated(value: T) -> Self {
        Self { value, mad: None, samples: 0 }
    }
}

impl<T> From<T> for Measured<T> {
    fn from(value: T) -> Self {
        Self::stated(value)
    }
}

/// A type of number, as far as speed depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Dtype {
    /// Every type that is not listed by itself.
    Any,
    F64,
    F32,
    Tf32,
    Bf16,
    F16,
    Fp8,
    I8,
}

impl Dtype {
    /// All types, in the order they are written.
    pub const ALL: [Self; 8] =
        [Self::Any, Self::F64, Self::F32, Self::Tf32, Self::Bf16, Self::F16, Self::Fp8, Self::I8];

    /// The name in machine files: `bf16`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::Tf32 => "tf32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::Fp8 => "fp8",
            Self::I8 => "i8",
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Speed of arithmetic by type.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compute {
    /// FLOP/s by type.
    pub by_type: BTreeMap<Dtype, Measured<f64>>,
}

impl Compute {
    /// FLOP/s for `dtype`: its own figure, else that of [`Dtype::Any`], else unknown.
    pub fn rate(&self, dtype: Dtype) -> Option<f64> {
        self.by_type.get(&dtype).or_else(|| self.by_type.get(&Dtype::Any)).map(|rate| rate.value)
    }
}

/// A node's own memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memory {
    /// Bytes, if known.
    pub size: Option<u64>,
    /// Byte/s that all workers below share; `None` is no limit.
    pub bandwidth: Option<Measured<f64>>,
}

/// The link of a node to its parent and to its siblings. The default is free.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Link {
    /// Seconds for one message to or from the parent, synchronisation included (λ).
    pub latency: Measured<f64>,
    /// Seconds per byte from the parent (γ↓).
    pub down: Measured<f64>,
    /// Seconds per byte to the parent (γ↑).
    pub up: Measured<f64>,
    /// Seconds per byte among siblings (γ_s), if stated.
    pub side: Option<Measured<f64>>,
    /// Seconds for one message among siblings (λ_s), if stated.
    pub side_latency: Option<Measured<f64>>,
}

impl Link {
    /// γ_s in s/byte: stated, else up and down again.
    pub fn side(&self) -> f64 {
        self.side.map_or(self.up.value + self.down.value, |side| side.value)
    }

    /// λ_s in s: stated, else twice the latency to the parent.
    pub fn side_latency(&self) -> f64 {
        self.side_latency.map_or(2.0 * self.latency.value, |latency| latency.value)
    }
}

/// How a master serves its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Port {
    /// One child after the other: the master is the bottleneck.
    #[default]
    Serial,
    /// All children at once.
    Parallel,
}

impl Port {
    /// The name in machine files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Parallel => "parallel",
        }
    }
}

/// What carries messages between a node and its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Shared memory of one process.
    Memory,
    /// MPI messages.
    Mpi,
    /// Nothing: the level is described, not run.
    None,
}

impl Transport {
    /// The name in machine files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Mpi => "mpi",
            Self::None => "none",
        }
    }
}

/// What a level or an override states; `None` is "not stated". An override replaces a whole key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values {
    /// Arithmetic; unstated is inherited from the level above, then unknown.
    pub compute: Option<Compute>,
    /// Memory; unstated is none of its own.
    pub memory: Option<Memory>,
    /// Link to the parent; unstated is free.
    pub link: Option<Link>,
    /// How the node serves its children.
    pub port: Option<Port>,
    /// What carries messages to the parent.
    pub transport: Option<Transport>,
    /// What kernels need to know, for nodes that are accelerators.
    pub device: Option<Device>,
    /// Speed relative to other workers, used only where no rates are known; unstated is 1.
    pub speed: Option<f64>,
    /// One logical CPU for each node, from left to right.
    pub pin: Option<CpuList>,
}

/// A level of the machine: all nodes at one distance from the root.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Unique name, `[a-z][a-z0-9-]*`.
    pub name: String,
    /// Nodes per parent; 1 for the root.
    pub count: u32,
    /// What its nodes state.
    pub values: Values,
}

/// An exception for some nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    /// Which nodes.
    pub at: Path,
    /// How many children each of them has instead; 0 makes them workers.
    pub children: Option<u32>,
    /// What they state instead.
    pub values: Values,
}

/// One node with everything that holds there, overrides and inheritance applied.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// The name of its level.
    pub name: String,
    /// Arithmetic; empty if unknown.
    pub compute: Compute,
    /// Its own memory.
    pub memory: Option<Memory>,
    /// The link to its parent; free if unstated.
    pub link: Link,
    /// How it serves its children.
    pub port: Port,
    /// What carries messages to its parent.
    pub transport: Option<Transport>,
    /// Facts for kernels, if it is an accelerator.
    pub device: Option<Device>,
    /// Speed relative to other workers where no rates are known.
    pub speed: f64,
}
