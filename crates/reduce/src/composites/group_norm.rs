//! Group normalisation (Wu & He 2018): x of shape [N, C, …] over each of `groups=` groups of channels with all that lies
//! behind them, then a scale and a bias for each channel.

use super::normalise::{affine, channels, epsilon, normalise, widened};
use super::{Composite, Options};
use crate::error::{Error, Result};
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "group_norm",
    summary: "(x, scale, bias), the last two optional, of shape [C]: x normalised over each of groups= groups, eps=",
    operands: (1, 3),
    lower: |p, x, o| Ok(vec![group_norm(p, "group_norm", x, o)?]),
}];

fn group_norm(p: &mut Program, op: &str, operands: &[ValueId], o: &mut Options) -> Result<ValueId> {
    let (dtype, x) = widened(p, op, operands)?;
    let (groups, eps) = (o.int(op, "groups", 1)?, epsilon(o, op)?);
    let shape = p.shape(x[0]).to_vec();
    let fits = |&g: &usize| g > 0 && shape.len() >= 2 && shape[1].is_multiple_of(g);
    let Some(groups) = usize::try_from(groups).ok().filter(fits) else {
        return Err(Error::value(op, format!("{groups} groups do not divide the channels of {shape:?}")));
    };
    let inner = shape[1] / groups * shape[2..].iter().product::<usize>();
    let grouped = p.reshape(x[0], &[shape[0], groups, inner])?;
    let normal = normalise(p, grouped, &Axes::These(vec![2]), eps)?;
    let normal = p.reshape(normal.x, &shape)?;
    let per_channel = x[1..].iter().map(|&v| channels(p, op, v, normal)).collect::<Result<Vec<_>>>()?;
    let y = affine(p, normal, per_channel.first().copied(), per_channel.get(1).copied())?;
    p.cast(y, dtype)
}
