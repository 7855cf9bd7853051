//! The optimisers: one file each and one line in [`ALL`].
//!
//! An optimiser changes parameters by their gradients, element by element, so that its result does not depend on how the
//! elements are cut into chunks. It knows nothing of layers.

mod adam;

use crate::Result;
use crate::network::Network;
use crate::number::Number;
use sapwood_skeleton::Exec;
use sapwood_sparse::{Block, Real};

/// What a step depends on besides parameters and gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Number of the step, from 1.
    pub number: u64,
    /// Learning rate.
    pub lr: f64,
    /// L2 penalty; it covers weights, not biases.
    pub l2: f64,
}

/// A way to change parameters.
pub trait Optimiser<T: Real>: Send {
    /// Changes every parameter of `network` by its gradient, in the order of [`Network::parameters`].
    ///
    /// # Errors
    /// When the executor fails.
    fn step(&mut self, exec: Exec<'_>, step: Step, network: &mut Network<T>, gradients: &[Block<T>]) -> Result<()>
    where
        T: Number;
}

/// Makes an optimiser with fresh state for the parameters of a network.
pub type Maker<T> = fn(&Network<T>) -> Result<Box<dyn Optimiser<T>>>;

/// An optimiser.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--optimiser` spells it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Numbers of state for each number learnt.
    pub state_per_parameter: u64,
    /// The maker in single precision.
    pub f32: Maker<f32>,
    /// The maker in double precision.
    pub f64: Maker<f64>,
}

/// Every optimiser.
pub static ALL: &[Entry] = &[adam::ENTRY];

/// The registry line of `name` among `all`.
///
/// # Errors
/// With the valid names and the nearest one.
pub fn find<'a>(all: &'a [Entry], name: &str) -> Result<&'a Entry> {
    let known = all.iter().map(|e| e.name);
    all.iter().find(|e| e.name == name).ok_or_else(|| sapwood_graph::Error::unknown("optimiser", name, known).into())
}
