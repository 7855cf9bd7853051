//! The logarithm of the sum; over nothing −∞.

use super::{Composite, floats, over_axes, sum};
use crate::error::Result;
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "logsum",
    summary: "the logarithm of the sum over axes=, with keep= the axes stay",
    operands: (1, 1),
    lower: |p, x, o| {
        floats(p, "logsum", x[0])?;
        over_axes(p, "logsum", x[0], o, logsum)
    },
}];

/// log Σ x.
fn logsum(p: &mut Program, x: ValueId, axes: &Axes, keep: bool) -> Result<ValueId> {
    let total = sum(p, x, axes, keep)?;
    p.call("log", &[total])
}
