//! One operation.

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The forward pass.
    Forward,
    /// The backward pass; where the gradient of the weights is split off, that of the input alone.
    Backward,
    /// The gradient of the weights.
    Weight,
}

impl Kind {
    /// F, B or W.
    pub fn letter(self) -> char {
        match self {
            Kind::Forward => 'F',
            Kind::Backward => 'B',
            Kind::Weight => 'W',
        }
    }
}

/// One micro-batch through one virtual stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op {
    /// What is done.
    pub kind: Kind,
    /// The virtual stage.
    pub virtual_stage: u32,
    /// The micro-batch.
    pub micro_batch: u32,
}

impl Op {
    /// An operation.
    pub fn new(kind: Kind, virtual_stage: usize, micro_batch: usize) -> Op {
        Op { kind, virtual_stage: virtual_stage as u32, micro_batch: micro_batch as u32 }
    }
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({},{})", self.kind.letter(), self.virtual_stage, self.micro_batch)
    }
}
