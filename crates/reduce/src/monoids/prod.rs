//! Product: half precision multiplies in single precision, whole numbers wrap in their own width.

use super::{Empty, Params, ReduceOp};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Const, ScalarBuilder, ScalarExpr};

/// Π x.
pub static PROD: Prod = Prod;

/// See [`PROD`].
#[derive(Debug)]
pub struct Prod;

impl ReduceOp for Prod {
    fn name(&self) -> &'static str {
        "prod"
    }
    fn summary(&self) -> &'static str {
        "the product"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d != Dtype::Bool
    }
    fn identity(&self, x: Scalar, _: &Params) -> Vec<Const> {
        vec![Const::from_f64(1.0, x)]
    }
    fn combine(&self, b: &mut ScalarBuilder, _: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        vec![b.mul(l[0], r[0])]
    }
    fn empty(&self, d: Dtype, _: &Params) -> Empty {
        Empty::Values(vec![Const::from_f64(1.0, d.scalar())])
    }
    fn rounds(&self, x: Scalar) -> bool {
        x.is_float()
    }
}
