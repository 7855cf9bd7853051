//! Making the list of a network: layers are pushed in running order and named; inputs are given by name.

use super::Network;
use super::schedule::{Facts, Schedule, Source};
use crate::layer::Layer;
use crate::number::Number;
use crate::{Error, Result};

/// The name by which a layer reads X.
pub const FEATURES: &str = "features";

/// The longest list of layers: far more than memory has activations for, and still listed in a second.
const MOST: usize = 1 << 19;

/// One layer of a network.
pub struct Node<T: Number> {
    /// Name, unique in the network: `convs.0.lin`.
    pub name: String,
    /// Names of its inputs: [`FEATURES`] or earlier layers.
    pub inputs: Vec<String>,
    /// The layer.
    pub layer: Box<dyn Layer<T>>,
    /// Columns of its output.
    pub width: usize,
    /// Its output is a hidden activation: what a layer of the model ends with.
    pub(super) hidden: bool,
    pub(super) sources: Vec<Source>,
}

impl<T: Number> std::fmt::Debug for Node<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} = {}({}) -> {}", self.name, self.layer.kind(), self.inputs.join(", "), self.width)
    }
}

/// A network in the making.
#[derive(Debug)]
pub struct Builder<T: Number> {
    model: &'static str,
    features: Input,
    nodes: Vec<Node<T>>,
    by_name: std::collections::BTreeMap<String, usize>,
    cuts: Vec<usize>,
}

/// What X is, as far as layers care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// Columns of X.
    pub width: usize,
    /// X is sparse: only a sparse linear layer can read it.
    pub sparse: bool,
}

impl<T: Number> Builder<T> {
    /// An empty list for `model` on features as described.
    pub fn new(model: &'static str, features: Input) -> Builder<T> {
        Builder { model, features, nodes: Vec::new(), by_name: std::collections::BTreeMap::new(), cuts: Vec::new() }
    }

    /// What was pushed since the last cut is a layer of the model, in the sense of its number of layers: the network may
    /// be cut here, for recomputation or between stages.
    pub fn cut(&mut self) {
        let here = self.nodes.len();
        if here > self.cuts.last().copied().unwrap_or(0) {
            self.cuts.push(here);
        }
    }

    /// Name of the model.
    pub fn model(&self) -> &'static str {
        self.model
    }

    /// What X is.
    pub fn features(&self) -> Input {
        self.features
    }

    /// Columns of the output of `name`, or of X.
    ///
    /// # Errors
    /// [`Error::Model`] when there is no such layer yet.
    pub fn width(&self, name: &str) -> Result<usize> {
        if name == FEATURES {
            return Ok(self.features.width);
        }
        Ok(self.nodes[self.find(name)?].width)
    }

    /// Appends `layer`, which reads the outputs called `inputs`, and returns its name.
    ///
    /// # Errors
    /// [`Error::Model`] for a name that exists already, an input that does not exist or stands twice, and inputs that do
    /// not fit the layer.
    pub fn push(&mut self, name: impl Into<String>, inputs: &[&str], layer: impl Layer<T> + 'static) -> Result<String> {
        let name = name.into();
        if name == FEATURES || self.find(&name).is_ok() {
            return Err(self.wrong(format!("two layers are called {name}")));
        }
        if self.nodes.len() == MOST {
            return Err(self.wrong(format!("has more than {MOST} layers in its list; use fewer --layers")));
        }
        let mut sources = Vec::with_capacity(inputs.len());
        for &input in inputs {
            let source = match input {
                // A sparse X is no block: its layers take it from the pass.
                FEATURES if self.features.sparse => continue,
                FEATURES => Source::Features,
                _ => Source::Node(self.find(input)?),
            };
            if sources.contains(&source) {
                return Err(self.wrong(format!("{name} reads {input} twice")));
            }
            sources.push(source);
        }
        let widths: Vec<usize> = sources.iter().map(|s| self.width_of(*s)).collect();
        let width = layer.width(&widths).map_err(|e| self.wrong(format!("{name}: {e}")))?;
        let inputs = inputs.iter().map(|&i| i.to_owned()).collect();
        self.by_name.insert(name.clone(), self.nodes.len());
        self.nodes.push(Node { name: name.clone(), inputs, layer: Box::new(layer), width, hidden: false, sources });
        Ok(name)
    }

    /// Marks the output of the layer pushed last as a hidden activation.
    pub fn mark_hidden(&mut self) {
        self.nodes.iter_mut().last().into_iter().for_each(|node| node.hidden = true);
    }

    /// Takes the mark off the layer called `name`, whose output is only a part of what the next layer reads.
    pub fn unmark_hidden(&mut self, name: &str) {
        self.nodes.iter_mut().filter(|node| node.name == name).for_each(|node| node.hidden = false);
    }

    /// The network; the last layer pushed gives the logits.
    ///
    /// # Errors
    /// [`Error::Model`] for an empty list, an output that nobody reads, and a last layer whose backward reads its own
    /// output (the loss overwrites the logits).
    pub fn finish(self) -> Result<Network<T>> {
        let facts: Vec<Facts> = self.nodes.iter().map(facts).collect();
        let last = facts.len().checked_sub(1).ok_or_else(|| self.wrong("has no layer"))?;
        let mut read = vec![false; facts.len()];
        facts.iter().flat_map(|fact| &fact.sources).for_each(|source| {
            if let Source::Node(j) = source {
                read[*j] = true;
            }
        });
        if let Some(j) = (0..last).find(|&j| !read[j]) {
            return Err(self.wrong(format!("nobody reads {}", self.nodes[j].name)));
        }
        if facts[last].needs.output {
            return Err(
                self.wrong(format!("{} cannot be last: its backward pass reads the logits", self.nodes[last].name))
            );
        }
        let cuts = self.cuts.into_iter().filter(|&cut| cut <= last).collect();
        Ok(Network { model: self.model, nodes: self.nodes, schedule: Schedule::new(facts, cuts) })
    }

    fn find(&self, name: &str) -> Result<usize> {
        self.by_name.get(name).copied().ok_or_else(|| self.wrong(format!("no layer is called {name}")))
    }

    fn width_of(&self, source: Source) -> usize {
        match source {
            Source::Features => self.features.width,
            Source::Node(j) => self.nodes[j].width,
        }
    }

    fn wrong(&self, what: impl Into<String>) -> Error {
        Error::Model { model: self.model.into(), what: what.into() }
    }
}

fn facts<T: Number>(node: &Node<T>) -> Facts {
    Facts {
        sources: node.sources.clone(),
        width: node.width,
        in_place: node.layer.in_place(),
        needs: node.layer.needs(),
        has_parameters: !node.layer.parameters().is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Activation, Function, Linear, Propagate, SparseLinear, Sum};

    fn builder(sparse: bool) -> Builder<f32> {
        Builder::new("toy", Input { width: 4, sparse })
    }

    #[test]
    fn names_inputs_and_widths_are_checked() {
        let mut b = builder(false);
        let a = b.push("a", &[FEATURES], Linear::new("a", 4, 3, false)).unwrap();
        assert_eq!(b.width(&a).unwrap(), 3);
        let what = |r: Result<String>| r.unwrap_err().to_string();
        assert!(what(b.push("a", &["a"], Propagate::new(1))).contains("two layers are called a"));
        assert!(what(b.push("b", &["c"], Propagate::new(1))).contains("no layer is called c"));
        assert!(what(b.push("b", &["a", "a"], Sum)).contains("reads a twice"));
        assert!(
            what(b.push("b", &["a"], Linear::new("b", 4, 3, false))).contains("weight for 4 columns, the input has 3")
        );
        assert!(what(b.push("b", &["a", FEATURES], Sum)).contains("[3, 4]"));
    }

    #[test]
    fn a_sparse_x_is_read_by_a_sparse_layer_only() {
        let mut b = builder(true);
        assert!(b.push("p", &[FEATURES], Propagate::new(1)).is_err());
        b.push("a", &[FEATURES], SparseLinear::new("a", 4, 3, true)).unwrap();
        assert_eq!(b.finish().unwrap().parameter_count(), 15);
    }

    #[test]
    fn a_list_without_a_proper_end_is_refused() {
        assert!(builder(false).finish().is_err());
        let mut b = builder(false);
        b.push("a", &[FEATURES], Linear::new("a", 4, 3, false)).unwrap();
        b.push("b", &[FEATURES], Propagate::new(1)).unwrap();
        assert!(b.finish().unwrap_err().to_string().contains("nobody reads a"));
        let mut b = builder(false);
        b.push("a", &[FEATURES], Linear::new("a", 4, 3, false)).unwrap();
        b.push("b", &["a"], Activation::new(Function::Relu)).unwrap();
        assert!(b.finish().unwrap_err().to_string().contains("cannot be last"));
    }
}
