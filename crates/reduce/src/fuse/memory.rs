//! How a value is read in memory by the iterators of a region.

use crate::canon::{Class, Classes};
use crate::program::{Op, Program, ValueId};
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
    /// How `v` is reached through views, if `in_memory` holds for what is below them.
    pub fn of(p: &Program, v: ValueId, in_memory: &dyn Fn(ValueId) -> bool) -> Option<Access> {
        let node = p.maker(v);
        let shape = p.shape(v);
        if in_memory(v) {
            let strides = match &node.op {
                Op::Input { strides, .. } => strides.clone(),
                _ => c_strides(shape),
            };
            return Some(Access { base: v, offset: 0, strides });
        }
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

    /// The value that has to be in memory for `v` to be read there: the one below its views.
    pub fn base_of(p: &Program, v: ValueId) -> ValueId {
        let node = p.maker(v);
        match &node.op {
            Op::Broadcast | Op::Transpose { .. } | Op::Slice { .. } => Access::base_of(p, node.inputs[0]),
            Op::Reshape => node.inputs[0],
            _ => v,
        }
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
