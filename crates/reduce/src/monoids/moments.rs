//! Mean and sum of squared deviations, in one reduction (Welford 1962; the merge is that of Chan, Golub & LeVeque 1979).

use super::{Empty, Params, ReduceOp, TwoPass};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Const, ScalarBuilder, ScalarExpr};

/// Count n, mean μ and M2 = Σ (x − μ)²; the outputs are μ and M2.
pub static MOMENTS: Moments = Moments;

/// See [`MOMENTS`].
#[derive(Debug)]
pub struct Moments;

impl ReduceOp for Moments {
    fn name(&self) -> &'static str {
        "moments"
    }
    fn summary(&self) -> &'static str {
        "the mean and the sum of squared deviations from it"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d.is_float()
    }
    fn parts(&self, x: Scalar, _: &Params) -> Vec<Scalar> {
        vec![x; 3]
    }
    fn outputs(&self, d: Dtype, _: &Params) -> Vec<Dtype> {
        vec![d; 2]
    }
    fn identity(&self, x: Scalar, _: &Params) -> Vec<Const> {
        vec![Const::from_f64(0.0, x); 3]
    }
    fn lift(&self, b: &mut ScalarBuilder, _: &Params, x: ScalarExpr, _: ScalarExpr) -> Vec<ScalarExpr> {
        vec![b.number(1.0, x), x, b.number(0.0, x)]
    }
    /// n = n₁ + n₂, δ = μ₂ − μ₁, w = n₂ / n, μ = μ₁ + δ w, M2 = (M2₁ + M2₂) + ((δ² n₁) w).
    fn combine(&self, b: &mut ScalarBuilder, _: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        let n = b.add(l[0], r[0]);
        let delta = b.sub(r[1], l[1]);
        let w = b.div(r[0], n);
        let step = b.mul(delta, w);
        let mean = b.add(l[1], step);
        let squares = b.add(l[2], r[2]);
        let square = b.mul(delta, delta);
        let weighted = b.mul(square, l[0]);
        let between = b.mul(weighted, w);
        vec![n, mean, b.add(squares, between)]
    }
    fn finish(&self, _: &mut ScalarBuilder, _: &Params, a: &[ScalarExpr], _: ScalarExpr) -> Vec<ScalarExpr> {
        a[1..].to_vec()
    }
    fn empty(&self, d: Dtype, _: &Params) -> Empty {
        Empty::Values(vec![Const::from_f64(f64::NAN, d.scalar()), Const::from_f64(0.0, d.scalar())])
    }
    fn two_pass(&self) -> Option<&dyn TwoPass> {
        Some(self)
    }
    fn rounds(&self, _: Scalar) -> bool {
        true
    }
}

impl TwoPass for Moments {
    fn first(&self, b: &mut ScalarBuilder, s: ScalarExpr, x: ScalarExpr) -> ScalarExpr {
        b.add(s, x)
    }
    fn centre(&self, b: &mut ScalarBuilder, s: ScalarExpr, n: ScalarExpr) -> ScalarExpr {
        b.div(s, n)
    }
    fn deviation(&self, b: &mut ScalarBuilder, centre: ScalarExpr, x: ScalarExpr) -> ScalarExpr {
        let d = b.sub(x, centre);
        b.mul(d, d)
    }
    fn second(&self, b: &mut ScalarBuilder, s: ScalarExpr, d: ScalarExpr) -> ScalarExpr {
        b.add(s, d)
    }
    fn done(&self, _: &mut ScalarBuilder, centre: ScalarExpr, s: ScalarExpr, n: ScalarExpr) -> Vec<ScalarExpr> {
        vec![n, centre, s]
    }
}
