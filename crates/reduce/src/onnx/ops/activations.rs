//! Activations, element by element.

use super::{Call, OnnxOp};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::program::ValueId;

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("Dropout", dropout).knowing(&[2]),
    OnnxOp::new("Elu", |c| {
        let (x, alpha) = (c.input(0)?, c.float("alpha", 1.0)?);
        elu(c, x, alpha)
    }),
    OnnxOp::new("HardSigmoid", |c| {
        let (x, alpha, beta) = (c.input(0)?, c.float("alpha", 0.2)?, c.float("beta", 0.5)?);
        Ok(vec![hard_sigmoid(c, x, alpha, beta)?])
    }),
    OnnxOp::new("HardSwish", |c| {
        let x = c.input(0)?;
        let gate = hard_sigmoid(c, x, 1.0 / 6.0, 0.5)?;
        Ok(vec![c.call("mul", &[x, gate])?])
    }),
    OnnxOp::new("LeakyRelu", |c| {
        let x = c.input(0)?;
        let alpha = c.float("alpha", 0.01)?;
        let slope = c.number(alpha, x)?;
        leaky(c, x, slope)
    }),
    OnnxOp::new("PRelu", |c| {
        let (x, slope) = (c.input(0)?, c.input(1)?);
        leaky(c, x, slope)
    }),
    OnnxOp::new("Relu", |c| c.map("relu")),
    OnnxOp::new("Sigmoid", |c| c.map("sigmoid")),
    OnnxOp::new("Softplus", |c| {
        let x = c.input(0)?;
        softplus(c, x)
    }),
    OnnxOp::new("Softsign", |c| {
        let x = c.input(0)?;
        let (size, one) = (c.call("abs", &[x])?, c.number(1.0, x)?);
        let divisor = c.call("add", &[one, size])?;
        Ok(vec![c.call("div", &[x, divisor])?])
    }),
    OnnxOp::new("Swish", |c| {
        let (x, alpha) = (c.input(0)?, c.float("alpha", 1.0)?);
        let alpha = c.number(alpha, x)?;
        let scaled = c.call("mul", &[alpha, x])?;
        let gate = c.call("sigmoid", &[scaled])?;
        Ok(vec![c.call("mul", &[x, gate])?])
    }),
    OnnxOp::new("Tanh", |c| c.map("tanh")),
];

/// Outside training x itself, and a mask that is true everywhere.
fn dropout(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let x = c.input(0)?;
    if c.known(2)?.is_some_and(|t| t.bytes().iter().any(|&b| b != 0)) {
        return Err(Error::value("training_mode", "dropout in training draws random numbers: it is not supported"));
    }
    let (shape, kind) = (c.shape(x), if c.opset < 10 { c.dtype(x) } else { Dtype::Bool });
    let kept = c.p.number(1.0, kind)?;
    Ok(vec![x, c.p.broadcast(kept, &shape)?])
}

/// x, or alpha (e^x − 1) where it is negative; with t = tanh x/2 that power is 2t / (1 − t), and nothing cancels near zero.
fn elu(c: &mut Call<'_>, x: ValueId, alpha: f64) -> Result<Vec<ValueId>> {
    let (zero, half, one) = (c.number(0.0, x)?, c.number(0.5, x)?, c.number(1.0, x)?);
    let twice_alpha = c.number(2.0 * alpha, x)?;
    let halved = c.call("mul", &[x, half])?;
    let t = c.call("tanh", &[halved])?;
    let (scaled, rest) = (c.call("mul", &[twice_alpha, t])?, c.call("sub", &[one, t])?);
    let (power, is_negative) = (c.call("div", &[scaled, rest])?, c.call("lt", &[x, zero])?);
    Ok(vec![c.call("where", &[is_negative, power, x])?])
}

/// log(1 + e^x) as max(x, 0) + log(1 + e^−|x|), which does not overflow.
fn softplus(c: &mut Call<'_>, x: ValueId) -> Result<Vec<ValueId>> {
    let (size, above, one) = (c.call("abs", &[x])?, c.call("relu", &[x])?, c.number(1.0, x)?);
    let minus = c.call("neg", &[size])?;
    let power = c.call("exp", &[minus])?;
    let sum = c.call("add", &[one, power])?;
    let log = c.call("log", &[sum])?;
    Ok(vec![c.call("add", &[above, log])?])
}

/// max(0, min(1, alpha x + beta)).
fn hard_sigmoid(c: &mut Call<'_>, x: ValueId, alpha: f64, beta: f64) -> Result<ValueId> {
    let (alpha, beta) = (c.number(alpha, x)?, c.number(beta, x)?);
    let (zero, one) = (c.number(0.0, x)?, c.number(1.0, x)?);
    let scaled = c.call("mul", &[alpha, x])?;
    let shifted = c.call("add", &[scaled, beta])?;
    let below = c.call("min", &[shifted, one])?;
    c.call("max", &[below, zero])
}

/// x, times `slope` where it is negative.
fn leaky(c: &mut Call<'_>, x: ValueId, slope: ValueId) -> Result<Vec<ValueId>> {
    let zero = c.number(0.0, x)?;
    let (scaled, is_negative) = (c.call("mul", &[x, slope])?, c.call("lt", &[x, zero])?);
    Ok(vec![c.call("where", &[is_negative, scaled, x])?])
}
