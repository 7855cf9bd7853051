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

impl Model {
    /// The first segment of layers that are pinned, other than the ends: what no other program's files can state.
    pub fn pinned_layers(&self) -> Option<&Segment> {
        self.segments.iter().find(|s| s.count > 0 && matches!(s.role, Role::First | Role::At(_) | Role::Last))
    }
}

/// A unit of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryUnit {
    /// Bytes.
    Bytes,
    /// 10³ bytes.
    Kilobytes,
    /// 10⁶ bytes.
    Megabytes,
    /// 10⁹ bytes.
    Gigabytes,
    /// 10¹² bytes.
    Terabytes,
    /// 2¹⁰ bytes.
    Kibibytes,
    /// 2²⁰ bytes.
    Mebibytes,
    /// 2³⁰ bytes.
    Gibibytes,
    /// 2⁴⁰ bytes.
    Tebibytes,
    /// Numbers without a unit.
    Raw,
}

impl MemoryUnit {
    /// Every unit that has a name.
    pub const NAMED: [MemoryUnit; 9] = [
        MemoryUnit::Bytes,
        MemoryUnit::Kilobytes,
        MemoryUnit::Megabytes,
        MemoryUnit::Gigabytes,
        MemoryUnit::Terabytes,
        MemoryUnit::Kibibytes,
        MemoryUnit::Mebibytes,
        MemoryUnit::Gibibytes,
        MemoryUnit::Tebibytes,
    ];

    /// Name, as files and reports have it.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// Bytes of one unit.
    pub fn bytes(self) -> f64 {
        self.facts().1
    }

    fn facts(self) -> (&'static str, f64) {
        match self {
            MemoryUnit::Bytes => ("B", 1.0),
            MemoryUnit::Kilobytes => ("KB", 1e3),
            MemoryUnit::Megabytes => ("MB", 1e6),
            MemoryUnit::Gigabytes => ("GB", 1e9),
            MemoryUnit::Terabytes => ("TB", 1e12),
            MemoryUnit::Kibibytes => ("KiB", 1024.0),
            MemoryUnit::Mebibytes => ("MiB", 1_048_576.0),
            MemoryUnit::Gibibytes => ("GiB", 1_073_741_824.0),
            MemoryUnit::Tebibytes => ("TiB", 1_099_511_627_776.0),
            MemoryUnit::Raw => ("", 1.0),
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
    /// Layers like those of the body that are pinned to the first virtual stage.
    First,
    /// Pinned to this virtual stage.
    At(usize),
    /// Layers like those of the body that are pinned to the last virtual stage.
    Last,
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
            Role::Head | Role::First => Some(0),
            Role::Tail | Role::Last => Some(virtual_stages.saturating_sub(1)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_memory_are_those_of_quantities() {
        for unit in MemoryUnit::NAMED {
            let bytes = sapwood_machine::units::bytes(&format!("1 {}", unit.name())).unwrap();
            assert_eq!(bytes as f64, unit.bytes(), "{}", unit.name());
        }
    }
}
