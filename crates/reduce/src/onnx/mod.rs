//! Import of ONNX models: what can be computed becomes a [`Program`], the rest is listed.
//!
//! A file is decoded (`proto.rs`), local functions are put in the place of their calls (`inline.rs`), then every node is
//! lowered in order by its entry in `ops` (`import.rs`). What is known when the program is made (initialisers, shapes, and
//! what is computed from them) is folded. A node that is not supported is a boundary: its outputs are inputs of the
//! program, and what it reads are outputs.

mod attributes;
mod graph;
mod import;
mod inline;
mod ops;
mod proto;
mod tensors;

pub use import::{Imported, Unsupported};
pub use tensors::read_tensor;

#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::program::Program;
use crate::tensor::Tensor;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a file leaves open, and which part of it is wanted.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    /// Values of symbolic dimensions; a dimension without a name is called INPUT.AXIS.
    pub dims: BTreeMap<String, usize>,
    /// Values of graph inputs that are known: axes, k, shapes.
    pub values: BTreeMap<String, Tensor>,
    /// The folder of the model, in which external data lies.
    pub folder: Option<PathBuf>,
    /// The values that are wanted; none means all outputs of the graph.
    pub only: Vec<String>,
}

impl Program {
    /// The program of an ONNX model.
    ///
    /// # Errors
    /// [`Error::Onnx`](crate::Error::Onnx) for bytes that are no model and for models that do not fit together,
    /// [`Error::Node`](crate::Error::Node) for a node that is wrong, [`Error::Unbound`](crate::Error::Unbound) for a
    /// dimension, [`Error::Unknown`](crate::Error::Unknown) for a graph input that has to be known.
    pub fn from_onnx(bytes: &[u8], bind: &Bindings) -> Result<Imported> {
        import::import(&proto::decode(bytes, "the model")?, bind)
    }
}

/// The graph inputs whose values have to be in [`Bindings::values`] when `only` these values are wanted, in the order of
/// the graph: they give axes, sizes or k.
///
/// # Errors
/// [`Error::Onnx`](crate::Error::Onnx) for bytes that are no model.
pub fn inputs_to_know(bytes: &[u8], only: &[String]) -> Result<Vec<String>> {
    let model = proto::decode(bytes, "the model")?;
    let graph = graph::Graph::of(&model)?;
    let needed = graph.needed(only)?;
    Ok(graph.to_know(&needed))
}
