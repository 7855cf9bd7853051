//! How a value is read in memory by the iterators of a region.

use crate::canon::{Class, Classes};
use crate::program::{Node, Op, Program, ValueId};
use crate::tensor::c_strides;

/// A value that lies in memory, and how to reach its elements: `offset` and a stride per axis, in elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// The value in memory.
    pub base: ValueId,
    /// Place of the first element.
    pub offset: usize,
    /// Distance along each axis of the value that is read.
    pub strides: Vec<usize>,
}

impl Access {
    /// How `v` is reached: in memory of its own, or through views if `in_memory` holds for what is below them.
    pub fn of(p: &Program, v: ValueId, in_memory: &dyn Fn(ValueId) -> bool) -> Option<Access> {
        if !in_memory(v) {
            return Access::through(p, v, in_memory);
        }
        let strides = match &p.maker(v).op {
            Op::Input { strides, .. } => strides.clone(),
            _ => c_strides(p.shape(v)),
        };
        Some(Access { base: v, offset: 0, strides })
    }

    /// How a view is reached through what it is a view of, whether or not it has memory of its own.
    pub fn through(p: &Program, v: ValueId, in_memory: &dyn Fn(ValueId) -> bool) -> Option<Access> {
        let (node, shape) = (p.maker(v), p.shape(v));
        let below = || Access::of(p, *node.inputs.first()?, in_memory);
        match &node.op {
            Op::Broadcast => {
                let own = p.shape(node.inputs[0]);
                let a = below()?;
                let strides = (0..shape.len()).map(|i| if own[i] == shape[i] { a.strides[i] } else { 0 }).collect();
                Some(Access { strides, ..a })
            }
            Op::Transpose { perm } => {
                let a = below()?;
                Some(Access { strides: perm.iter().map(|&i| a.strides[i]).collect(), ..a })
            }
            Op::Slice { starts, steps } => {
                let a = below()?;
                let offset = a.offset + starts.iter().zip(&a.strides).map(|(s, t)| s * t).sum::<usize>();
                let strides = steps.iter().zip(&a.strides).map(|(s, t)| s * t).collect();
                Some(Access { base: a.base, offset, strides })
            }
            Op::Reshape => {
                let from = node.inputs[0];
                let plain = in_memory(from) && is_c_order(p, from);
                plain.then(|| Access { base: from, offset: 0, strides: c_strides(shape) })
            }
            _ => None,
        }
    }

    /// The value that has to be in memory where operand number `operand` of a node is read there: the operand, or what it
    /// is a view of if it has no memory of its own.
    pub fn below(p: &Program, node: &Node, operand: usize, in_memory: &dyn Fn(ValueId) -> bool) -> ValueId {
        let mut v = node.inputs[operand];
        if matches!(node.op, Op::Reshape) {
            return v;
        }
        while !in_memory(v) {
            match &p.maker(v).op {
                Op::Broadcast | Op::Transpose { .. } | Op::Slice { .. } => v = p.maker(v).inputs[0],
                Op::Reshape => return p.maker(v).inputs[0],
                _ => break,
            }
        }
        v
    }
}

fn is_c_order(p: &Program, v: ValueId) -> bool {
    match &p.maker(v).op {
        Op::Input { strides, .. } => {
            let (shape, c) = (p.shape(v), c_strides(p.shape(v)));
            (0..shape.len()).all(|a| shape[a] == 1 || strides[a] == c[a])
        }
        _ => true,
    }
}

/// Distance in memory for one step of each iterator of `v`, given the distance along each of its axes.
pub fn strides_by_class(classes: &Classes, v: ValueId, strides: &[usize]) -> Vec<(Class, usize)> {
    let axes = strides.iter().enumerate();
    axes.flat_map(|(axis, stride)| classes.of_axis(v, axis).into_iter().map(move |d| (d.class, d.step * stride)))
        .collect()
}
