//! Or: whether any element is true.

use super::{Atomic, Empty, Params, ReduceOp};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Const, ScalarBuilder, ScalarExpr};

/// Whether any element is true.
pub(super) static ANY_OF: Any = Any;

/// See [`ANY_OF`].
#[derive(Debug)]
pub(super) struct Any;

impl ReduceOp for Any {
    fn name(&self) -> &'static str {
        "or"
    }
    fn summary(&self) -> &'static str {
        "whether any element is true"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d == Dtype::Bool
    }
    fn identity(&self, _: Scalar, _: &Params) -> Vec<Const> {
        vec![Const::from(false)]
    }
    fn combine(&self, b: &mut ScalarBuilder, _: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        vec![b.or(l[0], r[0])]
    }
    fn empty(&self, _: Dtype, _: &Params) -> Empty {
        Empty::Values(vec![Const::from(false)])
    }
    fn idempotent(&self) -> bool {
        true
    }
    fn atomic(&self, _: Dtype) -> Option<Atomic> {
        Some(Atomic::Or)
    }
}
