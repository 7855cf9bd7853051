//! Tensor programs: primitive operations on dense tensors, in topological order, in static single assignment.
//!
//! A program is built by its own methods (`build.rs`), which infer shapes and refuse what does not fit; so a program that
//! exists is well formed. Composite operations are lowered while they are added. Nothing here knows how it will run.

mod build;
#[cfg(test)]
pub(crate) mod random;
pub(crate) mod reference;
mod text;

pub use build::Axes;
pub(crate) use build::resolve_axis;
pub use reference::{Bounded, Check, Values};

use crate::dtype::Dtype;
use crate::elementwise::Elementwise;
use crate::monoids::{Params, ReduceOp};
use crate::tensor::Tensor;
use std::sync::Arc;

/// A value of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(crate) u32);

/// A node of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// Type and shape of a value, and the node that makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Who makes it.
    pub node: NodeId,
    /// Which of the node's outputs it is.
    pub port: usize,
    /// Type of its elements.
    pub dtype: Dtype,
    /// Length of each axis.
    pub shape: Vec<usize>,
}

/// A primitive operation.
#[derive(Debug, Clone)]
pub enum Op {
    /// An input of the program; strides in elements, all positive.
    Input {
        /// Its name.
        name: String,
        /// Distance of neighbours along each axis.
        strides: Vec<usize>,
    },
    /// A tensor known when the program was made.
    Constant(Arc<Tensor>),
    /// One element from the elements at the same place; all operands have the output's shape.
    Map(&'static Elementwise),
    /// Conversion to the output's type.
    Cast,
    /// Axes of extent 1 are repeated to the output's extent.
    Broadcast,
    /// The same elements in C order under another shape.
    Reshape,
    /// Axis i of the output is axis `perm[i]` of the operand.
    Transpose {
        /// A permutation of the axes.
        perm: Vec<usize>,
    },
    /// Element i along an axis is element start + i·step of the operand; steps are at least 1.
    Slice {
        /// First element along each axis.
        starts: Vec<usize>,
        /// Distance along each axis.
        steps: Vec<usize>,
    },
    /// Operands x and labels (i32 or i64, the shape of x without `axis`): picks x at the label along `axis`. A label outside
    /// the axis is an error when it runs.
    GatherLabel {
        /// The axis of x that goes.
        axis: usize,
    },
    /// The index along `axis`.
    Iota {
        /// An axis of the output.
        axis: usize,
    },
    /// Reduces `axes` (ascending); they are gone from the outputs. `topk` leaves its axis (the only one) with extent k.
    Reduce {
        /// The operator.
        op: &'static dyn ReduceOp,
        /// What it is told.
        params: Params,
        /// The reduced axes.
        axes: Vec<usize>,
    },
}

impl Op {
    /// The name in texts and explanations.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Input { .. } => "input",
            Op::Constant(_) => "constant",
            Op::Map(op) => op.name,
            Op::Cast => "cast",
            Op::Broadcast => "broadcast",
            Op::Reshape => "reshape",
            Op::Transpose { .. } => "transpose",
            Op::Slice { .. } => "slice",
            Op::GatherLabel { .. } => "gather_label",
            Op::Iota { .. } => "iota",
            Op::Reduce { op, .. } => op.name(),
        }
    }
}

/// An operation with its operands and results.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// What it reads.
    pub inputs: Vec<ValueId>,
    /// What it makes.
    pub outputs: Vec<ValueId>,
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Name of the program.
    pub name: String,
    nodes: Vec<Node>,
    values: Vec<Value>,
    inputs: Vec<ValueId>,
    outputs: Vec<(String, ValueId)>,
}

impl Program {
    /// The nodes; each reads only values of earlier ones.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn nodes_mut(&mut self) -> &mut [Node] {
        &mut self.nodes
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// A value.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// The node that makes a value.
    pub fn maker(&self, id: ValueId) -> &Node {
        self.node(self.value(id).node)
    }

    /// Number of values; their ids are 0 … this − 1.
    pub fn values(&self) -> usize {
        self.values.len()
    }

    /// The inputs, in the order of their declaration.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// Name and value of each output, in the order of their declaration.
    pub fn outputs(&self) -> &[(String, ValueId)] {
        &self.outputs
    }

    /// Distance of neighbours along each axis of an input, in elements.
    pub fn strides(&self, input: ValueId) -> &[usize] {
        match &self.maker(input).op {
            Op::Input { strides, .. } => strides,
            _ => &[],
        }
    }

    /// Number of classes, if an input's elements are labels: the shortest axis that a `gather_label` picks from by them.
    pub fn label_range(&self, input: ValueId) -> Option<usize> {
        let picks = self.nodes.iter().filter_map(|node| match node.op {
            Op::GatherLabel { axis } => Some((node.inputs[1], self.value(node.inputs[0]).shape[axis])),
            _ => None,
        });
        picks.filter(|(labels, _)| self.comes_from(*labels, input)).map(|(_, extent)| extent).min()
    }

    /// Whether a value is made from an input, and not by a reduction or a gather.
    fn comes_from(&self, v: ValueId, input: ValueId) -> bool {
        let mut todo = vec![v];
        let mut seen = vec![false; self.values.len()];
        while let Some(v) = todo.pop() {
            let plain = !matches!(self.maker(v).op, Op::Reduce { .. } | Op::GatherLabel { .. });
            if v == input {
                return true;
            }
            if plain && !std::mem::replace(&mut seen[v.0 as usize], true) {
                todo.extend(&self.maker(v).inputs);
            }
        }
        false
    }

    /// Name of an input.
    pub fn input_name(&self, id: ValueId) -> &str {
        match &self.maker(id).op {
            Op::Input { name, .. } => name,
            other => other.name(),
        }
    }

    /// The constant behind a value, if it is one.
    pub fn constant_of(&self, id: ValueId) -> Option<&Arc<Tensor>> {
        match &self.maker(id).op {
            Op::Constant(tensor) => Some(tensor),
            _ => None,
        }
    }
}
