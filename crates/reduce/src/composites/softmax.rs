//! Softmax: m = max x, e = exp(x − m), s = Σ e, y = e / (s + (m − m)), over one axis; and its backward pass
//! dx = y ∘ (dy − Σ dy ∘ y). The divisor makes a row with +∞, or of −∞ alone, NaN, as the plain definition does.

use super::{Composite, floats, sum, wide};
use crate::error::Result;
use crate::monoids::{MAX, Params};
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[
    Composite {
        name: "softmax",
        summary: "the softmax along axis= (default -1)",
        operands: (1, 1),
        lower: |p, x, o| {
            let axis = o.int("softmax", "axis", -1)?;
            Ok(vec![softmax(p, x[0], axis)?])
        },
    },
    Composite {
        name: "softmax_grad",
        summary: "the gradient of softmax's input from (its output, the output's gradient), along axis= (default -1)",
        operands: (2, 2),
        lower: |p, x, o| {
            let axis = o.int("softmax_grad", "axis", -1)?;
            Ok(vec![softmax_grad(p, x[0], x[1], axis)?])
        },
    },
];

/// m = max x and exp(x − m) along `axes`, which stay in m.
pub(super) fn exp_from_max(p: &mut Program, x: ValueId, axes: &Axes) -> Result<(ValueId, ValueId)> {
    let m = p.reduce(&MAX, Params::default(), x, axes, true)?[0];
    Ok((m, p.call("exp_below", &[x, m])?))
}

pub(super) fn softmax(p: &mut Program, x: ValueId, axis: i64) -> Result<ValueId> {
    floats(p, "softmax", x)?;
    let (dtype, axes) = (p.dtype(x), Axes::These(vec![axis]));
    let x = wide(p, x)?;
    let (m, e) = exp_from_max(p, x, &axes)?;
    let s = sum(p, e, &axes, true)?;
    let nothing = p.call("sub", &[m, m])?;
    let divisor = p.call("add", &[s, nothing])?;
    let y = p.call("div", &[e, divisor])?;
    p.cast(y, dtype)
}

fn softmax_grad(p: &mut Program, y: ValueId, dy: ValueId, axis: i64) -> Result<ValueId> {
    floats(p, "softmax_grad", y)?;
    let (dtype, axes) = (p.dtype(y), Axes::These(vec![axis]));
    let (y, dy) = (wide(p, y)?, wide(p, dy)?);
    let products = p.call("mul", &[dy, y])?;
    let total = sum(p, products, &axes, true)?;
    let rest = p.call("sub", &[dy, total])?;
    let dx = p.call("mul", &[y, rest])?;
    p.cast(dx, dtype)
}
