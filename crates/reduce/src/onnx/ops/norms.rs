//! Normalisations.

use super::{Call, OnnxOp};
use crate::composites::{Given, Options};
use crate::error::{Error, Result};
use crate::onnx::tensors;
use crate::program::ValueId;

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("BatchNormalization", batch_norm),
    OnnxOp::new("GroupNormalization", group_norm),
    OnnxOp::new("InstanceNormalization", |c| {
        let (operands, options) = (c.all()?, epsilon(c)?);
        c.composite("instance_norm", &operands, options)
    }),
    OnnxOp::new("LayerNormalization", layer_norm),
    OnnxOp::new("LpNormalization", |c| {
        let (x, axis, order) = (c.input(0)?, c.int("axis", -1)?, c.int("p", 2)?);
        let options = Options::none().with("axis", Given::Int(axis)).with("p", Given::Int(order));
        c.composite("lp_norm", &[x], options)
    }),
    OnnxOp::new("MeanVarianceNormalization", |c| {
        let axes = c.attributes.ints("axes")?.unwrap_or(&[0, 2, 3]).to_vec();
        let x = c.input(0)?;
        let options = Options::none().with("noop", Given::Flag(axes.is_empty()));
        c.composite("mean_variance_norm", &[x], options.with("axes", Given::List(axes)))
    }),
    OnnxOp::new("RMSNormalization", |c| {
        let (operands, options) = (c.all()?, trailing(c)?);
        c.composite("rms_norm", &operands, options)
    }),
];

fn epsilon(c: &Call<'_>) -> Result<Options> {
    Ok(Options::none().with("eps", Given::Number(c.float("epsilon", 1e-5)?)))
}

/// The options of a norm over the axes from one on.
fn trailing(c: &Call<'_>) -> Result<Options> {
    Ok(epsilon(c)?.with("axis", Given::Int(c.int("axis", -1)?)))
}

/// y, and if they are named the mean and 1 / the deviation in the type that `stash_type` names.
fn layer_norm(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let mut operands = vec![c.input(0)?, c.input(1)?];
    operands.extend(c.optional(2));
    let options = trailing(c)?;
    if c.outputs <= 1 {
        return c.composite("layer_norm", &operands, options);
    }
    let stash = i32::try_from(c.int("stash_type", 1)?).unwrap_or(-1);
    let stash = tensors::dtype("the attribute stash_type", stash)?;
    let made = c.composite("layer_norm_stats", &operands, options)?;
    Ok(vec![made[0], c.p.cast(made[1], stash)?, c.p.cast(made[2], stash)?])
}

/// Before version 21 scale and bias are given for each group, not for each channel.
fn group_norm(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let groups = c.attributes.int("num_groups")?;
    let groups = groups.ok_or_else(|| Error::value("num_groups", "the attribute is missing"))?;
    let x = c.input(0)?;
    let shape = c.shape(x);
    let mut operands = vec![x];
    for i in 1..3 {
        let mut v = c.input(i)?;
        let (own, channels) = (c.shape(v), shape.get(1).copied().unwrap_or(0));
        if c.opset < 21 && own.len() == 1 && own[0] > 0 && channels.is_multiple_of(own[0]) {
            let column = c.p.reshape(v, &[own[0], 1])?;
            let spread = c.p.broadcast(column, &[own[0], channels / own[0]])?;
            v = c.p.reshape(spread, &[channels])?;
        }
        operands.push(v);
    }
    let options = epsilon(c)?.with("groups", Given::Int(groups));
    c.composite("group_norm", &operands, options)
}

/// With the given statistics; or in training with those of the batch, which also move the running ones. Before version 14
/// it trains if the node names statistics.
fn batch_norm(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    if c.int("spatial", 1)? != 1 {
        return Err(Error::value("spatial", "statistics for each place, not for each channel, are not supported"));
    }
    let operands = c.all()?;
    let options = epsilon(c)?;
    let is_training = if c.opset < 14 { c.outputs > 1 } else { c.flag("training_mode", false)? };
    if !is_training {
        return c.composite("batch_norm", &operands, options);
    }
    let (running_mean, running_variance) = (c.input(3)?, c.input(4)?);
    let made = c.composite("batch_norm_train", &operands[..3], options)?;
    let momentum = c.float("momentum", 0.9)?;
    let mean = moved(c, running_mean, made[1], momentum)?;
    let variance = moved(c, running_variance, made[2], momentum)?;
    Ok(vec![made[0], mean, variance, made[1], made[2]])
}

/// old · momentum + new · (1 − momentum).
fn moved(c: &mut Call<'_>, old: ValueId, new: ValueId, momentum: f64) -> Result<ValueId> {
    let new = c.p.cast(new, c.dtype(old))?;
    let (keep, take) = (c.number(momentum, old)?, c.number(1.0 - momentum, old)?);
    let (kept, taken) = (c.call("mul", &[old, keep])?, c.call("mul", &[new, take])?);
    c.call("add", &[kept, taken])
}
