//! Sum with a running correction: two numbers hold one sum, so that rounding errors are kept and added at the end
//! (TwoSum, Knuth, The Art of Computer Programming, volume 2, 4.2.2).

use super::{Empty, Params, ReduceOp};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Compare, Const, ScalarBuilder, ScalarExpr};

/// Σ x in twice the precision; `--accum compensated` puts it in the place of `sum`.
pub static COMPENSATED: Compensated = Compensated;

/// See [`COMPENSATED`].
#[derive(Debug)]
pub struct Compensated;

impl ReduceOp for Compensated {
    fn name(&self) -> &'static str {
        "compensated"
    }
    fn summary(&self) -> &'static str {
        "the sum, with the rounding errors kept beside it"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d.is_float()
    }
    fn parts(&self, x: Scalar, _: &Params) -> Vec<Scalar> {
        vec![x; 2]
    }
    fn identity(&self, x: Scalar, _: &Params) -> Vec<Const> {
        vec![Const::from_f64(-0.0, x); 2]
    }
    fn lift(&self, b: &mut ScalarBuilder, _: &Params, x: ScalarExpr, _: ScalarExpr) -> Vec<ScalarExpr> {
        vec![x, b.number(0.0, x)]
    }
    fn combine(&self, b: &mut ScalarBuilder, _: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        let high = b.add(l[0], r[0]);
        let r_seen = b.sub(high, l[0]);
        let l_seen = b.sub(high, r_seen);
        let (l_lost, r_lost) = (b.sub(l[0], l_seen), b.sub(r[0], r_seen));
        let lost = b.add(l_lost, r_lost);
        let low = b.add(l[1], r[1]);
        vec![high, b.add(low, lost)]
    }
    /// The correction is left out where it is 0, which keeps −0, and where the sum is not finite, which keeps ∞.
    fn finish(&self, b: &mut ScalarBuilder, _: &Params, a: &[ScalarExpr], _: ScalarExpr) -> Vec<ScalarExpr> {
        let zero = b.number(0.0, a[0]);
        let difference = b.sub(a[0], a[0]);
        let finite = b.compare(Compare::Eq, difference, zero);
        let whole = b.add(a[0], a[1]);
        let corrected = b.select(finite, whole, a[0]);
        let exact = b.compare(Compare::Eq, a[1], zero);
        vec![b.select(exact, a[0], corrected)]
    }
    fn empty(&self, d: Dtype, _: &Params) -> Empty {
        Empty::Values(vec![Const::from_f64(0.0, d.scalar())])
    }
    fn rounds(&self, _: Scalar) -> bool {
        true
    }
}
