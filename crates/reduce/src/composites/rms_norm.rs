//! Normalisation by the root of the mean square (Zhang & Sennrich 2019): over the axes from `axis=` on, then a scale; and
//! its backward pass.

use super::mean::mean;
use super::normalise::{affine, epsilon, gradient, inverse_root, outer_sum, trailing, widened};
use super::{Composite, Options};
use crate::error::Result;
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[
    Composite {
        name: "rms_norm",
        summary: "(x, scale), the last optional: x over its root mean square along the axes from axis= (default -1) on, eps=",
        operands: (1, 2),
        lower: |p, x, o| {
            let op = "rms_norm";
            let (dtype, x) = widened(p, op, x)?;
            let (axes, eps) = (trailing(p, op, x[0], o)?, epsilon(o, op)?);
            let (normal, _) = scaled_down(p, x[0], &axes, eps)?;
            let y = affine(p, normal, x.get(1).copied(), None)?;
            Ok(vec![p.cast(y, dtype)?])
        },
    },
    Composite {
        name: "rms_norm_grad",
        summary: "(x, dy, scale), the last optional: the gradients of x and scale of rms_norm, axis=, eps=",
        operands: (2, 3),
        lower: |p, x, o| rms_norm_grad(p, "rms_norm_grad", x, o),
    },
];

/// x r and r = 1 / √(mean x² + ε).
fn scaled_down(p: &mut Program, x: ValueId, axes: &Axes, eps: f64) -> Result<(ValueId, ValueId)> {
    let squares = p.call("square", &[x])?;
    let square = mean(p, squares, axes, true)?;
    let inverse = inverse_root(p, square, eps)?;
    Ok((p.call("mul", &[x, inverse])?, inverse))
}

fn rms_norm_grad(p: &mut Program, op: &str, operands: &[ValueId], o: &mut Options) -> Result<Vec<ValueId>> {
    let (dtype, x) = widened(p, op, operands)?;
    let (axes, eps) = (trailing(p, op, x[0], o)?, epsilon(o, op)?);
    let normal = scaled_down(p, x[0], &axes, eps)?;
    let g = affine(p, x[1], x.get(2).copied(), None)?;
    let dx = gradient(p, g, normal, &axes, false)?;
    let products = p.call("mul", &[x[1], normal.0])?;
    let dscale = outer_sum(p, products, &axes)?;
    Ok(vec![p.cast(dx, dtype)?, p.cast(dscale, dtype)?])
}
