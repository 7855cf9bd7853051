//! What iterative methods ask of a matrix: to be multiplied by, or to list its rows. Formats appear as type parameters
//! only.

use crate::dense::Block;
use crate::error::Result;
use crate::kernels::spmm::spmm;
use crate::kernels::spmm_t::spmm_transposed;
use crate::order::Affine;
use crate::plan::WorkPlan;
use crate::planned::Planned;
use crate::scalar::Real;
use crate::scale::Scale;
use crate::structure::Structure;
use sapwood_skeleton::Exec;

/// A linear operator on dense blocks with elements of `T`.
pub trait LinOp<T: Real>: Sync {
    /// (rows, columns).
    fn shape(&self) -> (usize, usize);

    /// Y = α·(A·X) + β·Y.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] if the operands do not fit; what the executor says.
    fn apply(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>, how: Affine<T>) -> Result<()>;
}

/// A linear operator that knows its transpose.
pub trait Transposed<T: Real>: LinOp<T> {
    /// Y = α·(Aᵀ·X) + β·Y.
    ///
    /// # Errors
    /// As [`LinOp::apply`].
    fn apply_transposed(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>, how: Affine<T>) -> Result<()>;
}

/// A matrix whose rows can be walked in the items of a work plan.
pub trait Walk: Sync {
    /// Its format.
    type Matrix: Structure;
    /// The matrix.
    fn matrix(&self) -> &Self::Matrix;
    /// The plan, made for that matrix.
    fn plan(&self) -> &WorkPlan;
}

impl<S: Structure> Walk for Planned<S> {
    type Matrix = S;

    fn matrix(&self) -> &S {
        Planned::matrix(self)
    }

    fn plan(&self) -> &WorkPlan {
        Planned::plan(self)
    }
}

impl<S: Structure, T: Real> LinOp<T> for Planned<S> {
    fn shape(&self) -> (usize, usize) {
        self.matrix().shape()
    }

    fn apply(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>, how: Affine<T>) -> Result<()> {
        spmm(exec, self.matrix(), self.plan(), None, x, y, how)
    }
}

impl<S: Structure, T: Real> Transposed<T> for Planned<S> {
    fn apply_transposed(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>, how: Affine<T>) -> Result<()> {
        spmm_transposed(exec, self.matrix(), None, x, y, how)
    }
}

/// A borrowed matrix with its plan.
#[derive(Debug)]
pub struct Borrowed<'a, S> {
    /// The matrix.
    pub matrix: &'a S,
    /// Its plan.
    pub plan: &'a WorkPlan,
}

impl<S> Clone for Borrowed<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Borrowed<'_, S> {}

impl<S: Structure> Walk for Borrowed<'_, S> {
    type Matrix = S;

    fn matrix(&self) -> &S {
        self.matrix
    }

    fn plan(&self) -> &WorkPlan {
        self.plan
    }
}

impl<S: Structure, T: Real> LinOp<T> for Borrowed<'_, S> {
    fn shape(&self) -> (usize, usize) {
        self.matrix.shape()
    }

    fn apply(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>, how: Affine<T>) -> Result<()> {
        spmm(exec, self.matrix, self.plan, None, x, y, how)
    }
}

impl<S: Structure, T: Real> Transposed<T> for Borrowed<'_, S> {
    fn apply_transposed(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>, how: Affine<T>) -> Result<()> {
        spmm_transposed(exec, self.matrix, None, x, y, how)
    }
}

/// Â = diag(s) + diag(l)·A·diag(r) of a borrowed matrix; never built.
#[derive(Debug)]
pub struct Scaled<'a, S, T> {
    /// A.
    pub matrix: &'a S,
    /// Its plan.
    pub plan: &'a WorkPlan,
    /// (s, l, r).
    pub scale: Scale<'a, T>,
}

impl<S: Structure, T: Real> LinOp<T> for Scaled<'_, S, T> {
    fn shape(&self) -> (usize, usize) {
        self.matrix.shape()
    }

    fn apply(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>, how: Affine<T>) -> Result<()> {
        spmm(exec, self.matrix, self.plan, Some(self.scale), x, y, how)
    }
}

impl<S: Structure, T: Real> Transposed<T> for Scaled<'_, S, T> {
    fn apply_transposed(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>, how: Affine<T>) -> Result<()> {
        spmm_transposed(exec, self.matrix, Some(self.scale), x, y, how)
    }
}
