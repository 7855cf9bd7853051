//! Batch normalisation (Ioffe & Szegedy 2015) of x of shape [N, C, …]: with given statistics, or in training with those of
//! all axes but the channels; and the backward pass of training.

use super::normalise::{affine, channels, epsilon, gradient, inverse_root, normalise, widened};
use super::{Composite, Options, sum};
use crate::error::{Error, Result};
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[
    Composite {
        name: "batch_norm",
        summary: "(x, scale, bias, mean, variance): x normalised with the given statistics of each channel, eps=",
        operands: (5, 5),
        lower: |p, x, o| Ok(vec![batch_norm(p, "batch_norm", x, o)?]),
    },
    Composite {
        name: "batch_norm_train",
        summary: "(x, scale, bias), the last two optional: x normalised over all axes but the channels, the mean and the \
                  population variance of each channel, eps=",
        operands: (1, 3),
        lower: |p, x, o| batch_norm_train(p, "batch_norm_train", x, o),
    },
    Composite {
        name: "batch_norm_grad",
        summary: "(x, dy, scale), the last optional: the gradients of x, scale and bias of batch_norm_train, eps=",
        operands: (2, 3),
        lower: |p, x, o| batch_norm_grad(p, "batch_norm_grad", x, o),
    },
];

/// All axes of x but the channels.
fn batch(p: &Program, op: &str, x: ValueId) -> Result<Axes> {
    match p.shape(x).len() {
        rank @ 2.. => Ok(Axes::These((0..rank as i64).filter(|&a| a != 1).collect())),
        rank => Err(Error::shape(op, format!("needs a batch and a channel axis, the rank is {rank}"))),
    }
}

fn batch_norm(p: &mut Program, op: &str, operands: &[ValueId], o: &mut Options) -> Result<ValueId> {
    let (dtype, x) = widened(p, op, operands)?;
    let eps = epsilon(o, op)?;
    let of_channel = x[1..].iter().map(|&v| channels(p, op, v, x[0])).collect::<Result<Vec<_>>>()?;
    let inverse = inverse_root(p, of_channel[3], eps)?;
    let centred = p.call("sub", &[x[0], of_channel[2]])?;
    let normal = p.call("mul", &[centred, inverse])?;
    let y = affine(p, normal, Some(of_channel[0]), Some(of_channel[1]))?;
    p.cast(y, dtype)
}

fn batch_norm_train(p: &mut Program, op: &str, operands: &[ValueId], o: &mut Options) -> Result<Vec<ValueId>> {
    let (dtype, x) = widened(p, op, operands)?;
    let (axes, eps) = (batch(p, op, x[0])?, epsilon(o, op)?);
    let normal = normalise(p, x[0], &axes, eps)?;
    let of_channel = x[1..].iter().map(|&v| channels(p, op, v, x[0])).collect::<Result<Vec<_>>>()?;
    let y = affine(p, normal.x, of_channel.first().copied(), of_channel.get(1).copied())?;
    let count = p.shape(x[0])[1];
    let (mean, variance) = (p.reshape(normal.mean, &[count])?, p.reshape(normal.variance, &[count])?);
    [y, mean, variance].into_iter().map(|v| p.cast(v, dtype)).collect()
}

fn batch_norm_grad(p: &mut Program, op: &str, operands: &[ValueId], o: &mut Options) -> Result<Vec<ValueId>> {
    let (dtype, x) = widened(p, op, operands)?;
    let (axes, eps) = (batch(p, op, x[0])?, epsilon(o, op)?);
    let normal = normalise(p, x[0], &axes, eps)?;
    let scale = x.get(2).map(|&v| channels(p, op, v, x[0])).transpose()?;
    let g = affine(p, x[1], scale, None)?;
    let dx = gradient(p, g, (normal.x, normal.inverse), &axes, true)?;
    let products = p.call("mul", &[x[1], normal.x])?;
    let (dscale, dbias) = (sum(p, products, &axes, false)?, sum(p, x[1], &axes, false)?);
    [dx, dscale, dbias].into_iter().map(|v| p.cast(v, dtype)).collect()
}
