//! Maximum: NaN propagates (or is skipped), +0 is above −0.

use super::order::{better, neutral};
use super::{Atomic, Empty, Params, ReduceOp, least, least_of};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Binary, Const, ScalarBuilder, ScalarExpr};

/// The largest element.
pub static MAX: Max = Max;

/// See [`MAX`].
#[derive(Debug)]
pub struct Max;

impl ReduceOp for Max {
    fn name(&self) -> &'static str {
        "max"
    }
    fn summary(&self) -> &'static str {
        "the largest element"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d != Dtype::Bool
    }
    fn identity(&self, x: Scalar, p: &Params) -> Vec<Const> {
        vec![neutral(x, p, least(x))]
    }
    fn combine(&self, b: &mut ScalarBuilder, p: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        vec![better(b, p, Binary::Max, l[0], r[0])]
    }
    fn empty(&self, d: Dtype, _: &Params) -> Empty {
        Empty::Values(vec![least_of(d)])
    }
    fn idempotent(&self) -> bool {
        true
    }
    fn atomic(&self, d: Dtype) -> Option<Atomic> {
        matches!(d, Dtype::F32 | Dtype::I32 | Dtype::U32).then_some(Atomic::Max)
    }
}
