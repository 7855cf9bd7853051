//! The order of a value's iterators in memory, outermost first.
//!
//! A graph input gives it by its strides; an elementwise result has that of its largest operand; views, slices and
//! reductions carry it; a broadcast puts its new axes behind the axis that stands before them.

use super::digits::{Class, Classes};
use crate::program::{Node, Op, Program, ValueId};

/// The order of each value of a program.
pub fn orders(p: &Program, classes: &Classes) -> Vec<Vec<Class>> {
    let mut orders: Vec<Vec<Class>> = Vec::with_capacity(p.values());
    for node in p.nodes() {
        for &out in &node.outputs {
            let order = order_of(p, classes, node, out, &orders);
            orders.push(order);
        }
    }
    orders
}

fn order_of(p: &Program, classes: &Classes, node: &Node, out: ValueId, orders: &[Vec<Class>]) -> Vec<Class> {
    let known = |v: ValueId| &orders[v.0 as usize];
    match &node.op {
        Op::Input { strides, .. } => {
            let mut axes: Vec<usize> = (0..strides.len()).collect();
            axes.sort_by_key(|&a| std::cmp::Reverse(strides[a]));
            axes.iter().flat_map(|&a| classes.of_axis(out, a)).map(|d| d.class).collect()
        }
        Op::Constant(_) | Op::Iota { .. } => classes.of_value(out),
        Op::Map(_) => {
            let size = |v: &&ValueId| bytes_seen(p, **v);
            // The first of the largest; one that is walked otherwise gives its axes' order.
            let largest = node.inputs.iter().rev().max_by_key(size);
            largest.map_or_else(Vec::new, |&v| by_axes(p, classes, (v, known(v)), out))
        }
        Op::Reshape if classes.is_cut(node, 0) => classes.of_value(out),
        _ => placed(known(node.inputs[0]), &classes.of_value(out)),
    }
}

/// The axes of a value in the order of memory, each where its first class stands.
fn axes_in_order(p: &Program, classes: &Classes, v: ValueId, order: &[Class]) -> Vec<usize> {
    let place = |a: usize| {
        let first = classes.of_axis(v, a).first().map(|d| d.class);
        first.and_then(|c| order.iter().position(|&o| o == c)).unwrap_or(usize::MAX)
    };
    let mut axes: Vec<usize> = (0..p.shape(v).len()).filter(|&a| p.shape(v)[a] != 1).collect();
    axes.sort_by_key(|&a| place(a));
    axes
}

/// The order of `out`, whose axes are those of the operand.
fn by_axes(p: &Program, classes: &Classes, (v, order): (ValueId, &[Class]), out: ValueId) -> Vec<Class> {
    let own = classes.of_value(out);
    if classes.of_value(v) == own {
        return order.to_vec();
    }
    let axes = axes_in_order(p, classes, v, order);
    let carried: Vec<Class> = axes.iter().flat_map(|&a| classes.of_axis(out, a)).map(|d| d.class).collect();
    placed(&carried, &own)
}

/// Bytes of a value before it was broadcast.
fn bytes_seen(p: &Program, v: ValueId) -> usize {
    let node = p.maker(v);
    match node.op {
        Op::Broadcast => bytes_seen(p, node.inputs[0]),
        _ => p.shape(v).iter().product::<usize>().saturating_mul(p.dtype(v).bytes()),
    }
}

/// The classes `own` (in the order of axes) in the order `carried`; those that are not in it stand behind the class before
/// them.
fn placed(carried: &[Class], own: &[Class]) -> Vec<Class> {
    let mut order: Vec<Class> = carried.iter().copied().filter(|c| own.contains(c)).collect();
    for (i, c) in own.iter().enumerate() {
        if !order.contains(c) {
            let before = i.checked_sub(1).and_then(|j| order.iter().position(|o| *o == own[j]));
            order.insert(before.map_or(0, |at| at + 1), *c);
        }
    }
    order
}
