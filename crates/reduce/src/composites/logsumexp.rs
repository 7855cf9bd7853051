//! The logarithm of the sum of exponentials: m + log Σ e^(x − m) with m = max x. Over nothing, or −∞ alone, it is −∞.

use super::{Composite, floats, over_axes, softmax::exp_from_max, sum};
use crate::error::Result;
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "logsumexp",
    summary: "log of the sum of exponentials over axes=, with keep= the axes stay",
    operands: (1, 1),
    lower: |p, x, o| {
        floats(p, "logsumexp", x[0])?;
        over_axes(p, "logsumexp", x[0], o, logsumexp)
    },
}];

/// m + log Σ e^(x − m).
fn logsumexp(p: &mut Program, x: ValueId, axes: &Axes, keep: bool) -> Result<ValueId> {
    let (m, e) = exp_from_max(p, x, axes)?;
    let s = sum(p, e, axes, true)?;
    let log = p.call("log", &[s])?;
    let y = p.call("add", &[m, log])?;
    if keep {
        return Ok(y);
    }
    let gone = axes.resolve("logsumexp", p.shape(y).len())?;
    let kept: Vec<usize> = (0..p.shape(y).len()).filter(|a| !gone.contains(a)).map(|a| p.shape(y)[a]).collect();
    p.reshape(y, &kept)
}
