//! The optimisers: one file each and one line in [`ALL`].
//!
//! An optimiser changes parameters by their gradients, element by element, so that its result does not depend on how the
//! elements are cut into chunks. It knows nothing of layers. [`step`] is the way in: it decides what is penalised and
//! moves what is only remembered.

mod adam;
mod adamw;
mod clip;
mod moments;
mod sgd;

pub use clip::clip;

use crate::network::Network;
use crate::number::Number;
use crate::parameter::Role;
use crate::rows;
use crate::{Error, Result};
use sapwood_skeleton::Exec;
use sapwood_sparse::{Block, Real};

/// What a step depends on besides parameters and gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Number of the step, from 1.
    pub number: u64,
    /// Learning rate.
    pub lr: f64,
    /// L2 penalty of the parameters that [`L2On`] covers; in [`Optimiser::update`] that of the parameter at hand.
    pub l2: f64,
}

/// What flags of single optimisers say.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct OptimiserOptions {
    /// Momentum of `sgd`.
    pub momentum: f64,
    /// Nesterov's momentum instead of the plain one.
    pub nesterov: bool,
}

impl Default for OptimiserOptions {
    fn default() -> Self {
        OptimiserOptions { momentum: 0.9, nesterov: false }
    }
}

impl OptimiserOptions {
    /// Checks the values against their ranges.
    ///
    /// # Errors
    /// When the momentum is outside its range, or is 0 where Nesterov's is asked for.
    pub fn check(&self) -> Result<()> {
        if !(0.0..1.0).contains(&self.momentum) {
            let (flag, range) = ("--momentum", "from 0 to below 1");
            return Err(Error::Range { flag, range, value: self.momentum.to_string() });
        }
        if self.nesterov && self.momentum == 0.0 {
            return Err(Error::Settings("--nesterov needs a --momentum above 0".into()));
        }
        Ok(())
    }
}

/// Which parameters the L2 penalty covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum L2On {
    /// The matrices.
    Weights,
    /// All that is learnt, as the DropEdge scripts have it.
    All,
}

impl L2On {
    fn covers(self, role: Role) -> bool {
        role.learnt() && (self == L2On::All || role == Role::Weight)
    }
}

/// A way to change parameters.
pub trait Optimiser<T: Real>: Send {
    /// Changes one parameter, number `number` of its network, by its gradient.
    ///
    /// # Errors
    /// When the executor fails.
    fn update(
        &mut self,
        exec: Exec<'_>,
        step: Step,
        number: usize,
        value: &mut Block<T>,
        gradient: &Block<T>,
    ) -> Result<()>;

    /// What it remembers: for each name one block per parameter, in the order of [`Network::parameters`].
    fn state(&self) -> Vec<(&'static str, &[Block<T>])>;

    /// The same, to be restored.
    fn state_mut(&mut self) -> Vec<(&'static str, &mut [Block<T>])>;
}

/// Makes an optimiser with fresh state for the parameters of a network.
pub type Maker<T> = fn(&Network<T>, OptimiserOptions) -> Result<Box<dyn Optimiser<T>>>;

/// Elements of a chunk.
pub(crate) const CHUNK: usize = 8192;

/// The share of the batch in a running value of a norm layer.
const MOMENTUM: f64 = 0.1;

/// Changes every parameter of `network` by its gradient, in the order of [`Network::parameters`]; running values of norm
/// layers move a tenth of the way to what their batch had.
///
/// # Errors
/// When the executor fails.
pub fn step<T: Number>(
    exec: Exec<'_>,
    optimiser: &mut dyn Optimiser<T>,
    step: Step,
    l2_on: L2On,
    network: &mut Network<T>,
    gradients: &[Block<T>],
) -> Result<()> {
    for (number, (parameter, gradient)) in network.parameters_mut().zip(gradients).enumerate() {
        if parameter.role.learnt() {
            let l2 = if l2_on.covers(parameter.role) { step.l2 } else { 0.0 };
            optimiser.update(exec, Step { l2, ..step }, number, &mut parameter.value, gradient)?;
        } else {
            let (old, new) = (T::from_f64(1.0 - MOMENTUM), T::from_f64(MOMENTUM));
            rows::zip(parameter.value.as_mut_slice(), gradient.as_slice(), |v, &g| *v = old * *v + new * g);
        }
    }
    Ok(())
}

/// An optimiser.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--optimiser` spells it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The flags of [`OptimiserOptions`] that it reads, without dashes.
    pub reads: &'static [&'static str],
    /// Numbers of state for each number learnt.
    pub state_per_parameter: u64,
    /// The maker in single precision.
    pub f32: Maker<f32>,
    /// The maker in double precision.
    pub f64: Maker<f64>,
}

/// Every optimiser.
pub static ALL: &[Entry] = &[adam::ENTRY, adamw::ENTRY, sgd::ENTRY];

/// The registry line of `name` among `all`.
///
/// # Errors
/// With the valid names and the nearest one.
pub fn find<'a>(all: &'a [Entry], name: &str) -> Result<&'a Entry> {
    let known = all.iter().map(|e| e.name);
    all.iter().find(|e| e.name == name).ok_or_else(|| sapwood_graph::Error::unknown("optimiser", name, known).into())
}

#[cfg(test)]
mod checks;

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_skeleton::Runtime;

    #[test]
    fn a_zero_gradient_moves_nothing_and_nan_stays_where_it_is() {
        let runtime = Runtime::sequential().unwrap();
        for entry in ALL {
            let mut network = checks::toy::<f64>(2);
            let before = checks::values(&network);
            let mut gradients = network.like_parameters().unwrap();
            let mut optimiser = checks::make(entry.name, &network, OptimiserOptions::default());
            let now = Step { number: 1, lr: 0.01, l2: 0.0 };
            step(runtime.exec(), optimiser.as_mut(), now, L2On::Weights, &mut network, &gradients).unwrap();
            assert_eq!(before, checks::values(&network), "{}", entry.name);
            gradients[1].as_mut_slice()[1] = f64::NAN;
            step(runtime.exec(), optimiser.as_mut(), now, L2On::Weights, &mut network, &gradients).unwrap();
            let after = checks::values(&network);
            assert_eq!(after.iter().filter(|v| v.is_nan()).count(), 1, "{}", entry.name);
            assert!(after[after.len() - 1].is_nan(), "{}", entry.name);
        }
    }

    #[test]
    fn an_optimiser_with_restored_state_goes_on_with_the_same_bits() {
        let runtime = Runtime::threads(2).unwrap();
        for entry in ALL {
            let mut network = checks::toy::<f32>(90);
            let mut gradients = network.like_parameters().unwrap();
            let mut optimiser = checks::make(entry.name, &network, OptimiserOptions::default());
            let mut walk =
                |optimiser: &mut dyn Optimiser<f32>, network: &mut Network<f32>, steps: std::ops::Range<u64>| {
                    for t in steps {
                        checks::fill(&mut gradients, |i| ((i as u64 * 13 + t * 5) % 17) as f64 * 0.1 - 0.8);
                        let now = Step { number: t, lr: 0.01, l2: 0.01 };
                        step(runtime.exec(), optimiser, now, L2On::All, network, &gradients).unwrap();
                    }
                };
            walk(optimiser.as_mut(), &mut network, 1..6);
            let mut other = checks::toy::<f32>(90);
            for (to, from) in other.parameters_mut().zip(network.parameters()) {
                to.value.as_mut_slice().copy_from_slice(from.value.as_slice());
            }
            let mut restored = checks::make(entry.name, &other, OptimiserOptions::default());
            let numbers: usize = optimiser.state().iter().flat_map(|(_, b)| b.iter()).map(|b| b.as_slice().len()).sum();
            assert_eq!(numbers as u64, entry.state_per_parameter * network.parameter_count(), "{}", entry.name);
            for ((name, to), (same, from)) in restored.state_mut().into_iter().zip(optimiser.state()) {
                assert_eq!(name, same);
                to.iter_mut().zip(from).for_each(|(to, from)| to.as_mut_slice().copy_from_slice(from.as_slice()));
            }
            walk(optimiser.as_mut(), &mut network, 6..11);
            walk(restored.as_mut(), &mut other, 6..11);
            assert_eq!(checks::values(&network), checks::values(&other), "{}", entry.name);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_valid_ones() {
        let message = find(ALL, "adamm").unwrap_err().to_string();
        assert!(message.contains("did you mean 'adam'?") && message.contains("adam, adamw, sgd"), "{message}");
    }
}
