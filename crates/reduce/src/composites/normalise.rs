//! What the normalisations share: x̂ = (x − μ) r with r = 1 / √(v + ε), an affine map of it, and the backward pass.
//!
//! With g the gradient of x̂ and means over the normalised axes: dx = r (g − mean g − x̂ mean(g x̂)); where the mean is not
//! taken off (RMS), without `mean g`.

use super::mean::mean;
use super::moments::mean_and_variance;
use super::{Options, floats, sum, wide};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::program::{Axes, Program, ValueId};

/// A normalised value and what it was normalised with; the axes stay.
pub(super) struct Normal {
    /// (x − μ) r.
    pub(super) x: ValueId,
    /// μ.
    pub(super) mean: ValueId,
    /// The population variance.
    pub(super) variance: ValueId,
    /// r.
    pub(super) inverse: ValueId,
}

/// The operands in their accumulators' type, and the type of the first.
pub(super) fn widened(p: &mut Program, op: &str, operands: &[ValueId]) -> Result<(Dtype, Vec<ValueId>)> {
    floats(p, op, operands[0])?;
    let wide = operands.iter().map(|&v| wide(p, v)).collect::<Result<_>>()?;
    Ok((p.dtype(operands[0]), wide))
}

/// `eps=`, by default 1e-5.
pub(super) fn epsilon(o: &mut Options, op: &str) -> Result<f64> {
    o.number(op, "eps", 1e-5)
}

/// The axes from `axis=` (default −1) on.
pub(super) fn trailing(p: &Program, op: &str, x: ValueId, o: &mut Options) -> Result<Axes> {
    let rank = p.shape(x).len();
    let first = Axes::These(vec![o.int(op, "axis", -1)?]).resolve(op, rank)?[0];
    Ok(Axes::These((first as i64..rank as i64).collect()))
}

/// 1 / √(v + ε).
pub(super) fn inverse_root(p: &mut Program, v: ValueId, eps: f64) -> Result<ValueId> {
    let eps = p.number(eps, p.dtype(v))?;
    let above = p.call("add", &[v, eps])?;
    let root = p.call("sqrt", &[above])?;
    p.call("reciprocal", &[root])
}

/// Normalises a wide value over `axes`.
pub(super) fn normalise(p: &mut Program, x: ValueId, axes: &Axes, eps: f64) -> Result<Normal> {
    let (mean, variance) = mean_and_variance(p, x, axes, true)?;
    let inverse = inverse_root(p, variance, eps)?;
    let centred = p.call("sub", &[x, mean])?;
    Ok(Normal { x: p.call("mul", &[centred, inverse])?, mean, variance, inverse })
}

/// x · scale + bias, where they are given.
pub(super) fn affine(p: &mut Program, x: ValueId, scale: Option<ValueId>, bias: Option<ValueId>) -> Result<ValueId> {
    let shape = p.shape(x).to_vec();
    let scaled = scale.map_or(Ok(x), |scale| p.call("mul", &[x, scale]))?;
    let y = bias.map_or(Ok(scaled), |bias| p.call("add", &[scaled, bias]))?;
    if p.shape(y) == shape {
        return Ok(y);
    }
    Err(Error::shape("a normalisation", format!("scale or bias would widen {shape:?} to {:?}", p.shape(y))))
}

/// One value for each channel, of shape [C], as it stands beside x of shape [N, C, …].
pub(super) fn channels(p: &mut Program, op: &str, v: ValueId, x: ValueId) -> Result<ValueId> {
    let shape = p.shape(x);
    if shape.len() < 2 || p.shape(v) != [shape[1]] {
        let message = format!("one value for each channel of {shape:?} is needed, not {:?}", p.shape(v));
        return Err(Error::shape(op, message));
    }
    let beside = [&shape[1..2], &vec![1; shape.len() - 2][..]].concat();
    p.reshape(v, &beside)
}

/// The gradient of x from g, that of x̂.
pub(super) fn gradient(
    p: &mut Program,
    g: ValueId,
    normal: (ValueId, ValueId),
    axes: &Axes,
    is_centred: bool,
) -> Result<ValueId> {
    let (x, inverse) = normal;
    let products = p.call("mul", &[g, x])?;
    let along = mean(p, products, axes, true)?;
    let part = p.call("mul", &[x, along])?;
    let mut rest = g;
    if is_centred {
        let middle = mean(p, g, axes, true)?;
        rest = p.call("sub", &[g, middle])?;
    }
    let rest = p.call("sub", &[rest, part])?;
    p.call("mul", &[rest, inverse])
}

/// The sum over all axes that are not in `axes`: the gradient of what is broadcast along them.
pub(super) fn outer_sum(p: &mut Program, v: ValueId, axes: &Axes) -> Result<ValueId> {
    let rank = p.shape(v).len();
    let inner = axes.resolve("sum", rank)?;
    let outer: Vec<i64> = (0..rank).filter(|a| !inner.contains(a)).map(|a| a as i64).collect();
    if outer.is_empty() { Ok(v) } else { sum(p, v, &Axes::These(outer), false) }
}
