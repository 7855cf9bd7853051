//! And: whether all elements are true.

use super::{Atomic, Empty, Params, ReduceOp};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Const, ScalarBuilder, ScalarExpr};

/// Whether all elements are true.
pub(super) static ALL_OF: All = All;

/// See [`ALL_OF`].
#[derive(Debug)]
pub(super) struct All;

impl ReduceOp for All {
    fn name(&self) -> &'static str {
        "and"
    }
    fn summary(&self) -> &'static str {
        "whether all elements are true"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d == Dtype::Bool
    }
    fn identity(&self, _: Scalar, _: &Params) -> Vec<Const> {
        vec![Const::from(true)]
    }
    fn combine(&self, b: &mut ScalarBuilder, _: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        vec![b.and(l[0], r[0])]
    }
    fn empty(&self, _: Dtype, _: &Params) -> Empty {
        Empty::Values(vec![Const::from(true)])
    }
    fn idempotent(&self) -> bool {
        true
    }
    fn atomic(&self, _: Dtype) -> Option<Atomic> {
        Some(Atomic::And)
    }
}
