//! Reductions over axes, and the index of the largest or smallest element.

use super::{Call, OnnxOp};
use crate::composites::{Given, Options};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::monoids::{self, Params};
use crate::program::{Axes, ValueId};

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("ArgMax", |c| arg(c, "argmax")),
    OnnxOp::new("ArgMin", |c| arg(c, "argmin")),
    OnnxOp::new("ReduceL1", |c| composite(c, "l1")).knowing(&[1]),
    OnnxOp::new("ReduceL2", |c| composite(c, "l2")).knowing(&[1]),
    OnnxOp::new("ReduceLogSum", |c| composite(c, "logsum")).knowing(&[1]),
    OnnxOp::new("ReduceLogSumExp", |c| composite(c, "logsumexp")).knowing(&[1]),
    OnnxOp::new("ReduceMax", |c| monoid(c, "max")).knowing(&[1]),
    OnnxOp::new("ReduceMean", |c| composite(c, "mean")).knowing(&[1]),
    OnnxOp::new("ReduceMin", |c| monoid(c, "min")).knowing(&[1]),
    OnnxOp::new("ReduceProd", |c| monoid(c, "prod")).knowing(&[1]),
    OnnxOp::new("ReduceSum", |c| monoid(c, "sum")).knowing(&[1]),
    OnnxOp::new("ReduceSumSquare", |c| composite(c, "sumsq")).knowing(&[1]),
];

/// The axes: none given are all, or with `noop_with_empty_axes` none.
fn axes(c: &Call<'_>) -> Result<Axes> {
    let list = c.list(1, "axes")?.unwrap_or_default();
    let is_all = list.is_empty() && !c.flag("noop_with_empty_axes", false)?;
    Ok(if is_all { Axes::All } else { Axes::These(list) })
}

/// The reduction operator called `name`; of truth values the largest is "or", the smallest "and".
fn monoid(c: &mut Call<'_>, name: &str) -> Result<Vec<ValueId>> {
    let (x, axes, keep) = (c.input(0)?, axes(c)?, c.flag("keepdims", true)?);
    let name = match (name, c.dtype(x)) {
        ("max", Dtype::Bool) => "or",
        ("min", Dtype::Bool) => "and",
        (name, _) => name,
    };
    let op = monoids::find(name).ok_or_else(|| Error::value(name, "there is no such operation"))?;
    c.p.reduce(op, Params::default(), x, &axes, keep)
}

/// The composite called `name`; of whole numbers what needs real ones is computed in f64.
fn composite(c: &mut Call<'_>, name: &str) -> Result<Vec<ValueId>> {
    let (x, axes, keep) = (c.input(0)?, axes(c)?, c.flag("keepdims", true)?);
    let (dtype, is_real) = (c.dtype(x), matches!(name, "l2" | "logsum" | "logsumexp"));
    let x = if is_real && dtype.is_int() { c.p.cast(x, Dtype::F64)? } else { x };
    let options = Options::none().with("keep", Given::Flag(keep));
    let options = match axes {
        Axes::All => options,
        Axes::These(list) => options.with("noop", Given::Flag(list.is_empty())).with("axes", Given::List(list)),
    };
    let y = c.composite(name, &[x], options)?[0];
    Ok(vec![c.p.cast(y, dtype)?])
}

fn arg(c: &mut Call<'_>, name: &str) -> Result<Vec<ValueId>> {
    let (x, axis, keep) = (c.input(0)?, c.int("axis", 0)?, c.flag("keepdims", true)?);
    let op = monoids::find(name).ok_or_else(|| Error::value(name, "there is no such operation"))?;
    let params = Params { last: c.flag("select_last_index", false)?, ..Params::default() };
    c.p.reduce(op, params, x, &Axes::These(vec![axis]), keep)
}
