//! A model as the planner sees it: segments of equal layers in model order, and what a layer costs.
//!
//! Costs are in the units of the file they come from. A reader makes a [`Model`]; a [`crate::problem::Problem`] makes whole
//! ticks of it.

pub mod readers;

/// A model with its costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Runs of equal layers, in model order.
    pub segments: Vec<Segment>,
    /// Memory that each stage has besides its layers; empty for none, one for all stages, or one a stage.
    pub constant: Vec<f64>,
    /// Time that a stage works at the end of a step, such as that of an optimiser; likewise.
    pub tails: Vec<f64>,
    /// Time of a transfer between neighbouring stages.
    pub link: f64,
    /// The unit of times, if the file tells.
    pub time_unit: Option<String>,
    /// The unit of memory.
    pub memory_unit: MemoryUnit,
    /// What the user should know about the file.
    pub warnings: Vec<String>,
}

/// A unit of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryUnit {
    /// 10⁶ bytes.
    Megabytes,
    /// Bytes.
    Bytes,
    /// Numbers without a unit.
    Raw,
}

impl MemoryUnit {
    /// Name, as reports have it.
    pub fn name(self) -> &'static str {
        match self {
            MemoryUnit::Megabytes => "MB",
            MemoryUnit::Bytes => "B",
            MemoryUnit::Raw => "",
        }
    }

    /// Bytes of one unit.
    pub fn bytes(self) -> f64 {
        match self {
            MemoryUnit::Megabytes => 1e6,
            MemoryUnit::Bytes | MemoryUnit::Raw => 1.0,
        }
    }
}

/// Equal layers that follow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Its name.
    pub name: String,
    /// What its layers are.
    pub role: Role,
    /// How many there are.
    pub count: u32,
    /// Forward time of a layer and micro-batch.
    pub forward: f64,
    /// Backward time without recomputation, the gradients of input and weights together.
    pub backward: f64,
    /// Part of the backward that is the gradient of the weights, where a schedule runs it apart.
    pub weight: f64,
    /// Memory of a layer that is always there.
    pub parameters: f64,
    /// What the layers can do after their forward, the kind that keeps most first.
    pub kinds: Vec<KindCost>,
}

/// What the layers of a segment are, as far as a partition has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The embedding, or what is pinned to it: on the first virtual stage.
    Head,
    /// Layers that may lie anywhere.
    Body,
    /// Layers that predict further tokens: they may lie anywhere, and frameworks call them by a name of their own.
    Mtp,
    /// On this virtual stage.
    At(usize),
    /// The loss, or what is pinned to it: on the last virtual stage.
    Tail,
}

impl Role {
    /// Whether a partition says where the layers are.
    pub fn moves(self) -> bool {
        matches!(self, Role::Body | Role::Mtp)
    }

    /// The one virtual stage of `virtual_stages` that its layers may be on; none if they may be anywhere.
    pub fn place(self, virtual_stages: usize) -> Option<usize> {
        match self {
            Role::Head => Some(0),
            Role::Tail => Some(virtual_stages.saturating_sub(1)),
            Role::At(at) => Some(at),
            Role::Body | Role::Mtp => None,
        }
    }
}

/// What a layer of a segment costs with one kind of recomputation.
#[derive(Debug, Clone, PartialEq)]
pub struct KindCost {
    /// Name of the kind; see [`crate::recompute`].
    pub name: String,
    /// Memory kept from forward to backward, for a micro-batch.
    pub activation: f64,
    /// Time that its backward takes on top.
    pub extra: f64,
    /// Memory that its backward needs on top while it runs.
    pub transient: f64,
}
