//! Layer normalisation (Ba, Kiros & Hinton 2016): over the axes from `axis=` on, then an affine map; and its backward pass.

use super::normalise::{affine, epsilon, gradient, normalise, outer_sum, trailing, widened};
use super::{Composite, Options};
use crate::error::Result;
use crate::program::{Program, ValueId};

pub(super) static OPS: &[Composite] = &[
    Composite {
        name: "layer_norm",
        summary: "(x, scale, bias), the last two optional: normalised over the axes from axis= (default -1) on, eps=",
        operands: (1, 3),
        lower: |p, x, o| Ok(vec![layer_norm(p, "layer_norm", x, o)?[0]]),
    },
    Composite {
        name: "layer_norm_stats",
        summary: "as layer_norm, with the mean and 1 / the deviation in the accumulator's type; the axes stay in them",
        operands: (1, 3),
        lower: |p, x, o| layer_norm(p, "layer_norm_stats", x, o),
    },
    Composite {
        name: "layer_norm_grad",
        summary: "(x, dy, scale), the last optional: the gradients of x, scale and bias of layer_norm, axis=, eps=",
        operands: (2, 3),
        lower: |p, x, o| layer_norm_grad(p, "layer_norm_grad", x, o),
    },
];

fn layer_norm(p: &mut Program, op: &str, operands: &[ValueId], o: &mut Options) -> Result<Vec<ValueId>> {
    let (dtype, x) = widened(p, op, operands)?;
    let (axes, eps) = (trailing(p, op, x[0], o)?, epsilon(o, op)?);
    let normal = normalise(p, x[0], &axes, eps)?;
    let y = affine(p, normal.x, x.get(1).copied(), x.get(2).copied())?;
    Ok(vec![p.cast(y, dtype)?, normal.mean, normal.inverse])
}

fn layer_norm_grad(p: &mut Program, op: &str, operands: &[ValueId], o: &mut Options) -> Result<Vec<ValueId>> {
    let (dtype, x) = widened(p, op, operands)?;
    let (axes, eps) = (trailing(p, op, x[0], o)?, epsilon(o, op)?);
    let normal = normalise(p, x[0], &axes, eps)?;
    let g = affine(p, x[1], x.get(2).copied(), None)?;
    let dx = gradient(p, g, (normal.x, normal.inverse), &axes, true)?;
    let products = p.call("mul", &[x[1], normal.x])?;
    let (dscale, dbias) = (outer_sum(p, products, &axes)?, outer_sum(p, x[1], &axes)?);
    [dx, dscale, dbias].into_iter().map(|v| p.cast(v, dtype)).collect()
}
