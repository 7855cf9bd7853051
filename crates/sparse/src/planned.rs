//! A matrix with its work plan, and the same behind a pointer: what registries, tests and the boundary to other
//! languages hold. Kernels and formats know nothing of it.

use crate::dense::Block;
use crate::error::Result;
use crate::kernels::spmm::spmm_at;
use crate::kernels::spmm_t::spmm_transposed_at;
use crate::order::Affine;
use crate::plan::WorkPlan;
use crate::scalar::{Real, Scalar};
use crate::scale::Scale;
use crate::structure::{Bytes, Structure};
use sapwood_skeleton::Exec;
use sapwood_skeleton::isa::Level;

/// A matrix of any format and the plan of its work.
#[derive(Debug, Clone)]
pub struct Planned<S> {
    matrix: S,
    plan: WorkPlan,
}

impl<S: Structure> Planned<S> {
    /// Plans the work of `matrix`.
    pub fn new(matrix: S) -> Planned<S> {
        let plan = WorkPlan::new(&matrix);
        Planned { matrix, plan }
    }

    /// The matrix.
    pub fn matrix(&self) -> &S {
        &self.matrix
    }

    /// The plan.
    pub fn plan(&self) -> &WorkPlan {
        &self.plan
    }
}

/// Products with operands of type `T`.
pub trait Apply<T: Real> {
    /// [`crate::spmm`] at an instruction-set level.
    ///
    /// # Errors
    /// As [`crate::spmm`].
    fn apply(
        &self,
        level: Level,
        exec: Exec<'_>,
        scale: Option<Scale<'_, T>>,
        x: &Block<T>,
        y: &mut Block<T>,
        how: Affine<T>,
    ) -> Result<()>;

    /// [`crate::spmm_transposed`] at an instruction-set level.
    ///
    /// # Errors
    /// As [`crate::spmm_transposed`].
    fn apply_transposed(
        &self,
        level: Level,
        exec: Exec<'_>,
        scale: Option<Scale<'_, T>>,
        x: &Block<T>,
        y: &mut Block<T>,
        how: Affine<T>,
    ) -> Result<()>;
}

/// A matrix of any format and number types.
pub trait Multiply: Apply<f32> + Apply<f64> {
    /// (rows, columns).
    fn shape(&self) -> (usize, usize);
    /// Stored entries.
    fn entries(&self) -> usize;
    /// Storage.
    fn bytes(&self) -> Bytes;
    /// Name of the value type.
    fn value(&self) -> &'static str;
}

impl<S: Structure, T: Real> Apply<T> for Planned<S> {
    fn apply(
        &self,
        level: Level,
        exec: Exec<'_>,
        scale: Option<Scale<'_, T>>,
        x: &Block<T>,
        y: &mut Block<T>,
        how: Affine<T>,
    ) -> Result<()> {
        spmm_at(level, exec, &self.matrix, &self.plan, scale, x, y, how)
    }

    fn apply_transposed(
        &self,
        level: Level,
        exec: Exec<'_>,
        scale: Option<Scale<'_, T>>,
        x: &Block<T>,
        y: &mut Block<T>,
        how: Affine<T>,
    ) -> Result<()> {
        spmm_transposed_at(level, exec, &self.matrix, scale, x, y, how)
    }
}

impl<S: Structure> Multiply for Planned<S> {
    fn shape(&self) -> (usize, usize) {
        self.matrix.shape()
    }

    fn entries(&self) -> usize {
        self.matrix.entries()
    }

    fn bytes(&self) -> Bytes {
        self.matrix.bytes()
    }

    fn value(&self) -> &'static str {
        S::Value::NAME
    }
}
