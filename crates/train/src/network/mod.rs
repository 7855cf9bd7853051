//! A network: a flat list of layers with named inputs, so that it can be cut at any place.
//!
//! [`Builder`] makes the list, `schedule` works out once where each activation lives and how long, `run` runs it forward
//! and backward. All blocks come from an [`Arena`](crate::Arena) and go back to it. A network never sees a label and
//! never chooses a graph: the pass brings its Â in [`Cx`](crate::layer::Cx).

mod build;
mod compose;
mod cost;
mod join;
mod run;
pub(crate) mod schedule;

pub use build::{Builder, FEATURES, Input, Node};
pub use cost::LayerCost;
pub use join::Join;
pub use run::Pass;

use crate::Result;
use crate::number::Number;
use crate::parameter::Parameter;
use sapwood_sparse::Block;
use schedule::Schedule;

/// The layers of a model, for features of a given width.
#[derive(Debug)]
pub struct Network<T: Number> {
    model: &'static str,
    nodes: Vec<Node<T>>,
    schedule: Schedule,
}

impl<T: Number> Network<T> {
    /// Name of the model.
    pub fn model(&self) -> &'static str {
        self.model
    }

    /// The layers, in the order they run.
    pub fn nodes(&self) -> &[Node<T>] {
        &self.nodes
    }

    /// Columns of the widest activation.
    pub(crate) fn widest(&self) -> usize {
        self.nodes.iter().map(|node| node.width).max().unwrap_or(0)
    }

    /// Layers that can have a draw of their own: the largest number of a propagation.
    pub fn draws(&self) -> u16 {
        self.nodes.iter().map(|node| node.layer.propagation()).max().unwrap_or(0)
    }

    /// Columns of the widest layer that chooses among neighbours.
    pub(crate) fn widest_choice(&self) -> usize {
        self.nodes.iter().filter(|node| node.layer.chooses()).map(|node| node.width).max().unwrap_or(0)
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// How many segments of layers can be recomputed.
    pub fn recomputable(&self) -> usize {
        self.schedule.recomputable()
    }

    /// Has backward recompute the activations of the first `segments` segments, ⌈√L⌉ layers each, in place of keeping
    /// them. The results have the same bits.
    pub fn recompute(&mut self, segments: usize) {
        self.schedule.recompute(segments);
    }

    /// Names of the layers whose outputs are hidden activations, sorted: what the next layer of the model reads.
    pub fn activations(&self) -> Vec<String> {
        let hidden = self.nodes.iter().filter(|node| node.hidden);
        let mut names: Vec<String> = hidden.map(|node| node.name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// All parameters, in the order of the layers.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter<T>> {
        self.nodes.iter().flat_map(|node| node.layer.parameters())
    }

    /// All parameters, to be changed.
    pub fn parameters_mut(&mut self) -> impl Iterator<Item = &mut Parameter<T>> {
        self.nodes.iter_mut().flat_map(|node| node.layer.parameters_mut())
    }

    /// Numbers that are learnt.
    pub fn parameter_count(&self) -> u64 {
        self.parameters().filter(|p| p.role.learnt()).map(Parameter::count).sum()
    }

    /// One zero block per parameter, for gradients or for the state of an optimiser.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn like_parameters(&self) -> Result<Vec<Block<T>>> {
        self.parameters().map(|p| Ok(Block::zeros(p.shape.0, p.shape.1)?)).collect()
    }
}
