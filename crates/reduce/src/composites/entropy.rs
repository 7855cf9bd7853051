//! The entropy of the softmax of logits: −Σ p log p = log s − Σ e (x − m) / s, with e = exp(x − m) and s = Σ e. A logit of
//! −∞ adds nothing.

use super::softmax::exp_from_max;
use super::{Composite, floats, sum, wide};
use crate::error::Result;
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "entropy",
    summary: "the entropy of the softmax along axis= (default -1), with keep= the axis stays",
    operands: (1, 1),
    lower: |p, x, o| {
        let (axis, keep) = (o.int("entropy", "axis", -1)?, o.flag("entropy", "keep", false)?);
        floats(p, "entropy", x[0])?;
        let (dtype, x) = (p.dtype(x[0]), wide(p, x[0])?);
        let y = entropy(p, x, &Axes::These(vec![axis]), keep)?;
        Ok(vec![p.cast(y, dtype)?])
    },
}];

fn entropy(p: &mut Program, x: ValueId, axes: &Axes, keep: bool) -> Result<ValueId> {
    let (m, e) = exp_from_max(p, x, axes)?;
    let below = p.call("sub", &[x, m])?;
    let products = p.call("mul", &[e, below])?;
    let zero = p.number(0.0, p.dtype(x))?;
    let is_gone = p.call("eq", &[e, zero])?;
    let terms = p.call("where", &[is_gone, zero, products])?;
    let (s, total) = (sum(p, e, axes, keep)?, sum(p, terms, axes, keep)?);
    let log = p.call("log", &[s])?;
    let mean = p.call("div", &[total, s])?;
    p.call("sub", &[log, mean])
}
