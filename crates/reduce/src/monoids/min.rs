//! Minimum: NaN propagates (or is skipped), −0 is below +0.

use super::order::{better, neutral};
use super::{Atomic, Empty, Params, ReduceOp, greatest, greatest_of};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Binary, Const, ScalarBuilder, ScalarExpr};

/// The smallest element.
pub static MIN: Min = Min;

/// See [`MIN`].
#[derive(Debug)]
pub struct Min;

impl ReduceOp for Min {
    fn name(&self) -> &'static str {
        "min"
    }
    fn summary(&self) -> &'static str {
        "the smallest element"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d != Dtype::Bool
    }
    fn identity(&self, x: Scalar, p: &Params) -> Vec<Const> {
        vec![neutral(x, p, greatest(x))]
    }
    fn combine(&self, b: &mut ScalarBuilder, p: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        vec![better(b, p, Binary::Min, l[0], r[0])]
    }
    fn empty(&self, d: Dtype, _: &Params) -> Empty {
        Empty::Values(vec![greatest_of(d)])
    }
    fn idempotent(&self) -> bool {
        true
    }
    fn atomic(&self, d: Dtype) -> Option<Atomic> {
        matches!(d, Dtype::F32 | Dtype::I32 | Dtype::U32).then_some(Atomic::Min)
    }
}
