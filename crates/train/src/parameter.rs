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

/// One parameter with its name and present value.
#[derive(Debug)]
pub struct Parameter<T> {
    /// Name as PyTorch would have it: `convs.0.lin.weight`.
    pub name: String,
    /// Weight or bias.
    pub role: Role,
    /// Its value.
    pub value: Block<T>,
}

impl<T: Real> Parameter<T> {
    /// The weight of `layer`, `rows` × `cols`, all zero until an initialisation fills it.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn weight(layer: &str, rows: usize, cols: usize) -> Result<Parameter<T>> {
        Ok(Parameter { name: format!("{layer}.weight"), role: Role::Weight, value: Block::zeros(rows, cols)? })
    }

    /// The bias of `layer`, 1 × `cols`, all zero.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn bias(layer: &str, cols: usize) -> Result<Parameter<T>> {
        Ok(Parameter { name: format!("{layer}.bias"), role: Role::Bias, value: Block::zeros(1, cols)? })
    }

    /// Numbers in it.
    pub fn len(&self) -> usize {
        self.value.as_slice().len()
    }

    /// Whether it holds no number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
