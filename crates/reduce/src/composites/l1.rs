//! The sum of absolute values.

use super::{Composite, over_axes, sum};
use crate::error::Result;
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "l1",
    summary: "the sum of absolute values over axes=, with keep= the axes stay",
    operands: (1, 1),
    lower: |p, x, o| over_axes(p, "l1", x[0], o, l1),
}];

/// Σ |x|.
pub(super) fn l1(p: &mut Program, x: ValueId, axes: &Axes, keep: bool) -> Result<ValueId> {
    let size = p.call("abs", &[x])?;
    sum(p, size, axes, keep)
}
