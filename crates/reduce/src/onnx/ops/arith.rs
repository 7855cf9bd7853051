//! Arithmetic, element by element.

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
    OnnxOp::new("Reciprocal", |c| c.map("reciprocal")),
    OnnxOp::new("Round", |c| c.map("round")),
    OnnxOp::new("Sign", |c| c.map("sign")),
    OnnxOp::new("Sqrt", |c| c.map("sqrt")),
    OnnxOp::new("Sub", |c| c.map("sub")),
    OnnxOp::new("Sum", |c| fold(c, "add")),
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
