//! Powers by a known exponent: 0 to 8 as products from left to right, 0.5 as the square root.

use super::{Call, OnnxOp};
use crate::error::{Error, Result};
use crate::program::ValueId;
use crate::tensor::element;

pub(super) static OPS: &[OnnxOp] = &[OnnxOp::new("Pow", pow).knowing(&[1])];

fn pow(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let x = c.input(0)?;
    let exponent = exponent(c)?;
    let spread = c.input(1)?;
    let shape = c.shape(spread);
    let y = if exponent == 0.5 {
        c.call("sqrt", &[x])?
    } else if exponent == 0.0 {
        let (one, own) = (c.number(1.0, x)?, c.shape(x));
        c.p.broadcast(one, &own)?
    } else if exponent.fract() == 0.0 && (1.0..=8.0).contains(&exponent) {
        (1..exponent as usize).try_fold(x, |power, _| c.call("mul", &[power, x]))?
    } else {
        return Err(Error::value("pow", format!("exponent {exponent}: 0, 1, … 8 and 0.5 are known")));
    };
    if shape.iter().product::<usize>() == 1 && shape.len() <= c.p.shape(y).len() {
        return Ok(vec![y]);
    }
    // An exponent of more elements spreads the result.
    let zero = c.number(0.0, y)?;
    let zeros = c.p.broadcast(zero, &shape)?;
    Ok(vec![c.call("add", &[y, zeros])?])
}

/// The one number that all elements of the exponent are.
fn exponent(c: &Call<'_>) -> Result<f64> {
    let missing = || Error::value("pow", "the exponent is missing or has no elements");
    let tensor = c.known(1)?.filter(|t| !t.is_empty()).ok_or_else(missing)?;
    let at = |i: usize| element(tensor.dtype(), tensor.bytes(), i).0;
    match (1..tensor.len()).find(|&i| at(i) != at(0)) {
        Some(i) => Err(Error::value("pow", format!("exponents {} and {} in one tensor: one is known", at(0), at(i)))),
        None => Ok(at(0)),
    }
}
