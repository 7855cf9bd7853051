//! Maximum and sum of exponentials relative to it, in one pass (Milakov & Gimelshein 2018).

use super::{Empty, Params, ReduceOp};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Binary, Compare, Const, ScalarBuilder, ScalarExpr, Unary};

/// m = max x and s = Σ exp(x − m).
pub(super) static ONLINE: Online = Online;

/// See [`ONLINE`].
#[derive(Debug)]
pub(super) struct Online;

/// exp(x − m), which is 1 where x is m bit for bit, so that infinities do not make NaN.
pub(crate) fn exp_below(b: &mut ScalarBuilder, x: ScalarExpr, m: ScalarExpr) -> ScalarExpr {
    let below = b.sub(x, m);
    let power = b.unary(Unary::Exp, below);
    let same = b.compare(Compare::Eq, x, m);
    let one = b.number(1.0, x);
    b.select(same, one, power)
}

impl ReduceOp for Online {
    fn name(&self) -> &'static str {
        "online"
    }
    fn summary(&self) -> &'static str {
        "the maximum m and the sum of exp(x - m), in one pass"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d.is_float()
    }
    fn parts(&self, x: Scalar, _: &Params) -> Vec<Scalar> {
        vec![x; 2]
    }
    fn outputs(&self, d: Dtype, _: &Params) -> Vec<Dtype> {
        vec![d; 2]
    }
    fn identity(&self, x: Scalar, _: &Params) -> Vec<Const> {
        vec![Const::from_f64(f64::NEG_INFINITY, x), Const::from_f64(0.0, x)]
    }
    fn lift(&self, b: &mut ScalarBuilder, _: &Params, x: ScalarExpr, _: ScalarExpr) -> Vec<ScalarExpr> {
        vec![x, b.number(1.0, x)]
    }
    fn combine(&self, b: &mut ScalarBuilder, _: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        let m = b.binary(Binary::Max, l[0], r[0]);
        let (el, er) = (exp_below(b, l[0], m), exp_below(b, r[0], m));
        let (sl, sr) = (b.mul(l[1], el), b.mul(r[1], er));
        vec![m, b.add(sl, sr)]
    }
    fn empty(&self, d: Dtype, p: &Params) -> Empty {
        Empty::Values(self.identity(d.scalar(), p))
    }
    fn rounds(&self, _: Scalar) -> bool {
        true
    }
}
