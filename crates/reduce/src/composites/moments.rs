//! Mean and variance from one reduction: `moments` gives both, `var` and `std` what is derived from them. The variance is
//! that of the population, M2 / n, or with `sample=true` that of a sample, M2 / (n − 1).

use super::{Composite, count, floats, wide};
use crate::error::Result;
use crate::monoids::{self, Params};
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[
    Composite {
        name: "moments",
        summary: "the mean and the population variance over axes=, with keep= the axes stay",
        operands: (1, 1),
        lower: |p, x, o| {
            let (axes, keep) = (o.axes("moments")?, o.flag("moments", "keep", false)?);
            let (dtype, x) = (p.dtype(x[0]), widened(p, "moments", x[0])?);
            let (mean, var) = mean_and_variance(p, x, &axes, keep)?;
            Ok(vec![p.cast(mean, dtype)?, p.cast(var, dtype)?])
        },
    },
    Composite {
        name: "var",
        summary: "the variance over axes= (keep=), of a population, or with sample= of a sample",
        operands: (1, 1),
        lower: |p, x, o| {
            let (dtype, x) = (p.dtype(x[0]), widened(p, "var", x[0])?);
            let var = variance(p, "var", x, o)?;
            Ok(vec![p.cast(var, dtype)?])
        },
    },
    Composite {
        name: "std",
        summary: "the square root of var",
        operands: (1, 1),
        lower: |p, x, o| {
            let (dtype, x) = (p.dtype(x[0]), widened(p, "std", x[0])?);
            let var = variance(p, "std", x, o)?;
            let std = p.call("sqrt", &[var])?;
            Ok(vec![p.cast(std, dtype)?])
        },
    },
];

/// A floating-point value in its accumulator's type.
fn widened(p: &mut Program, op: &str, x: ValueId) -> Result<ValueId> {
    floats(p, op, x)?;
    wide(p, x)
}

/// μ and M2 / (n − `less`) of a wide value; over too few elements the variance is NaN.
fn centred(p: &mut Program, x: ValueId, axes: &Axes, keep: bool, less: usize) -> Result<(ValueId, ValueId)> {
    let n = super::reduced_count(p, "moments", x, axes)?;
    let made = p.reduce(&monoids::MOMENTS, Params::default(), x, axes, keep)?;
    let n = count(p, n.saturating_sub(less), made[1])?;
    Ok((made[0], p.call("div", &[made[1], n])?))
}

/// μ and the population variance of a wide value.
pub(super) fn mean_and_variance(p: &mut Program, x: ValueId, axes: &Axes, keep: bool) -> Result<(ValueId, ValueId)> {
    centred(p, x, axes, keep, 0)
}

fn variance(p: &mut Program, op: &str, x: ValueId, o: &mut super::Options) -> Result<ValueId> {
    let (axes, keep) = (o.axes(op)?, o.flag(op, "keep", false)?);
    let less = usize::from(o.flag(op, "sample", false)?);
    Ok(centred(p, x, &axes, keep, less)?.1)
}
