//! The models: one file each, a recipe that pushes layers, and one line in [`ALL`].
//!
//! DropEdge-style nets: input layer → blocks → output layer, ReLU and dropout after each hidden layer, none on the input.
//! A model of L layers has L − 1 hidden ones; L = 1 is the output layer alone. Start with `mlp`.

mod gcn;
mod mlp;

use crate::Result;
use crate::network::{Builder, Input, Network};
use crate::number::Number;

/// The sizes of a model.
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
    /// Convolutions have a second weight for the node itself.
    pub with_self: bool,
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
    /// Whether it has convolutions, which `--with-self` needs.
    pub convolves: bool,
    /// The recipe in single precision.
    pub f32: Recipe<f32>,
    /// The recipe in double precision.
    pub f64: Recipe<f64>,
}

/// Every model.
pub static ALL: &[Entry] = &[gcn::ENTRY, mlp::ENTRY];

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
