//! What is known when the program is made: constants, shapes, ranges, and lists put together.

use super::shapes::extents;
use super::{Call, OnnxOp};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::onnx::tensors;
use crate::program::{Axes, ValueId};
use crate::tensor::{Tensor, element, elements};

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp { folds_only: true, ..OnnxOp::new("Concat", concat) },
    OnnxOp::new("Constant", constant),
    OnnxOp::new("ConstantOfShape", constant_of_shape).knowing(&[0]),
    OnnxOp::new("Range", range).knowing(&[0, 1, 2]),
    OnnxOp { of_shapes: true, ..OnnxOp::new("Shape", shape) },
    OnnxOp {
        of_shapes: true,
        ..OnnxOp::new("Size", |c| {
            let x = c.input(0)?;
            let size = elements("size", c.p.shape(x))?;
            whole_numbers(c, &[], &[size as i64])
        })
    },
];

fn whole_numbers(c: &mut Call<'_>, shape: &[usize], values: &[i64]) -> Result<Vec<ValueId>> {
    Ok(vec![c.p.constant(Tensor::from_slice(Dtype::I64, shape, values)?)?])
}

/// The tensor, number or list of one of the attributes that give it.
fn constant(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let a = c.attributes;
    let tensor = if let Some(proto) = a.tensor("value")? {
        tensors::tensor(proto, c.folder)?
    } else if let Some(value) = a.float("value_float")? {
        Tensor::from_slice(Dtype::F32, &[], &[value as f32])?
    } else if let Some(values) = a.floats("value_floats")? {
        Tensor::from_slice(Dtype::F32, &[values.len()], values)?
    } else if let Some(value) = a.int("value_int")? {
        Tensor::from_slice(Dtype::I64, &[], &[value])?
    } else if let Some(values) = a.ints("value_ints")? {
        Tensor::from_slice(Dtype::I64, &[values.len()], values)?
    } else {
        return Err(Error::value("value", "neither a dense tensor nor a number or a list of numbers is given"));
    };
    Ok(vec![c.p.constant(tensor)?])
}

/// One number, by default 0 of type f32, in a shape.
fn constant_of_shape(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let list = c.ints(0)?.ok_or_else(|| Error::value("constant_of_shape", "the shape is missing"))?;
    let shape = extents("constant_of_shape", &list)?;
    let value = match c.attributes.tensor("value")? {
        Some(proto) => tensors::tensor(proto, c.folder)?.reshaped(&[])?,
        None => Tensor::zeros(Dtype::F32, &[])?,
    };
    let value = c.p.constant(value)?;
    Ok(vec![c.p.broadcast(value, &shape)?])
}

/// start, start + delta, … before limit.
fn range(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let mut ends = [(0.0, 0); 3];
    for (i, end) in ends.iter_mut().enumerate() {
        let missing = || Error::value("range", "start, limit and delta are one number each");
        let tensor = c.known(i)?.filter(|t| t.len() == 1).ok_or_else(missing)?;
        *end = element(tensor.dtype(), tensor.bytes(), 0);
    }
    let (start, delta) = (c.input(0)?, c.input(2)?);
    let dtype = c.dtype(start);
    let [(from, int_from), (to, int_to), (by, int_by)] = ends;
    if by == 0.0 || !(from.is_finite() && to.is_finite() && by.is_finite()) {
        return Err(Error::value("range", format!("from {from} to {to} by {by} has no end")));
    }
    let count = if dtype.is_float() {
        ((to - from) / by).ceil().max(0.0) as usize
    } else {
        let (gap, by) = if int_by > 0 { (int_to - int_from, int_by) } else { (int_from - int_to, -int_by) };
        usize::try_from((gap + by - 1) / by).unwrap_or(0)
    };
    let (start, delta) = (c.p.reshape(start, &[])?, c.p.reshape(delta, &[])?);
    let places = c.p.iota(dtype, &[count], 0)?;
    let steps = c.call("mul", &[places, delta])?;
    Ok(vec![c.call("add", &[start, steps])?])
}

/// The shape of a tensor, or a part of it.
fn shape(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let x = c.input(0)?;
    let all: Vec<i64> = c.p.shape(x).iter().map(|&e| e as i64).collect();
    let rank = all.len() as i64;
    let place = |at: i64| if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank) as usize;
    let (from, to) = (place(c.int("start", 0)?), place(c.int("end", rank)?));
    let part = &all[from..to.max(from)];
    whole_numbers(c, &[part.len()], part)
}

/// Known tensors one after the other along an axis.
fn concat(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let parts: Vec<&Tensor> = (0..c.all()?.len()).filter_map(|i| c.known(i).transpose()).collect::<Result<_>>()?;
    let (dtype, mut shape) = (parts[0].dtype(), parts[0].shape().to_vec());
    let axis = c.attributes.int("axis")?.ok_or_else(|| Error::value("axis", "the attribute is missing"))?;
    let axis = Axes::These(vec![axis]).resolve("concat", shape.len())?[0];
    shape[axis] = 0;
    for part in &parts {
        let mut own = part.shape().to_vec();
        let along = own.get_mut(axis).map_or(0, |e| std::mem::replace(e, 0));
        let mut others = shape.clone();
        others[axis] = 0;
        if own != others || part.dtype() != dtype {
            return Err(Error::shape("concat", format!("{part:?} beside {:?} along axis {axis}", parts[0])));
        }
        let sum = shape[axis].checked_add(along);
        shape[axis] = sum.ok_or_else(|| Error::Size { what: "concat".into(), shape: shape.clone() })?;
    }
    let mut all = Tensor::zeros(dtype, &shape)?;
    if all.is_empty() {
        return Ok(vec![c.p.constant(all)?]);
    }
    let inner = shape[axis + 1..].iter().product::<usize>() * dtype.bytes();
    let row = shape[axis] * inner;
    let mut from = 0;
    for part in parts {
        let own = part.shape()[axis] * inner;
        if own > 0 {
            let rows = all.bytes_mut().chunks_exact_mut(row).zip(part.bytes().chunks_exact(own));
            rows.for_each(|(to, part)| to[from..from + own].copy_from_slice(part));
        }
        from += own;
    }
    Ok(vec![c.p.constant(all)?])
}
