//! The Euclidean norm: the square root of the sum of squares.

use super::{Composite, floats, over_axes};
use crate::error::Result;
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "l2",
    summary: "the square root of the sum of squares over axes=, with keep= the axes stay",
    operands: (1, 1),
    lower: |p, x, o| {
        floats(p, "l2", x[0])?;
        over_axes(p, "l2", x[0], o, l2)
    },
}];

/// √Σ x².
pub(super) fn l2(p: &mut Program, x: ValueId, axes: &Axes, keep: bool) -> Result<ValueId> {
    let squares = super::sumsq::sumsq(p, x, axes, keep)?;
    p.call("sqrt", &[squares])
}
