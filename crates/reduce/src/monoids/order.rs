//! What `max` and `min` share: the better of two, under either rule for NaN.

use super::{NanPolicy, Params};
use crate::dtype::Scalar;
use crate::scalar::{Binary, Const, ScalarBuilder, ScalarExpr};

/// The better of two by `op` ([`Binary::Max`] or [`Binary::Min`]), which lets NaN through; with [`NanPolicy::Ignore`] a
/// number is better than NaN.
pub(super) fn better(b: &mut ScalarBuilder, p: &Params, op: Binary, l: ScalarExpr, r: ScalarExpr) -> ScalarExpr {
    let either = b.binary(op, l, r);
    if p.nan == NanPolicy::Propagate || !b.kind(l).is_float() {
        return either;
    }
    let (l_nan, r_nan) = (b.is_nan(l), b.is_nan(r));
    let unless_r = b.select(r_nan, l, either);
    b.select(l_nan, r, unless_r)
}

/// What changes no other value: `worst`, or NaN where NaN is skipped.
pub(super) fn neutral(x: Scalar, p: &Params, worst: Const) -> Const {
    if p.nan == NanPolicy::Ignore && x.is_float() { Const::from_f64(f64::NAN, x) } else { worst }
}
