//! Elementwise operations: one file per family, one line each in [`ALL`].
//!
//! An operation states its arithmetic once, as a scalar expression in its operands' register type; results of narrow types
//! are rounded by whoever executes it. Beside it stands what it means in real numbers and how it passes errors on, for
//! the slow twin. No operation has attributes: what varies is an operand.

mod activation;
mod arith;
mod compare;
mod logic;
mod math;

use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::scalar::{ScalarBuilder, ScalarExpr};

/// Types that an operation takes; all operands have one type (of `Where`, the last two).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Floating-point and whole numbers.
    Numbers,
    /// Floating-point numbers.
    Floats,
    /// Whole numbers and bool.
    Bits,
    /// Everything.
    Any,
    /// A condition (bool), then two operands of any one type.
    Where,
}

/// Type of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// That of the operands.
    Same,
    /// bool.
    Bool,
}

/// An elementwise operation.
pub struct Elementwise {
    /// Name in programs.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Number of operands.
    pub arity: usize,
    /// What it takes.
    pub takes: Takes,
    /// What it gives.
    pub gives: Gives,
    /// Its arithmetic.
    pub expr: fn(&mut ScalarBuilder, &[ScalarExpr]) -> ScalarExpr,
    /// What it means in real numbers; a truth value is 0 or 1.
    pub real: fn(&[f64]) -> f64,
    /// |∂f/∂xᵢ| at the operands, given the result: how errors of the operands pass on, to first order.
    pub slopes: fn(&[f64], f64) -> [f64; 3],
    /// Largest error of the executed operation itself at the operands, in units of roundoff of the result.
    pub ulps: fn(&[f64]) -> f64,
}

impl std::fmt::Debug for Elementwise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Elementwise {
    /// Type of the result for operands of these types.
    ///
    /// # Errors
    /// [`Error::Value`] for a wrong number of operands, [`Error::Type`] for types that do not fit.
    pub fn result(&self, types: &[Dtype]) -> Result<Dtype> {
        if types.len() != self.arity {
            return Err(Error::value(self.name, format!("takes {} operands, {} are given", self.arity, types.len())));
        }
        let values = if self.takes == Takes::Where { &types[1..] } else { types };
        let dtype = values[0];
        let fits = match self.takes {
            Takes::Numbers => dtype != Dtype::Bool,
            Takes::Floats => dtype.is_float(),
            Takes::Bits => !dtype.is_float(),
            Takes::Any => true,
            Takes::Where => types[0] == Dtype::Bool,
        };
        if !fits {
            let wrong = if self.takes == Takes::Where { types[0] } else { dtype };
            let hint = if self.takes == Takes::Where { " as its condition: bool" } else { "" };
            return Err(Error::dtype(self.name, wrong, hint));
        }
        if let Some(&other) = values.iter().find(|&&d| d != dtype) {
            return Err(Error::dtype(self.name, other, format!(" beside {dtype}: cast one of them")));
        }
        Ok(if self.gives == Gives::Bool { Dtype::Bool } else { dtype })
    }
}

/// Every family.
pub static ALL: &[&[Elementwise]] = &[arith::OPS, compare::OPS, logic::OPS, math::OPS, activation::OPS];

/// The operation called `name`.
pub fn find(name: &str) -> Option<&'static Elementwise> {
    ALL.iter().flat_map(|family| family.iter()).find(|op| op.name == name)
}

/// Slopes of an operation whose result does not vary with its operands, or only in steps.
fn flat(_: &[f64], _: f64) -> [f64; 3] {
    [0.0; 3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Scalar;
    use crate::scalar::{Const, eval};

    const POINTS: [f64; 9] = [-30.0, -3.7, -1.0, -0.25, 0.0, 0.5, 1.0, 2.25, 25.0];

    fn run(op: &Elementwise, kind: Scalar, args: &[f64]) -> f64 {
        let mut b = ScalarBuilder::new();
        let types: Vec<Scalar> = (0..op.arity)
            .map(|i| if op.takes == Takes::Where && i == 0 || op.takes == Takes::Bits { Scalar::Bool } else { kind })
            .collect();
        let operands: Vec<_> = types.iter().enumerate().map(|(i, &t)| b.arg(i, t)).collect();
        let out = (op.expr)(&mut b, &operands);
        let constants: Vec<Const> = args.iter().zip(&types).map(|(&a, &t)| Const::from_f64(a, t)).collect();
        eval(b.code(), &constants)[out.0 as usize].to_f64()
    }

    #[test]
    fn expressions_mean_what_they_say() {
        for op in ALL.iter().flat_map(|family| family.iter()) {
            for (i, &x) in POINTS.iter().enumerate() {
                for &y in &POINTS[i % 3..] {
                    let args = [x, y, 0.75][..op.arity].to_vec();
                    let exact = |kind: Scalar| {
                        let flag = |i: usize| op.takes == Takes::Where && i == 0 || op.takes == Takes::Bits;
                        let seen = |(i, &a): (usize, &f64)| {
                            if flag(i) { f64::from(a != 0.0) } else { Const::from_f64(a, kind).to_f64() }
                        };
                        args.iter().enumerate().map(seen).collect::<Vec<f64>>()
                    };
                    for (kind, u) in [(Scalar::F32, 2f64.powi(-24)), (Scalar::F64, 2f64.powi(-53))] {
                        let (got, want) = (run(op, kind, &args), (op.real)(&exact(kind)));
                        let tiny = if kind == Scalar::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
                        // The reference itself is allowed an error in double precision.
                        let slack = 2.0 * (op.ulps)(&exact(kind)).max(1.0) * u * want.abs() + 4e-16 * want.abs() + tiny;
                        let same = got == want || got.is_nan() && want.is_nan() || (got - want).abs() <= slack;
                        assert!(same, "{} of {args:?} as {kind:?}: {got}, not {want}", op.name);
                    }
                }
            }
        }
    }

    #[test]
    fn slopes_are_the_derivatives() {
        for op in ALL.iter().flat_map(|family| family.iter()).filter(|op| op.gives == Gives::Same) {
            for &x in &[0.3f64, 0.9, 1.7] {
                let args = [x, 0.55, 0.75][..op.arity].to_vec();
                let slopes = (op.slopes)(&args, (op.real)(&args));
                for (i, slope) in slopes.iter().enumerate().take(op.arity) {
                    let moved = |d: f64| {
                        let mut args = args.clone();
                        args[i] += d;
                        (op.real)(&args)
                    };
                    let numeric = ((moved(1e-6) - moved(-1e-6)) / 2e-6).abs();
                    assert!((slope - numeric).abs() <= 1e-4 * (1.0 + numeric), "{} {i}: {slope} {numeric}", op.name);
                }
            }
        }
    }

    #[test]
    fn types_are_checked() {
        let add = find("add").unwrap();
        assert!(add.result(&[Dtype::F32, Dtype::F64]).unwrap_err().to_string().contains("cast"));
        assert!(add.result(&[Dtype::F32]).is_err() && add.result(&[Dtype::Bool; 2]).is_err());
        assert_eq!(find("lt").unwrap().result(&[Dtype::I8; 2]).unwrap(), Dtype::Bool);
        let select = find("where").unwrap();
        assert_eq!(select.result(&[Dtype::Bool, Dtype::F16, Dtype::F16]).unwrap(), Dtype::F16);
        assert!(select.result(&[Dtype::I8, Dtype::F16, Dtype::F16]).is_err());
    }
}
