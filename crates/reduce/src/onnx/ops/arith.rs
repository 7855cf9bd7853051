//! Arithmetic and activations, element by element.

use super::{Call, OnnxOp};
use crate::error::Result;
use crate::program::ValueId;

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("Abs", |c| c.map("abs")),
    OnnxOp::new("Add", |c| c.map("add")),
    OnnxOp::new("Ceil", |c| c.map("ceil")),
    OnnxOp::new("Clip", clip),
    OnnxOp::new("Div", |c| c.map("div")),
    OnnxOp::new("Exp", |c| c.map("exp")),
    OnnxOp::new("Floor", |c| c.map("floor")),
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
    OnnxOp::new("Log", |c| c.map("log")),
    OnnxOp::new("Max", |c| fold(c, "max")),
    OnnxOp::new("Mean", |c| {
        let count = c.inputs.len();
        let sum = fold(c, "add")?[0];
        let count = c.number(count as f64, sum)?;
        Ok(vec![c.call("div", &[sum, count])?])
    }),
    OnnxOp::new("Min", |c| fold(c, "min")),
    OnnxOp::new("Mod", remainder),
    OnnxOp::new("Mul", |c| c.map("mul")),
    OnnxOp::new("Neg", |c| c.map("neg")),
    OnnxOp::new("PRelu", |c| {
        let (x, slope) = (c.input(0)?, c.input(1)?);
        leaky(c, x, slope)
    }),
    OnnxOp::new("Reciprocal", |c| c.map("reciprocal")),
    OnnxOp::new("Relu", |c| c.map("relu")),
    OnnxOp::new("Round", |c| c.map("round")),
    OnnxOp::new("Sigmoid", |c| c.map("sigmoid")),
    OnnxOp::new("Sign", |c| c.map("sign")),
    OnnxOp::new("Softsign", |c| {
        let x = c.input(0)?;
        let (size, one) = (c.call("abs", &[x])?, c.number(1.0, x)?);
        let divisor = c.call("add", &[one, size])?;
        Ok(vec![c.call("div", &[x, divisor])?])
    }),
    OnnxOp::new("Sqrt", |c| c.map("sqrt")),
    OnnxOp::new("Sub", |c| c.map("sub")),
    OnnxOp::new("Sum", |c| fold(c, "add")),
    OnnxOp::new("Tanh", |c| c.map("tanh")),
];

/// Any number of inputs, combined from left to right.
fn fold(c: &mut Call<'_>, name: &str) -> Result<Vec<ValueId>> {
    let all = c.all()?;
    let combined = all[1..].iter().try_fold(all[0], |so_far, &next| c.call(name, &[so_far, next]))?;
    Ok(vec![combined])
}

/// max(min, min(max, x)); bounds were attributes before version 11.
fn clip(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let mut x = c.input(0)?;
    for (i, attribute, op) in [(1, "min", "max"), (2, "max", "min")] {
        let bound = match (c.optional(i), c.attributes.float(attribute)?) {
            (None, Some(bound)) => Some(c.number(bound, x)?),
            (given, _) => given,
        };
        if let Some(bound) = bound {
            x = c.call(op, &[x, bound])?;
        }
    }
    Ok(vec![x])
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

/// The remainder with the sign of the dividend (`fmod`), or with that of the divisor.
fn remainder(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let (a, b) = (c.input(0)?, c.input(1)?);
    let rest = c.call("rem", &[a, b])?;
    if c.flag("fmod", false)? {
        return Ok(vec![rest]);
    }
    let zero = c.number(0.0, a)?;
    let (is_rest, below, divisor_below) =
        (c.call("ne", &[rest, zero])?, c.call("lt", &[rest, zero])?, c.call("lt", &[b, zero])?);
    let differs = c.call("xor", &[below, divisor_below])?;
    let (is_wrong, shifted) = (c.call("and", &[is_rest, differs])?, c.call("add", &[rest, b])?);
    Ok(vec![c.call("where", &[is_wrong, shifted, rest])?])
}
