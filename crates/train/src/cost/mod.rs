//! What a run costs before it starts: counts from the layers, seconds from the rates of a machine.
//!
//! A layer says what its passes do ([`Cost`], a list of [`Step`]s); [`crate::Network::cost`] adds that up along the schedule
//! it really runs; [`Prices`] turn steps into seconds by the rates that a machine file holds; [`predict`] does so for all
//! runs of an experiment. Every function here is a pure one, and nothing that is computed depends on a prediction. Counts
//! are in `work` and `size`, seconds in `price`, what is no layer (draw, loss, optimiser, evaluation) in `parts`.

mod parts;
mod predict;
mod price;
mod sampling;
mod size;
mod work;

pub use predict::{LayerTime, MethodTime, Predicted, Subject, predict};
pub use price::{MissingRate, Prices};
pub use sampling::{Kind, Sampling};
pub use size::{Gradient, Operands, Size};
pub use work::{Gathered, Step, Work};

/// What the two passes of one layer do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost {
    /// The forward pass.
    pub forward: Work,
    /// The backward pass.
    pub backward: Work,
}

impl Cost {
    /// Passes of these steps.
    pub fn new(forward: impl IntoIterator<Item = Step>, backward: impl IntoIterator<Item = Step>) -> Cost {
        Cost { forward: forward.into_iter().collect(), backward: backward.into_iter().collect() }
    }
}

/// Registers' worth of numbers that one instruction on a single number takes the place of: f32 in 256 bits.
pub(crate) const SCALAR: f64 = 8.0;

/// Operations for one word of a random stream: ten rounds of Philox on four words, each with two products whose halves are
/// put together (6 a product), four exclusive ors and a key step.
pub(crate) const WORD: f64 = 42.0;

/// Operations for one number more in a sum in double precision: converted and added, each in two halves of a register.
pub(crate) const SUM: f64 = 4.0;

/// Operations for e^z: a reduction of the argument and a polynomial.
pub(crate) const EXP: f64 = 25.0;
