//! What `argmax` and `argmin` share: a value and its index, and who wins.

use super::{Empty, NanPolicy, Params, ReduceOp};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Compare, Const, ScalarBuilder, ScalarExpr};

/// Index of the element that wins by `better`; of equal ones (±0 are equal) the first, or with `last` the last.
#[derive(Debug)]
pub(crate) struct Arg {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// True where the first operand wins.
    pub(super) better: Compare,
    /// What loses to everything.
    pub(super) worst: fn(Scalar) -> Const,
}

impl ReduceOp for Arg {
    fn name(&self) -> &'static str {
        self.name
    }
    fn summary(&self) -> &'static str {
        self.summary
    }
    fn accepts(&self, d: Dtype) -> bool {
        d != Dtype::Bool
    }
    fn parts(&self, x: Scalar, _: &Params) -> Vec<Scalar> {
        vec![x, Scalar::I64]
    }
    fn outputs(&self, _: Dtype, _: &Params) -> Vec<Dtype> {
        vec![Dtype::I64]
    }
    fn identity(&self, x: Scalar, p: &Params) -> Vec<Const> {
        let worst =
            if p.nan == NanPolicy::Ignore && x.is_float() { Const::from_f64(f64::NAN, x) } else { (self.worst)(x) };
        vec![worst, Const::from(if p.last { -1 } else { i64::MAX })]
    }
    fn lift(&self, _: &mut ScalarBuilder, _: &Params, x: ScalarExpr, index: ScalarExpr) -> Vec<ScalarExpr> {
        vec![x, index]
    }
    fn combine(&self, b: &mut ScalarBuilder, p: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        let wins = b.compare(self.better, r[0], l[0]);
        let equal = b.compare(Compare::Eq, r[0], l[0]);
        let (wins, equal) = if b.kind(l[0]).is_float() {
            let (l_nan, r_nan) = (b.is_nan(l[0]), b.is_nan(r[0]));
            // NaN wins, or with `Ignore` loses, against a number; two NaN are equal.
            let (strong, weak) = if p.nan == NanPolicy::Propagate { (r_nan, l_nan) } else { (l_nan, r_nan) };
            let against_number = b.compare(Compare::Gt, strong, weak);
            let both = b.and(l_nan, r_nan);
            (b.or(wins, against_number), b.or(equal, both))
        } else {
            (wins, equal)
        };
        let nearer = b.compare(if p.last { Compare::Gt } else { Compare::Lt }, r[1], l[1]);
        let tie = b.and(equal, nearer);
        let take = b.or(wins, tie);
        vec![b.select(take, r[0], l[0]), b.select(take, r[1], l[1])]
    }
    fn finish(&self, _: &mut ScalarBuilder, _: &Params, a: &[ScalarExpr], _: ScalarExpr) -> Vec<ScalarExpr> {
        vec![a[1]]
    }
    fn empty(&self, _: Dtype, _: &Params) -> Empty {
        Empty::Error
    }
    fn idempotent(&self) -> bool {
        true
    }
}
