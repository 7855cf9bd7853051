//! The models: one file each, a recipe that pushes layers, and one line in [`ALL`].
//!
//! DropEdge-style nets: input layer → blocks → output layer, ReLU and dropout after each hidden layer, none on the input.
//! A model of L layers has L − 1 hidden ones; L = 1 is the output layer alone. A recipe says where the network may be cut
//! (`Builder::cut`), at the end of each of its layers. Start with `mlp`.

mod appnp;
mod densegcn;
mod gcn;
mod gcnii;
mod incepgcn;
mod jknet;
mod mlp;
mod resgcn;
mod sage;

use crate::Result;
use crate::network::{Builder, Input, Network};
use crate::number::Number;

/// The sizes and options of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// What X is.
    pub features: Input,
    /// Layers, at least 1.
    pub layers: usize,
    /// Columns of a hidden layer.
    pub hidden: usize,
    /// Columns of the logits.
    pub classes: usize,
    /// Dropout after each hidden layer.
    pub dropout: f64,
    /// What the model's [flags](Entry::reads) say.
    pub options: ModelOptions,
}

/// What flags of single models say.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ModelOptions {
    /// Convolutions have a second weight for the node itself.
    pub with_self: bool,
    /// What norm layers hidden layers have.
    pub norm_layer: NormLayer,
    /// How `jknet` puts its layers together.
    pub jk: Jump,
    /// How `sage` puts neighbours together.
    pub aggregator: Aggregator,
    /// Propagations of `appnp`.
    pub prop_steps: u16,
    /// Share τ of its start that `gcnii` or `appnp` gives back to a node in each propagation.
    pub teleport: f64,
    /// λ of `gcnii`: weights of layer l count β = ln(λ/l + 1).
    pub lambda: f64,
}

impl Default for ModelOptions {
    fn default() -> Self {
        ModelOptions {
            with_self: false,
            norm_layer: NormLayer::None,
            jk: Jump::Concat,
            aggregator: Aggregator::Mean,
            prop_steps: 10,
            teleport: 0.1,
            lambda: 0.5,
        }
    }
}

/// The norm layers of hidden layers, between bias and ReLU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NormLayer {
    /// None.
    None,
    /// Batch norm over the nodes; on the output layer too, as the DropEdge scripts have it.
    Batch,
    /// Layer norm over the columns of each node.
    Layer,
    /// Pair norm: centred over nodes, scaled to one total length.
    Pair,
}

/// How `jknet` puts its layers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Jump {
    /// Side by side.
    Concat,
    /// The largest value of each coordinate.
    Max,
}

/// How `sage` puts neighbours together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregator {
    /// Their mean.
    Mean,
    /// The largest value of each coordinate.
    Max,
}

/// A recipe in one number type.
pub type Recipe<T> = fn(&mut Builder<T>, &Shape) -> Result<()>;

/// A model.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--model` spells it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The flags of [`ModelOptions`] that it reads, without dashes: `with-self`, `norm-layer`, `jk`, ...
    pub reads: &'static [&'static str],
    /// The operator that the model is defined with, as `--normalise` spells it; `None` where any will do.
    pub normalise: Option<&'static str>,
    /// The recipe in single precision.
    pub f32: Recipe<f32>,
    /// The recipe in double precision.
    pub f64: Recipe<f64>,
}

/// Every model.
pub static ALL: &[Entry] = &[
    appnp::ENTRY,
    densegcn::ENTRY,
    gcn::ENTRY,
    gcnii::ENTRY,
    incepgcn::ENTRY,
    jknet::ENTRY,
    mlp::ENTRY,
    resgcn::ENTRY,
    sage::ENTRY,
];

/// The registry line of `name` among `all`.
///
/// # Errors
/// With the valid names and the nearest one.
pub fn find<'a>(all: &'a [Entry], name: &str) -> Result<&'a Entry> {
    let known = all.iter().map(|e| e.name);
    all.iter().find(|e| e.name == name).ok_or_else(|| sapwood_graph::Error::unknown("model", name, known).into())
}

/// The network of `entry` in the sizes of `shape`; its parameters are not allocated yet.
///
/// # Errors
/// When the recipe does not fit the shape.
pub fn build<T: Number>(entry: &Entry, shape: &Shape) -> Result<Network<T>> {
    let mut builder = Builder::new(entry.name, shape.features);
    T::recipe(entry)(&mut builder, shape)?;
    builder.finish()
}
