//! Comparing the outputs of an execution with the reference.

use super::bounded::{Bounded, smallest};
use crate::error::{Error, Result};
use crate::program::Program;
use crate::tensor::{Tensor, TensorView, element};

/// How far one output of an execution is from the reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// Largest difference.
    pub max_abs: f64,
    /// Largest difference relative to the reference, where that is not 0.
    pub max_rel: f64,
    /// Largest bound of an element that has one.
    pub bound: f64,
    /// Whether every element is within its bound.
    pub ok: bool,
}

impl Program {
    /// Compares `outputs` with the reference for `inputs`: floats are within their bounds, NaN is NaN, infinities and whole
    /// numbers are equal.
    ///
    /// # Errors
    /// As [`Program::reference`]; [`Error::Value`] for a wrong number of outputs, [`Error::Shape`] if one has another type or
    /// shape.
    pub fn compare(&self, inputs: &[TensorView<'_>], outputs: &[Tensor]) -> Result<Vec<Check>> {
        let wanted = self.reference_bounded(inputs)?;
        if wanted.len() != outputs.len() {
            let message = format!("the program has {} outputs, {} are given", wanted.len(), outputs.len());
            return Err(Error::value(&self.name, message));
        }
        let pairs = self.outputs().iter().zip(wanted.iter().zip(outputs));
        pairs.map(|((name, _), (want, got))| check(name, want, got)).collect()
    }
}

fn check(name: &str, want: &Bounded, got: &Tensor) -> Result<Check> {
    if want.dtype != got.dtype() || want.shape != got.shape() {
        let message = format!("{got:?} is given, {}{:?} is computed", want.dtype, want.shape);
        return Err(Error::shape(format!("output {name}"), message));
    }
    let mut all = Check { max_abs: 0.0, max_rel: 0.0, bound: 0.0, ok: true };
    for i in 0..want.len() {
        let (e, (float, int)) = (want.element(i), element(got.dtype(), got.bytes(), i));
        if e.error.is_infinite() {
            continue;
        }
        all.bound = all.bound.max(e.error);
        let same =
            if want.dtype.is_float() { float == e.float || float.is_nan() && e.float.is_nan() } else { int == e.int };
        if same {
            continue;
        }
        let apart = (float - e.float).abs();
        let apart = if apart.is_nan() { f64::INFINITY } else { apart };
        all.max_abs = all.max_abs.max(apart);
        if e.float != 0.0 {
            all.max_rel = all.max_rel.max(apart / e.float.abs());
        }
        all.ok &= want.dtype.is_float() && apart <= e.error + smallest(want.dtype);
    }
    Ok(all)
}
