//! The numbers a network learns.

use crate::Result;
use sapwood_sparse::{Block, Real};

/// What a parameter is: L2 covers weights only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A matrix that multiplies, in × out.
    Weight,
    /// A row that is added, 1 × out.
    Bias,
}

/// One parameter: its name, its shape, and its value once it is allocated.
#[derive(Debug)]
pub struct Parameter<T: Real> {
    /// Name as PyTorch would have it: `convs.0.lin.weight`.
    pub name: String,
    /// Weight or bias.
    pub role: Role,
    /// Rows and columns it has, or will have.
    pub shape: (usize, usize),
    /// Its value; 0 × 0 until [`Parameter::allocate`].
    pub value: Block<T>,
}

impl<T: Real> Parameter<T> {
    /// The weight of `layer`, `rows` × `cols`, not allocated yet.
    pub fn weight(layer: &str, rows: usize, cols: usize) -> Parameter<T> {
        Parameter { name: format!("{layer}.weight"), role: Role::Weight, shape: (rows, cols), value: Block::default() }
    }

    /// The bias of `layer`, 1 × `cols`, not allocated yet.
    pub fn bias(layer: &str, cols: usize) -> Parameter<T> {
        Parameter { name: format!("{layer}.bias"), role: Role::Bias, shape: (1, cols), value: Block::default() }
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
