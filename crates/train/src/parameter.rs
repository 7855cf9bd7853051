//! The numbers a network holds: those it learns, and those it only remembers.

use crate::Result;
use sapwood_sparse::{Block, Real};

/// What a parameter is. L2 covers weights; what is remembered is never penalised, clipped or counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A matrix that multiplies, in × out.
    Weight,
    /// A row that is added, 1 × out.
    Bias,
    /// The factors of a norm layer, 1 × out; starts at 1.
    Gain,
    /// The row that a norm layer adds, 1 × out; starts at 0.
    Shift,
    /// The running mean of a norm layer, 1 × out; starts at 0. Its "gradient" is the mean of the batch.
    Mean,
    /// The running variance of a norm layer, 1 × out; starts at 1. Its "gradient" is the variance of the batch.
    Variance,
}

impl Role {
    /// Whether it is learnt. What is not moves a tenth of the way to its "gradient" in each step.
    pub fn learnt(self) -> bool {
        !matches!(self, Role::Mean | Role::Variance)
    }

    /// What it starts from, where no rule of initialisation is asked.
    pub fn start(self) -> Option<f64> {
        match self {
            Role::Weight | Role::Bias => None,
            Role::Gain | Role::Variance => Some(1.0),
            Role::Shift | Role::Mean => Some(0.0),
        }
    }
}

/// One parameter: its name, its shape, and its value once it is allocated.
#[derive(Debug)]
pub struct Parameter<T: Real> {
    /// Name as PyTorch would have it: `convs.0.lin.weight`.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Rows and columns it has, or will have.
    pub shape: (usize, usize),
    /// Rows and columns that rules of initialisation see: larger where it is a part of a matrix.
    pub fan: (usize, usize),
    /// Its value; 0 × 0 until [`Parameter::allocate`].
    pub value: Block<T>,
}

impl<T: Real> Parameter<T> {
    /// A parameter called `name`, `rows` × `cols`, not allocated yet.
    pub fn new(name: String, role: Role, rows: usize, cols: usize) -> Parameter<T> {
        Parameter { name, role, shape: (rows, cols), fan: (rows, cols), value: Block::default() }
    }

    /// The weight of `layer`, `rows` × `cols`.
    pub fn weight(layer: &str, rows: usize, cols: usize) -> Parameter<T> {
        Parameter::new(format!("{layer}.weight"), Role::Weight, rows, cols)
    }

    /// The bias of `layer`, 1 × `cols`.
    pub fn bias(layer: &str, cols: usize) -> Parameter<T> {
        Parameter::new(format!("{layer}.bias"), Role::Bias, 1, cols)
    }

    /// Makes room for the value: all zeros.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn allocate(&mut self) -> Result<()> {
        self.value = Block::zeros(self.shape.0, self.shape.1)?;
        Ok(())
    }

    /// Numbers in it.
    pub fn count(&self) -> u64 {
        self.shape.0 as u64 * self.shape.1 as u64
    }
}
