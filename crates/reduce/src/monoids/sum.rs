//! Sum: half precision adds in single precision, whole numbers wrap in their own width.

use super::{Atomic, Empty, Params, ReduceOp};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Const, ScalarBuilder, ScalarExpr};

/// Σ x.
pub static SUM: Sum = Sum;

/// See [`SUM`].
#[derive(Debug)]
pub struct Sum;

impl ReduceOp for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }
    fn summary(&self) -> &'static str {
        "the sum"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d != Dtype::Bool
    }
    /// −0 is what changes no float, not even −0.
    fn identity(&self, x: Scalar, _: &Params) -> Vec<Const> {
        vec![Const::from_f64(-0.0, x)]
    }
    fn combine(&self, b: &mut ScalarBuilder, _: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        vec![b.add(l[0], r[0])]
    }
    fn empty(&self, d: Dtype, _: &Params) -> Empty {
        Empty::Values(vec![Const::from_f64(0.0, d.scalar())])
    }
    fn atomic(&self, d: Dtype) -> Option<Atomic> {
        matches!(d, Dtype::F32 | Dtype::F64 | Dtype::I32 | Dtype::U32).then_some(Atomic::Add)
    }
    fn rounds(&self, x: Scalar) -> bool {
        x.is_float()
    }
}
