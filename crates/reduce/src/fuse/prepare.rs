//! Makes a program ready for fusion: only what the outputs need, copies where a value must have memory of its own.

use crate::error::Result;
use crate::program::{Node, Op, Program, ValueId};
use crate::tensor::c_strides;
use std::collections::BTreeSet;

/// The same program without what no output needs. An output that is an input, a constant or a second name of another output
/// becomes a copy, and so does an input with gaps that is reshaped.
///
/// # Errors
/// None that a program which exists can cause.
pub fn prepare(p: &Program) -> Result<Program> {
    let mut out = Program::new(&p.name);
    let live = live(p);
    let mut now: Vec<Option<ValueId>> = vec![None; p.values()];
    for (i, node) in p.nodes().iter().enumerate() {
        // Inputs stay, so that runs can be given them.
        if !live[i] && !matches!(node.op, Op::Input { .. }) {
            continue;
        }
        let inputs: Vec<ValueId> = node.inputs.iter().filter_map(|v| now[v.0 as usize]).collect();
        let inputs = if matches!(node.op, Op::Reshape) { vec![contiguous(&mut out, inputs[0])?] } else { inputs };
        let made = out.add(node, p, inputs)?;
        node.outputs.iter().zip(made).for_each(|(old, new)| now[old.0 as usize] = Some(new));
    }
    let mut taken = BTreeSet::new();
    for (name, v) in p.outputs() {
        let Some(v) = now[v.0 as usize] else { continue };
        let own = !matches!(out.maker(v).op, Op::Input { .. } | Op::Constant(_));
        let v = if own && taken.insert(v) { v } else { out.copy(v)? };
        out.output(name, v)?;
    }
    Ok(out)
}

/// Which nodes the outputs need.
fn live(p: &Program) -> Vec<bool> {
    let mut live = vec![false; p.nodes().len()];
    p.outputs().iter().for_each(|(_, v)| live[p.value(*v).node.0 as usize] = true);
    for (i, node) in p.nodes().iter().enumerate().rev() {
        if live[i] {
            node.inputs.iter().for_each(|v| live[p.value(*v).node.0 as usize] = true);
        }
    }
    live
}

fn contiguous(p: &mut Program, v: ValueId) -> Result<ValueId> {
    let gaps = match &p.maker(v).op {
        Op::Input { strides, .. } => {
            let shape = p.shape(v);
            let c = c_strides(shape);
            (0..shape.len()).any(|a| shape[a] != 1 && strides[a] != c[a])
        }
        _ => false,
    };
    if gaps { p.copy(v) } else { Ok(v) }
}

impl Program {
    /// Adds a node of another program, which reads `inputs` here.
    fn add(&mut self, node: &Node, from: &Program, inputs: Vec<ValueId>) -> Result<Vec<ValueId>> {
        let made = node.outputs.iter().map(|&v| (from.dtype(v), from.shape(v).to_vec())).collect();
        self.raw(node.op.clone(), inputs, made)
    }
}
