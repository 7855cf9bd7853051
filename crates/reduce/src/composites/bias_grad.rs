//! The gradient of a bias: the sum over all axes but its own.

use super::Composite;
use super::normalise::{outer_sum, widened};
use crate::program::Axes;

pub(super) static OPS: &[Composite] = &[Composite {
    name: "bias_grad",
    summary: "the sum over all axes but axis= (default 1)",
    operands: (1, 1),
    lower: |p, x, o| {
        let axis = o.int("bias_grad", "axis", 1)?;
        let (dtype, x) = widened(p, "bias_grad", x)?;
        let y = outer_sum(p, x[0], &Axes::These(vec![axis]))?;
        Ok(vec![p.cast(y, dtype)?])
    },
}];
