//! x divided by its L1 or L2 norm along an axis; where the norm is 0 the result is 0.

use super::{Composite, floats, l1, l2, wide};
use crate::error::{Error, Result};
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "lp_norm",
    summary: "x over its norm of order p= (1 or 2, default 2) along axis= (default -1); 0 where the norm is 0",
    operands: (1, 1),
    lower: |p, x, o| {
        let (axis, order) = (o.int("lp_norm", "axis", -1)?, o.int("lp_norm", "p", 2)?);
        floats(p, "lp_norm", x[0])?;
        let (dtype, x) = (p.dtype(x[0]), wide(p, x[0])?);
        let size = norm(p, "lp_norm", x, order, &Axes::These(vec![axis]))?;
        let (zero, one) = (p.number(0.0, p.dtype(x))?, p.number(1.0, p.dtype(x))?);
        let is_zero = p.call("eq", &[size, zero])?;
        let divisor = p.call("where", &[is_zero, one, size])?;
        let y = p.call("div", &[x, divisor])?;
        Ok(vec![p.cast(y, dtype)?])
    },
}];

/// The norm of a wide value; the axes stay.
pub(super) fn norm(p: &mut Program, op: &str, x: ValueId, order: i64, axes: &Axes) -> Result<ValueId> {
    match order {
        1 => l1::l1(p, x, axes, true),
        2 => l2::l2(p, x, axes, true),
        _ => Err(Error::value(op, format!("p = {order}: norms of order 1 and 2 are known"))),
    }
}
