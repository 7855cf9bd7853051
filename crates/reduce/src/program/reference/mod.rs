//! The slow twin: a program evaluated element by element, each with a bound on how far an execution may be from it.
//!
//! Floats are computed in f64 and never rounded in between, except that what overflows its type is infinite; whole
//! numbers are exact. The bound is a first-order analysis (specification of the bound: Higham, *Accuracy and Stability of
//! Numerical Algorithms*, chapters 2–4): an operation passes the errors of its operands on with its slopes and adds the
//! roundoff of its type; a reduction adds γ of the depth of its canonical tree. An element whose value is decided by a
//! comparison within the errors has an infinite bound: anything is right there. Sizes and speed do not matter here;
//! everything that executes programs is tested against it. `bounded.rs` holds the values, `map.rs`, `reduce.rs` and
//! `order.rs` one kind of operation each, `check.rs` compares.

mod bounded;
mod check;
mod generic;
mod map;
mod order;
mod reduce;

pub use bounded::{Bounded, Values};
pub use check::Check;

use super::{Node, Op, Program, ValueId};
use crate::canon::{self, Classes};
use crate::error::{Error, Result};
use crate::tensor::{Tensor, TensorView, c_strides};
use bounded::Element;

impl Program {
    /// The outputs for `inputs`, in the order of their declarations; inputs may lie in memory in any way.
    ///
    /// # Errors
    /// [`Error::Input`] if an input differs from its declaration, [`Error::Value`] for a label outside its axis or a wrong
    /// number of inputs, [`Error::Run`] without memory.
    pub fn reference(&self, inputs: &[TensorView<'_>]) -> Result<Vec<Tensor>> {
        self.reference_bounded(inputs)?.iter().map(Bounded::rounded).collect()
    }

    /// As [`Program::reference`], before the last rounding and with the bound of each element.
    ///
    /// # Errors
    /// As [`Program::reference`].
    pub fn reference_bounded(&self, inputs: &[TensorView<'_>]) -> Result<Vec<Bounded>> {
        self.check_inputs(inputs)?;
        let classes = Classes::of(self);
        let orders = canon::orders(self, &classes);
        let depth = |node: &Node| canon::form(self, &classes, &orders, node).depth();
        let last_use = self.last_uses();
        let mut values: Vec<Option<Bounded>> = vec![None; self.values()];
        for (number, node) in self.nodes.iter().enumerate() {
            let made = self.node_value(node, inputs, &values, &depth)?;
            for (v, value) in node.outputs.iter().zip(made) {
                values[v.0 as usize] = Some(value);
            }
            for v in node.inputs.iter().filter(|v| last_use[v.0 as usize] == number) {
                values[v.0 as usize] = None;
            }
        }
        let given = |(name, v): &(String, ValueId)| {
            values[v.0 as usize].clone().ok_or_else(|| Error::value(format!("output {name}"), "has no value"))
        };
        self.outputs.iter().map(given).collect()
    }

    /// Refuses inputs that are not as declared; strides are the view's own.
    pub(crate) fn check_inputs(&self, inputs: &[TensorView<'_>]) -> Result<()> {
        if inputs.len() != self.inputs.len() {
            let message = format!("the program has {} inputs, {} are given", self.inputs.len(), inputs.len());
            return Err(Error::value(&self.name, message));
        }
        for (&v, given) in self.inputs.iter().zip(inputs) {
            if self.dtype(v) != given.dtype() || self.shape(v) != given.shape() {
                let message = format!("{given:?} is given, {}{:?} is declared", self.dtype(v), self.shape(v));
                return Err(Error::Input { name: self.input_name(v).into(), message });
            }
        }
        Ok(())
    }

    /// The last node that reads each value; outputs are read in the end.
    fn last_uses(&self) -> Vec<usize> {
        let mut last = vec![usize::MAX; self.values()];
        for (number, node) in self.nodes.iter().enumerate() {
            for v in &node.inputs {
                last[v.0 as usize] = number;
            }
        }
        for (_, v) in &self.outputs {
            last[v.0 as usize] = usize::MAX;
        }
        last
    }

    fn node_value(
        &self,
        node: &Node,
        inputs: &[TensorView<'_>],
        values: &[Option<Bounded>],
        depth: &dyn Fn(&Node) -> u64,
    ) -> Result<Vec<Bounded>> {
        let missing = || Error::value(node.op.name(), "an operand has no value");
        let x: Vec<&Bounded> =
            node.inputs.iter().map(|v| values[v.0 as usize].as_ref().ok_or_else(missing)).collect::<Result<_>>()?;
        let out = self.value(node.outputs[0]);
        let (dtype, shape) = (out.dtype, &out.shape[..]);
        let one = match &node.op {
            Op::Input { .. } => {
                let at = self.inputs.iter().position(|v| *v == node.outputs[0]);
                Bounded::of_view(at.map(|i| &inputs[i]).ok_or_else(missing)?)
            }
            Op::Constant(tensor) => Bounded::of_view(&tensor.view()),
            Op::Map(op) => map::mapped(op, &x, dtype, shape),
            Op::Cast => Bounded::build(dtype, shape, |i| Ok(map::cast(x[0].element(i), x[0].dtype, dtype))),
            Op::Reduce { op, params, axes } => {
                let outputs = node.outputs.iter().map(|v| (self.dtype(*v), self.shape(*v))).collect();
                return reduce::reduced(*op, params, axes, x[0], outputs, depth(node));
            }
            Op::GatherLabel { axis } => gathered(x[0], x[1], *axis, shape),
            Op::Iota { axis } => {
                let stride = c_strides(shape)[*axis];
                Bounded::build(dtype, shape, |i| Ok(map::cast_int((i / stride % shape[*axis]) as i128, dtype)))
            }
            Op::Broadcast | Op::Reshape | Op::Transpose { .. } | Op::Slice { .. } => arranged(&node.op, x[0], shape),
        }?;
        Ok(vec![one])
    }
}

/// What only arranges elements: element (i₀, …) of the result is one of the operand's.
fn arranged(op: &Op, x: &Bounded, shape: &[usize]) -> Result<Bounded> {
    let (own, steps) = (c_strides(&x.shape), c_strides(shape));
    let along = |i: usize, axis: usize| i / steps[axis] % shape[axis];
    let place = |i: usize| -> usize {
        let axes = 0..shape.len();
        match op {
            Op::Broadcast => axes.map(|a| if x.shape[a] == 1 { 0 } else { along(i, a) * own[a] }).sum(),
            Op::Transpose { perm } => axes.map(|a| along(i, a) * own[perm[a]]).sum(),
            Op::Slice { starts, steps } => axes.map(|a| (starts[a] + along(i, a) * steps[a]) * own[a]).sum(),
            _ => i,
        }
    };
    Bounded::build(x.dtype, shape, |i| Ok(x.element(place(i))))
}

fn gathered(x: &Bounded, labels: &Bounded, axis: usize, shape: &[usize]) -> Result<Bounded> {
    let inner: usize = x.shape[axis + 1..].iter().product();
    let extent = x.shape[axis];
    Bounded::build(x.dtype, shape, |i| {
        let label = labels.element(i);
        let index = usize::try_from(label.int).ok().filter(|&l| l < extent).ok_or_else(|| {
            Error::value("gather_label", format!("label {} at place {i} is outside 0..{extent}", label.int))
        })?;
        let picked = x.element((i / inner * extent + index) * inner + i % inner);
        Ok(Element { error: if label.error > 0.0 { f64::INFINITY } else { picked.error }, ..picked })
    })
}

#[cfg(test)]
pub(crate) mod narrow;
#[cfg(test)]
mod tests;
