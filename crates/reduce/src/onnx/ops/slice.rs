//! Parts of axes. What runs backwards is picked element by element.

use super::gather::take;
use super::shapes::extents;
use super::{Call, OnnxOp};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::program::{Axes, ValueId};
use crate::tensor::Tensor;

pub(super) static OPS: &[OnnxOp] =
    &[OnnxOp::new("Slice", slice).knowing(&[1, 2, 3, 4]), OnnxOp::new("Split", split).knowing(&[1])];

/// Starts, ends, axes and steps were attributes before version 10, without steps.
fn slice(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let mut x = c.input(0)?;
    let missing = || Error::value("slice", "starts or ends are missing");
    let starts = c.list(1, "starts")?.ok_or_else(missing)?;
    let ends = c.list(2, "ends")?.ok_or_else(missing)?;
    let axes = c.list(3, "axes")?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = c.ints(4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()].iter().any(|&n| n != starts.len()) {
        return Err(Error::value("slice", "starts, ends, axes and steps are not equally many"));
    }
    Axes::These(axes.clone()).resolve("slice", c.p.shape(x).len())?;
    for (i, &axis) in axes.iter().enumerate() {
        let axis = Axes::These(vec![axis]).resolve("slice", c.p.shape(x).len())?[0];
        x = part(c, x, axis, (starts[i], ends[i], steps[i]))?;
    }
    Ok(vec![x])
}

/// From `start` to before `end` along one axis; negative places count from the end, and what is outside is cut off.
fn part(c: &mut Call<'_>, x: ValueId, axis: usize, (start, end, step): (i64, i64, i64)) -> Result<ValueId> {
    let shape = c.shape(x);
    let length = shape[axis] as i64;
    let place = |i: i64| if i < 0 { i.saturating_add(length) } else { i };
    if step == 0 {
        return Err(Error::value("slice", format!("the step of axis {axis} is 0")));
    }
    if step < 0 {
        return backwards(c, x, axis, place(start).clamp(-1, length - 1), place(end).clamp(-1, length - 1), step);
    }
    let (from, to) = (place(start).clamp(0, length), place(end).clamp(0, length));
    let (mut starts, mut ends, mut steps) = (vec![0; shape.len()], shape.clone(), vec![1; shape.len()]);
    (starts[axis], ends[axis]) = (from as usize, to.max(from) as usize);
    // A step beyond the axis is as good as its length.
    steps[axis] = step.min(length.max(1)) as usize;
    c.p.slice(x, &starts, &ends, &steps)
}

fn backwards(c: &mut Call<'_>, x: ValueId, axis: usize, from: i64, to: i64, step: i64) -> Result<ValueId> {
    let step = step.saturating_neg();
    let count = if from > to { (from - to - 1) / step + 1 } else { 0 };
    let places = c.p.iota(Dtype::I64, &[count as usize], 0)?;
    let number = |c: &mut Call<'_>, value: i64| c.p.constant(Tensor::from_slice(Dtype::I64, &[], &[value])?);
    let (from, step) = (number(c, from)?, number(c, step)?);
    let steps = c.call("mul", &[places, step])?;
    let places = c.call("sub", &[from, steps])?;
    take(c, x, places, axis)
}

/// Parts of given lengths, or as many equal ones as the node has outputs, of which the last may be shorter.
fn split(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let (x, axis) = (c.input(0)?, c.int("axis", 0)?);
    let axis = Axes::These(vec![axis]).resolve("split", c.p.shape(x).len())?[0];
    let length = c.p.shape(x)[axis];
    let lengths = match c.list(1, "split")? {
        Some(list) => extents("split", &list)?,
        None => {
            let each = length.div_ceil(c.outputs.max(1));
            (0..c.outputs).map(|i| each.min(length.saturating_sub(i.saturating_mul(each)))).collect()
        }
    };
    if lengths.iter().try_fold(0usize, |sum, &part| sum.checked_add(part)) != Some(length) {
        return Err(Error::shape("split", format!("axis {axis} of {length} does not fall into {lengths:?}")));
    }
    let mut at = 0;
    let cut = |part: usize| {
        let (mut starts, mut ends, steps) = (vec![0; c.p.shape(x).len()], c.shape(x), vec![1; c.p.shape(x).len()]);
        (starts[axis], ends[axis]) = (at, at + part);
        at += part;
        c.p.slice(x, &starts, &ends, &steps)
    };
    lengths.into_iter().map(cut).collect()
}
