//! The layers of a network, each with its forward and backward pass written by hand.
//!
//! A layer owns its parameters and nothing else: activations come from the trainer's [`Arena`](crate::Arena), through
//! the [`Network`](crate::Network), which also decides how long each lives. G is the gradient of the loss by the
//! layer's output. No layer keeps a value from forward to backward: it says what it [needs](Needs) and gets it back.
//! Start with [`Layer`]; the simplest ones are `propagate` and `linear`.

pub mod activation;
pub mod batch_norm;
pub mod combine;
pub mod dropout;
pub mod layer_norm;
pub mod linear;
pub mod linear_onto;
pub mod loss;
pub mod maximum;
pub mod neighbour_max;
pub mod pair_norm;
pub mod propagate;
pub mod sparse_linear;
pub mod sum;

pub use activation::{Activation, Function};
pub use batch_norm::BatchNorm;
pub use combine::Combine;
pub use dropout::Dropout;
pub use layer_norm::LayerNorm;
pub use linear::Linear;
pub use linear_onto::LinearOnto;
pub use maximum::Maximum;
pub use neighbour_max::NeighbourMax;
pub use pair_norm::PairNorm;
pub use propagate::Propagate;
pub use sparse_linear::SparseLinear;
pub use sum::Sum;

use crate::cost::{Cost, Size};
use crate::features::Features;
use crate::parameter::Parameter;
use crate::rows::Partials;
use crate::{Error, Result};
use sapwood_graph::{DrawKey, Graph, Operator};
use sapwood_skeleton::Exec;
use sapwood_sparse::{Affine, Block, Real};

/// Whether dropout is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Dropout drops; Â is that of a draw.
    Train,
    /// Dropout passes everything; Â is that of the whole graph.
    Evaluate,
}

/// What a pass works with, the same for all layers.
#[derive(Debug)]
pub struct Cx<'a, T: Real> {
    /// Where work runs.
    pub exec: Exec<'a>,
    /// X, the rows of the nodes.
    pub features: &'a Features<T>,
    /// Â of this pass.
    pub drawn: Drawn<'a, T>,
    /// Training or evaluation.
    pub mode: Mode,
    /// Keys dropout by seed, epoch and micro-batch; its layer number is not used here.
    pub key: DrawKey,
    /// Storage of column sums.
    pub partials: &'a mut Partials,
    /// Storage of node numbers, for layers that choose among neighbours.
    pub chosen: &'a mut Vec<u32>,
}

/// Â of every layer of a pass.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a, T: Real> {
    /// One for each layer that propagates, or one for all of them.
    pub operators: &'a [Operator<T>],
    /// Coordinates of messages get lost: the graph by its arcs, and the drop rate.
    pub messages: Option<(&'a Graph, f64)>,
}

impl<'a, T: Real> Drawn<'a, T> {
    /// The same Â for all layers.
    pub fn shared(operator: &'a Operator<T>) -> Drawn<'a, T> {
        Drawn { operators: std::slice::from_ref(operator), messages: None }
    }

    /// Â of layer number `layer`, from 1.
    pub fn operator(&self, layer: u16) -> &'a Operator<T> {
        let at = usize::from(layer.max(1) - 1);
        &self.operators[at.min(self.operators.len() - 1)]
    }
}

/// What the backward pass of a layer reads of its forward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// The input activations; where the layer works in place, those but the first.
    pub input: bool,
    /// The output activation.
    pub output: bool,
}

/// A block for the gradient of an input, and whether it is written or added to.
pub type Target<T> = (Block<T>, Affine<T>);

/// The operands of one backward pass.
#[derive(Debug)]
pub struct Backward<'a, T: Real> {
    /// The inputs as [`Layer::forward`] was given them; empty unless the layer needs them.
    pub inputs: &'a [&'a Block<T>],
    /// The output forward left; `None` unless the layer needs it.
    pub output: Option<&'a Block<T>>,
    /// G. A layer that works in place leaves the gradient of its first input, or of each, here.
    pub grad: &'a mut Block<T>,
    /// Where the gradient of each input goes, and whether it is written or added; `None` where nobody wants it.
    /// Without the inputs whose gradient is left in `grad`: see [`InPlace`].
    pub into: &'a mut [Option<Target<T>>],
    /// Where the gradients of the parameters go, in the order of [`Layer::parameters`]; overwritten.
    pub weights: &'a mut [Block<T>],
}

/// What a layer does in the block of its first input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InPlace {
    /// Nothing: output and gradients have blocks of their own.
    #[default]
    No,
    /// The output takes the place of the first input, and the gradient of the first input that of G; the gradients of
    /// the other inputs have blocks of their own.
    First,
    /// The output takes the place of the first input, and G becomes the gradient of *each* input.
    Each,
}

/// One layer.
pub trait Layer<T: Real>: Send + Sync {
    /// What the layer is, for messages: `linear`, `propagate`, ...
    fn kind(&self) -> &'static str;

    /// Columns of the output when the inputs have `inputs` columns.
    ///
    /// # Errors
    /// [`Error::Layer`] when the inputs do not fit the layer.
    fn width(&self, inputs: &[usize]) -> Result<usize>;

    /// What backward reads of forward.
    fn needs(&self) -> Needs;

    /// Whether the layer turns its first input into its output, and G into gradients, without a second block.
    fn in_place(&self) -> InPlace {
        InPlace::No
    }

    /// Number of the layer, from 1, whose Â it multiplies by; 0 if it does not propagate.
    fn propagation(&self) -> u16 {
        0
    }

    /// Whether backward notes a node for each element of the output in [`Cx::chosen`].
    fn chooses(&self) -> bool {
        false
    }

    /// Computes the output, n × width. In place: `out` holds the first input and `inputs` the others.
    ///
    /// # Errors
    /// When the executor or a product fails.
    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()>;

    /// Computes the gradients of the inputs that want one and of all parameters.
    ///
    /// # Errors
    /// When the executor or a product fails.
    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()>;

    /// What the two passes do, at a size given.
    fn cost(&self, size: &Size<'_>) -> Cost;

    /// The parameters, in the order of their gradients.
    fn parameters(&self) -> &[Parameter<T>] {
        &[]
    }

    /// The parameters, to be changed by an optimiser.
    fn parameters_mut(&mut self) -> &mut [Parameter<T>] {
        &mut []
    }
}

/// The only input of a layer that has one.
pub(crate) fn only<'a, T: Real>(kind: &'static str, inputs: &[&'a Block<T>]) -> Result<&'a Block<T>> {
    match inputs {
        [input] => Ok(input),
        _ => Err(wrong(kind, format!("needs one input, got {}", inputs.len()))),
    }
}

/// The only width of a layer with one input.
pub(crate) fn only_width(kind: &'static str, inputs: &[usize]) -> Result<usize> {
    match inputs {
        [width] => Ok(*width),
        _ => Err(wrong(kind, format!("needs one input, got {}", inputs.len()))),
    }
}

/// A layer used in a way it cannot be.
pub(crate) fn wrong(kind: &'static str, what: impl Into<String>) -> Error {
    Error::Layer { kind, what: what.into() }
}
