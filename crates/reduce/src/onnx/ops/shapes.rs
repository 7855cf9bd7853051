//! The same elements under another shape, in another order, or repeated.

use super::softmax::flattened;
use super::{Call, OnnxOp};
use crate::error::{Error, Result};
use crate::program::{Axes, ValueId};
use crate::tensor::elements;

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("Expand", expand).knowing(&[1]),
    OnnxOp::new("Flatten", |c| {
        let x = c.input(0)?;
        let shape = flattened(c.p.shape(x), c.int("axis", 1)?)?;
        Ok(vec![c.p.reshape(x, &shape)?])
    }),
    OnnxOp::new("Identity", |c| Ok(vec![c.input(0)?])),
    OnnxOp::new("Reshape", reshape).knowing(&[1]),
    OnnxOp::new("Squeeze", squeeze).knowing(&[1]),
    OnnxOp::new("Transpose", transpose),
    OnnxOp::new("Unsqueeze", unsqueeze).knowing(&[1]),
];

/// Lengths of axes.
pub(super) fn extents(op: &str, list: &[i64]) -> Result<Vec<usize>> {
    let extent = |&n: &i64| usize::try_from(n).map_err(|_| Error::value(op, format!("an axis has a length of {n}")));
    list.iter().map(extent).collect()
}

/// To a shape that broadcasts with the own one.
fn expand(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let x = c.input(0)?;
    let wanted = c.ints(1)?.ok_or_else(|| Error::value("expand", "the shape is missing"))?;
    let (mut shape, own) = (extents("expand", &wanted)?, c.shape(x));
    if shape.len() < own.len() {
        shape = [vec![1; own.len() - shape.len()], shape].concat();
    }
    let first = shape.len() - own.len();
    for (extent, own) in shape[first..].iter_mut().zip(own) {
        if *extent == 1 {
            *extent = own;
        }
    }
    Ok(vec![c.p.broadcast(x, &shape)?])
}

/// 0 keeps an axis (unless `allowzero`), −1 stands for what is left over.
fn reshape(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let x = c.input(0)?;
    let mut list = c.ints(1)?.ok_or_else(|| Error::value("reshape", "the shape is missing"))?;
    let (own, keeps) = (c.shape(x), !c.flag("allowzero", false)?);
    for (axis, extent) in list.iter_mut().enumerate() {
        if *extent == 0 && keeps {
            let kept = own.get(axis).copied();
            let kept =
                kept.ok_or_else(|| Error::shape("reshape", format!("axis {axis} is 0, but {own:?} has no such axis")))?;
            *extent = kept as i64;
        }
    }
    let open: Vec<usize> = (0..list.len()).filter(|&axis| list[axis] == -1).collect();
    if let &[axis] = &open[..] {
        list[axis] = 1;
        let (all, others) = (elements("reshape", &own)?, elements("reshape", &extents("reshape", &list)?)?);
        if others == 0 || !all.is_multiple_of(others) {
            return Err(Error::shape(
                "reshape",
                format!("{own:?} does not become {list:?} with axis {axis} left open"),
            ));
        }
        list[axis] = (all / others) as i64;
    }
    let shape = extents("reshape", &list)?;
    Ok(vec![c.p.reshape(x, &shape)?])
}

/// Without the axes, or without all of extent 1.
fn squeeze(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let x = c.input(0)?;
    let own = c.shape(x);
    let gone = match c.list(1, "axes")? {
        Some(list) => Axes::These(list).resolve("squeeze", own.len())?,
        None => (0..own.len()).filter(|&a| own[a] == 1).collect(),
    };
    if let Some(axis) = gone.iter().find(|&&a| own[a] != 1) {
        return Err(Error::shape("squeeze", format!("axis {axis} of {own:?} is not 1")));
    }
    let shape: Vec<usize> = (0..own.len()).filter(|a| !gone.contains(a)).map(|a| own[a]).collect();
    Ok(vec![c.p.reshape(x, &shape)?])
}

/// With axes of extent 1 at the given places of the result.
fn unsqueeze(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let x = c.input(0)?;
    let list = c.list(1, "axes")?.ok_or_else(|| Error::value("unsqueeze", "the axes are missing"))?;
    let own = c.shape(x);
    let rank = own.len() + list.len();
    let new = Axes::These(list).resolve("unsqueeze", rank)?;
    let mut own = own.into_iter();
    let shape: Vec<usize> = (0..rank).map(|a| if new.contains(&a) { 1 } else { own.next().unwrap_or(1) }).collect();
    Ok(vec![c.p.reshape(x, &shape)?])
}

/// Without a permutation the axes are reversed.
fn transpose(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let x = c.input(0)?;
    let rank = c.p.shape(x).len();
    let perm = match c.attributes.ints("perm")? {
        Some(list) => extents("transpose", list)?,
        None => (0..rank).rev().collect(),
    };
    Ok(vec![c.p.transpose(x, &perm)?])
}
