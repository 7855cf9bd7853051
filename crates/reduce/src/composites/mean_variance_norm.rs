//! x with mean 0 and variance 1 over `axes=`: (x − μ) / (√v + ε), where ε is added to the deviation, not to the variance.

use super::Composite;
use super::moments::mean_and_variance;
use super::normalise::widened;

pub(super) static OPS: &[Composite] = &[Composite {
    name: "mean_variance_norm",
    summary: "(x - mean) / (deviation + eps) over axes=; eps= is 1e-9",
    operands: (1, 1),
    lower: |p, x, o| {
        let op = "mean_variance_norm";
        let (dtype, x) = widened(p, op, x)?;
        let (axes, eps) = (o.axes(op)?, o.number(op, "eps", 1e-9)?);
        let (mean, variance) = mean_and_variance(p, x[0], &axes, true)?;
        let root = p.call("sqrt", &[variance])?;
        let eps = p.number(eps, p.dtype(root))?;
        let divisor = p.call("add", &[root, eps])?;
        let centred = p.call("sub", &[x[0], mean])?;
        let y = p.call("div", &[centred, divisor])?;
        Ok(vec![p.cast(y, dtype)?])
    },
}];
