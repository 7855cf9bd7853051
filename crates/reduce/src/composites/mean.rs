//! Mean over axes: the sum divided by the count; of whole numbers summed in i64 and divided towards zero.

use super::{Composite, count, reduced_count, wide};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::monoids::{Params, SUM};
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "mean",
    summary: "the mean over axes=, with keep= the axes stay",
    operands: (1, 1),
    lower: |p, x, o| {
        let (axes, keep) = (o.axes("mean")?, o.flag("mean", "keep", false)?);
        Ok(vec![mean(p, x[0], &axes, keep)?])
    },
}];

/// Σ x / n, rounded to the type of x.
pub(crate) fn mean(p: &mut Program, x: ValueId, axes: &Axes, keep: bool) -> Result<ValueId> {
    let dtype = p.dtype(x);
    let n = reduced_count(p, "mean", x, axes)?;
    if dtype.is_int() && n == 0 {
        return Err(Error::value("mean", "empty axis: whole numbers have no mean over 0 elements"));
    }
    let x = if dtype.is_int() { p.cast(x, Dtype::I64)? } else { wide(p, x)? };
    let sum = p.reduce(&SUM, Params::default(), x, axes, keep)?[0];
    let n = count(p, n, sum)?;
    let mean = p.call("div", &[sum, n])?;
    p.cast(mean, dtype)
}
