//! The mean of squared differences.

use super::mean::mean;
use super::{Composite, floats, wide};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "mse",
    summary: "the mean of (a - b)^2 over axes=, with keep= the axes stay",
    operands: (2, 2),
    lower: |p, x, o| {
        let (axes, keep) = (o.axes("mse")?, o.flag("mse", "keep", false)?);
        floats(p, "mse", x[0])?;
        let (dtype, a, b) = (p.dtype(x[0]), wide(p, x[0])?, wide(p, x[1])?);
        let difference = p.call("sub", &[a, b])?;
        let square = p.call("square", &[difference])?;
        let y = mean(p, square, &axes, keep)?;
        Ok(vec![p.cast(y, dtype)?])
    },
}];
