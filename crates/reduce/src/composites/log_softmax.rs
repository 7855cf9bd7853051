//! The logarithm of the softmax: (x − m) − log d with the m and d of softmax, so that it is NaN where softmax is; and its
//! backward pass dx = dy − e^y Σ dy.

use super::softmax::exp_from_max;
use super::{Composite, floats, sum, wide};
use crate::error::Result;
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[
    Composite {
        name: "log_softmax",
        summary: "the logarithm of the softmax along axis= (default -1)",
        operands: (1, 1),
        lower: |p, x, o| {
            let axis = o.int("log_softmax", "axis", -1)?;
            floats(p, "log_softmax", x[0])?;
            let (dtype, x) = (p.dtype(x[0]), wide(p, x[0])?);
            let y = log_softmax(p, x, axis)?;
            Ok(vec![p.cast(y, dtype)?])
        },
    },
    Composite {
        name: "log_softmax_grad",
        summary: "the gradient of log_softmax's input from (its output, the output's gradient), along axis= (default -1)",
        operands: (2, 2),
        lower: |p, x, o| {
            let axis = o.int("log_softmax_grad", "axis", -1)?;
            floats(p, "log_softmax_grad", x[0])?;
            let (dtype, y, dy) = (p.dtype(x[0]), wide(p, x[0])?, wide(p, x[1])?);
            let total = sum(p, dy, &Axes::These(vec![axis]), true)?;
            let probability = p.call("exp", &[y])?;
            let part = p.call("mul", &[probability, total])?;
            let dx = p.call("sub", &[dy, part])?;
            Ok(vec![p.cast(dx, dtype)?])
        },
    },
];

/// Of a wide value.
pub(super) fn log_softmax(p: &mut Program, x: ValueId, axis: i64) -> Result<ValueId> {
    let axes = Axes::These(vec![axis]);
    let (m, e) = exp_from_max(p, x, &axes)?;
    let s = sum(p, e, &axes, true)?;
    let nothing = p.call("sub", &[m, m])?;
    let divisor = p.call("add", &[s, nothing])?;
    let log = p.call("log", &[divisor])?;
    let below = p.call("sub", &[x, m])?;
    p.call("sub", &[below, log])
}
