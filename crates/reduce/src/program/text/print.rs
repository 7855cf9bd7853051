//! A program as text: one statement for each node, in primitives, named so that reading it prints the same text again.
//!
//! What the text cannot hold: a constant with axes prints as an input of its shape, and the policy for NaN is left out.

use super::{MOMENTS, RESERVED};
use crate::program::{Node, Op, Program, ValueId};
use crate::tensor::{Tensor, c_strides, element};
use std::collections::BTreeSet;
use std::fmt::{Display, Formatter, Result};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut taken = BTreeSet::new();
        let name = if self.name.is_empty() { "unnamed" } else { &self.name };
        writeln!(f, "program {}", fresh(&mut BTreeSet::new(), name))?;
        let (values, outputs) = names(self, &mut taken);
        for node in self.nodes() {
            statement(self, node, &values, f)?;
        }
        for ((_, v), name) in self.outputs().iter().zip(&outputs) {
            if *name != values[v.0 as usize] {
                writeln!(f, "{name} = {}", values[v.0 as usize])?;
            }
        }
        if outputs.is_empty() { Ok(()) } else { writeln!(f, "output {}", outputs.join(", ")) }
    }
}

/// A name of the grammar made of `wish`, which nobody has.
fn fresh(taken: &mut BTreeSet<String>, wish: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = wish.chars().map(letter).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        name.insert(0, '_');
    }
    while RESERVED.contains(&name.as_str()) || taken.contains(&name) {
        name.push('_');
    }
    taken.insert(name.clone());
    name
}

/// Names of all values, and of the outputs. An output that is nothing else gives its name to its value.
fn names(p: &Program, taken: &mut BTreeSet<String>) -> (Vec<String>, Vec<String>) {
    let mut values: Vec<Option<String>> = vec![None; p.values()];
    for &v in p.inputs() {
        values[v.0 as usize] = Some(fresh(taken, p.input_name(v)));
    }
    let mut outputs = Vec::with_capacity(p.outputs().len());
    for (name, v) in p.outputs() {
        let own = &mut values[v.0 as usize];
        outputs.push(match own {
            Some(known) if known == name => known.clone(),
            _ => fresh(taken, name),
        });
        own.get_or_insert_with(|| outputs[outputs.len() - 1].clone());
    }
    let numbered = |(i, name): (usize, Option<String>)| name.unwrap_or_else(|| fresh(taken, &format!("v{i}")));
    (values.into_iter().enumerate().map(numbered).collect(), outputs)
}

fn statement(p: &Program, node: &Node, names: &[String], f: &mut Formatter<'_>) -> Result {
    let name = |v: &ValueId| names[v.0 as usize].as_str();
    let list = |vs: &[ValueId]| vs.iter().map(name).collect::<Vec<_>>().join(", ");
    let (out, inputs) = (node.outputs[0], list(&node.inputs));
    let (dtype, shape) = (p.dtype(out), p.shape(out));
    match &node.op {
        Op::Input { strides, .. } => {
            write!(f, "input {}: {dtype}{shape:?}", name(&out))?;
            return if *strides == c_strides(shape) { writeln!(f) } else { writeln!(f, " strides {strides:?}") };
        }
        Op::Constant(_) if !shape.is_empty() => {
            return writeln!(f, "input {}: {dtype}{shape:?}  # a constant; its elements are not text", name(&out));
        }
        _ => write!(f, "{} = ", list(&node.outputs))?,
    }
    match &node.op {
        Op::Input { .. } => Ok(()),
        Op::Constant(tensor) => write!(f, "constant(value={}, dtype={dtype})", number(tensor)),
        Op::Map(op) => write!(f, "{}({inputs})", op.name),
        Op::Cast => write!(f, "cast({inputs}, to={dtype})"),
        Op::Broadcast | Op::Reshape => write!(f, "{}({inputs}, shape={shape:?})", node.op.name()),
        Op::Transpose { perm } => write!(f, "transpose({inputs}, perm={perm:?})"),
        Op::Slice { starts, steps } => {
            let end = |a: usize| starts[a] + shape[a].checked_sub(1).map_or(0, |last| last * steps[a] + 1);
            let ends: Vec<usize> = (0..shape.len()).map(end).collect();
            write!(f, "slice({inputs}, starts={starts:?}, ends={ends:?}, steps={steps:?})")
        }
        Op::GatherLabel { axis } => write!(f, "gather_label({inputs}, axis={axis})"),
        Op::Iota { axis } => write!(f, "iota(shape={shape:?}, axis={axis}, dtype={dtype})"),
        Op::Reduce { axes, .. } => reduction(p, node, axes, &inputs, f),
    }?;
    writeln!(f)
}

fn reduction(p: &Program, node: &Node, axes: &[usize], inputs: &str, f: &mut Formatter<'_>) -> Result {
    let Op::Reduce { op, params, .. } = &node.op else { return Ok(()) };
    if op.name() == "topk" {
        let axis = axes.first().copied().unwrap_or(0);
        return write!(f, "topk({inputs}, k={}, largest={}, axis={axis})", params.k, !params.smallest);
    }
    let name = if op.name() == "moments" { MOMENTS } else { op.name() };
    write!(f, "{name}({inputs}, axes={axes:?}")?;
    if params.last {
        f.write_str(", last=true")?;
    }
    if axes.is_empty() && !p.shape(node.inputs[0]).is_empty() {
        f.write_str(", noop=true")?;
    }
    f.write_str(")")
}

/// A single number so that it is read back exactly, with as few digits as single precision needs where that will do.
fn number(tensor: &Tensor) -> String {
    let dtype = tensor.dtype();
    let (float, int) = element(dtype, tensor.bytes(), 0);
    if !dtype.is_float() {
        return int.to_string();
    }
    let short = format!("{:?}", float as f32);
    let same = short.parse().is_ok_and(|back| dtype.round(back) == float);
    if same { short } else { format!("{float:?}").to_lowercase() }
}
