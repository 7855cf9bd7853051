//! The sum of squares.

use super::{Composite, over_axes, sum};
use crate::error::Result;
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "sumsq",
    summary: "the sum of squares over axes=, with keep= the axes stay",
    operands: (1, 1),
    lower: |p, x, o| over_axes(p, "sumsq", x[0], o, sumsq),
}];

/// Σ x².
pub(super) fn sumsq(p: &mut Program, x: ValueId, axes: &Axes, keep: bool) -> Result<ValueId> {
    let squares = p.call("square", &[x])?;
    sum(p, squares, axes, keep)
}
