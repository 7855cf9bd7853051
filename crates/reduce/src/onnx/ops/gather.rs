//! Elements at places that another tensor names; negative places count from the end.

use super::{Call, OnnxOp};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::program::{Axes, ValueId};
use crate::tensor::element;

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("Gather", |c| {
        let (x, places) = (c.input(0)?, c.input(1)?);
        let axis = axis(c, x)?;
        Ok(vec![take(c, x, places, axis)?])
    }),
    OnnxOp::new("GatherElements", gather_elements),
];

fn axis(c: &Call<'_>, x: ValueId) -> Result<usize> {
    Ok(Axes::These(vec![c.int("axis", 0)?]).resolve("gather", c.p.shape(x).len())?[0])
}

/// Places as labels: of type i32 or i64 and not negative.
fn labels(c: &mut Call<'_>, places: ValueId, length: usize) -> Result<ValueId> {
    let kind = c.dtype(places);
    if !kind.is_int() {
        return Err(Error::dtype("gather", kind, " as places: whole numbers"));
    }
    let places = c.p.cast(places, if kind == Dtype::I32 { kind } else { Dtype::I64 })?;
    let (zero, length) = (c.number(0.0, places)?, c.number(length as f64, places)?);
    let (is_below, counted) = (c.call("lt", &[places, zero])?, c.call("add", &[places, length])?);
    c.call("where", &[is_below, counted, places])
}

/// The slices of x along `axis` at `places`, whose axes stand where that axis was: one known place is cut out; otherwise x
/// is repeated beside the places.
pub(super) fn take(c: &mut Call<'_>, x: ValueId, places: ValueId, axis: usize) -> Result<ValueId> {
    let (own, beside) = (c.shape(x), c.shape(places));
    let (outer, inner) = (&own[..axis], &own[axis + 1..]);
    if let Some(place) = single(c, places, own[axis])? {
        let (mut starts, mut ends, steps) = (vec![0; own.len()], own.clone(), vec![1; own.len()]);
        (starts[axis], ends[axis]) = (place, place + 1);
        let cut = c.p.slice(x, &starts, &ends, &steps)?;
        return c.p.reshape(cut, &[outer, &beside, inner].concat());
    }
    let labels = labels(c, places, own[axis])?;
    let ones = |n: usize| vec![1; n];
    let labels = c.p.reshape(labels, &[&beside, &ones(inner.len())[..]].concat())?;
    let labels = c.p.broadcast(labels, &[outer, &beside, inner].concat())?;
    let x = c.p.reshape(x, &[outer, &ones(beside.len()), &own[axis..]].concat())?;
    let x = c.p.broadcast(x, &[outer, &beside, &own[axis..]].concat())?;
    c.p.gather_label(x, labels, (axis + beside.len()) as i64)
}

/// The only place, if it is known.
fn single(c: &Call<'_>, places: ValueId, length: usize) -> Result<Option<usize>> {
    let Some(tensor) = c.p.constant_of(places).filter(|t| t.len() == 1 && t.dtype().is_int()) else { return Ok(None) };
    let (_, given) = element(tensor.dtype(), tensor.bytes(), 0);
    let place = if given < 0 { given + length as i128 } else { given };
    match usize::try_from(place).ok().filter(|&p| p < length) {
        Some(place) => Ok(Some(place)),
        None => Err(Error::value("gather", format!("place {given} is outside an axis of {length}"))),
    }
}

/// The element of x at each place along `axis`, otherwise at the place's own index.
fn gather_elements(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let (x, places) = (c.input(0)?, c.input(1)?);
    let (axis, own, shape) = (axis(c, x)?, c.shape(x), c.shape(places));
    if shape.len() != own.len() || (0..own.len()).any(|a| a != axis && shape[a] > own[a]) {
        return Err(Error::shape("gather", format!("places of shape {shape:?} for {own:?} along axis {axis}")));
    }
    let labels = labels(c, places, own[axis])?;
    let mut ends = shape.clone();
    ends[axis] = own[axis];
    let x = c.p.slice(x, &vec![0; own.len()], &ends, &vec![1; own.len()])?;
    let x = c.p.reshape(x, &[&ends[..axis], &[1], &ends[axis..]].concat())?;
    let x = c.p.broadcast(x, &[&ends[..axis], &[shape[axis]], &ends[axis..]].concat())?;
    Ok(vec![c.p.gather_label(x, labels, axis as i64 + 1)?])
}
