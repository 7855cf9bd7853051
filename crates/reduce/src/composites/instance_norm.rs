//! Instance normalisation (Ulyanov, Vedaldi & Lempitsky 2016): x of shape [N, C, …] over all axes behind the channels, then a
//! scale and a bias for each channel.

use super::normalise::{affine, channels, epsilon, normalise, widened};
use super::{Composite, spatial};
use crate::error::Result;

pub(super) static OPS: &[Composite] = &[Composite {
    name: "instance_norm",
    summary: "(x, scale, bias), the last two optional, of shape [C]: x normalised over the axes behind the channels, eps=",
    operands: (1, 3),
    lower: |p, x, o| {
        let op = "instance_norm";
        let (dtype, x) = widened(p, op, x)?;
        let (axes, eps) = (spatial(p, op, x[0])?, epsilon(o, op)?);
        let normal = normalise(p, x[0], &axes, eps)?;
        let per_channel = x[1..].iter().map(|&v| channels(p, op, v, normal.x)).collect::<Result<Vec<_>>>()?;
        let y = affine(p, normal.x, per_channel.first().copied(), per_channel.get(1).copied())?;
        Ok(vec![p.cast(y, dtype)?])
    },
}];
