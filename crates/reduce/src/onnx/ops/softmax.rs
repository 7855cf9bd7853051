//! Softmax and its relatives.

use super::{Call, OnnxOp};
use crate::composites::{Given, Options};
use crate::error::{Error, Result};
use crate::program::ValueId;

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("Hardmax", |c| along(c, "hardmax")),
    OnnxOp::new("LogSoftmax", |c| along(c, "log_softmax")),
    OnnxOp::new("Softmax", |c| along(c, "softmax")),
];

/// Along one axis; before version 13 over all axes from it on.
fn along(c: &mut Call<'_>, name: &str) -> Result<Vec<ValueId>> {
    let x = c.input(0)?;
    if c.opset >= 13 {
        let axis = c.int("axis", -1)?;
        return c.composite(name, &[x], Options::none().with("axis", Given::Int(axis)));
    }
    let shape = c.shape(x);
    let flat = flattened(&shape, c.int("axis", 1)?)?;
    let x = c.p.reshape(x, &flat)?;
    let y = c.composite(name, &[x], Options::none().with("axis", Given::Int(1)))?[0];
    Ok(vec![c.p.reshape(y, &shape)?])
}

/// Two axes: those before `axis`, and those from it on.
pub(super) fn flattened(shape: &[usize], axis: i64) -> Result<[usize; 2]> {
    let rank = shape.len();
    let at = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    let at = usize::try_from(at).ok().filter(|&at| at <= rank);
    let outside = || Error::Axis { op: "flatten".into(), axis, rank, why: "is outside the tensor" };
    let at = at.ok_or_else(outside)?;
    Ok([shape[..at].iter().product(), shape[at..].iter().product()])
}
