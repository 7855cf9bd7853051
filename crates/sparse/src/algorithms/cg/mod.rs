//! Conjugate gradients (Hestenes & Stiefel 1952) for symmetric positive definite operators and many right-hand sides, with
//! an optional Jacobi preconditioner (Saad, *Iterative Methods for Sparse Linear Systems*, 2003, algorithm 9.1).
//!
//! Every column has its own step lengths and stops for itself; what it gets does not depend on its neighbours. Columns
//! are solved in panels of up to `WIDEST`, so that the vectors of a panel stay in the caches. `panel` holds the passes.

mod panel;

use super::LinOp;
use crate::dense::Block;
use crate::error::{Error, Result, reserve};
use crate::scale::equal;
use panel::{Panel, Storage, System};
use sapwood_skeleton::Exec;

/// Columns that are solved side by side.
const WIDEST: usize = 16;

/// Options of [`cg`].
#[derive(Debug, Clone, Copy)]
pub struct CgOptions<'a> {
    /// A column has converged when ‖r‖₂ ≤ tol·‖b‖₂; finite and positive.
    pub tol: f64,
    /// Most iterations of a column, at least 1.
    pub max_iter: u32,
    /// The diagonal of the operator, to precondition with: finite, not negative. A zero stands for 1, as an isolated node
    /// of a Laplacian needs.
    pub diagonal: Option<&'a [f64]>,
}

impl Default for CgOptions<'_> {
    fn default() -> Self {
        CgOptions { tol: 1e-10, max_iter: 10_000, diagonal: None }
    }
}

/// Why a column stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgStop {
    /// The residual came down to the tolerance.
    Converged,
    /// It did not within the most iterations.
    MaxIterations,
    /// pᵀAp ≤ 0 for a direction p: the operator is not positive definite there, or, for a semidefinite one, the right-hand
    /// side lies outside its range.
    NotPositiveDefinite,
    /// A number became infinite or NaN.
    NotFinite,
}

/// How one column went.
#[derive(Debug, Clone, PartialEq)]
pub struct CgColumn {
    /// Products with the operator that changed the solution.
    pub iterations: u32,
    /// ‖r‖₂/‖b‖₂ of the recurrence before the first iteration and after each.
    pub history: Vec<f64>,
    /// ‖b − A·x‖₂/‖b‖₂, computed anew from the solution; 0 where b = 0.
    pub residual: f64,
    /// Why it stopped.
    pub stop: CgStop,
}

/// Solutions and how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Cg {
    /// X with A·X ≈ B, n × k. A column that did not converge holds the last iterate.
    pub solution: Block<f64>,
    /// One for each of the k columns.
    pub columns: Vec<CgColumn>,
}

impl Cg {
    /// Whether every column converged.
    pub fn converged(&self) -> bool {
        self.columns.iter().all(|c| c.stop == CgStop::Converged)
    }
}

/// Solves A·X = B for a symmetric positive definite A, n × n, and B n × k, from X = 0.
///
/// A may be semidefinite if each column of B lies in its range: for the Laplacian of a graph, if the column sums to 0 on
/// each component. The solution then sums to 0 there too, but for rounding (with a preconditioner: weighted by the
/// diagonal). Time O(iterations · (product + n·k)), memory of 64 numbers a row beside B and X. The result has the same
/// bits for any number of threads, and column by column whatever else stands in B.
///
/// # Errors
/// [`Error::Shape`], [`Error::Length`], [`Error::Option`], [`Error::Element`] for input that does not fit; what the
/// operator says; [`Error::Run`].
pub fn cg<A: LinOp<f64> + ?Sized>(exec: Exec<'_>, a: &A, b: &Block<f64>, options: &CgOptions<'_>) -> Result<Cg> {
    options.check()?;
    let (n, columns) = a.shape();
    equal("the columns of the operator of a linear system", n, columns)?;
    equal("the rows of the right-hand sides", n, b.rows())?;
    let inverse = inverse_of(n, options.diagonal)?;
    let scales = scales(b)?;
    let system = System { exec, a, b, inverse: &inverse, scales: &scales };
    let mut result = Cg { solution: Block::zeros(n, b.cols())?, columns: Vec::new() };
    let mut storage = Storage::default();
    let mut first = 0;
    while first < b.cols() {
        // A panel is filled up with columns of zeros. Never one column alone: products add those in another order.
        let width = match b.cols() - first {
            ..=2 => Panel::<A, 2>::solve(&system, first, &mut storage, options, &mut result)?,
            3..=4 => Panel::<A, 4>::solve(&system, first, &mut storage, options, &mut result)?,
            5..=8 => Panel::<A, 8>::solve(&system, first, &mut storage, options, &mut result)?,
            _ => Panel::<A, WIDEST>::solve(&system, first, &mut storage, options, &mut result)?,
        };
        first += width;
    }
    Ok(result)
}

impl CgOptions<'_> {
    fn check(&self) -> Result<()> {
        let CgOptions { tol, max_iter, .. } = *self;
        if !(tol > 0.0 && tol.is_finite()) {
            return Err(Error::Option { name: "tol", value: tol, range: "positive and finite" });
        }
        if max_iter == 0 {
            return Err(Error::Option { name: "max_iter", value: 0.0, range: "at least 1" });
        }
        Ok(())
    }
}

/// 1/d of each element of the diagonal; empty if there is none.
fn inverse_of(n: usize, diagonal: Option<&[f64]>) -> Result<Vec<f64>> {
    let mut inverse = Vec::new();
    let Some(diagonal) = diagonal else { return Ok(inverse) };
    let array = "diagonal";
    if diagonal.len() != n {
        return Err(Error::Length { array, expected: n, found: diagonal.len() });
    }
    reserve(&mut inverse, n, "a preconditioner")?;
    for (index, &value) in diagonal.iter().enumerate() {
        // The inverse of a subnormal number may be infinite.
        let one = if value == 0.0 { 1.0 } else { value.recip() };
        if !(value.is_finite() && value >= 0.0 && one.is_finite()) {
            return Err(Error::Element { array, index, value, range: "finite and not negative" });
        }
        inverse.push(one);
    }
    Ok(inverse)
}

/// Per column, the power of two that brings its largest element to [1, 2): sums of squares can then neither overflow nor
/// vanish, and no bit changes. 1 for a column of zeros.
fn scales(b: &Block<f64>) -> Result<Vec<f64>> {
    let mut largest = vec![0.0f64; b.cols()];
    for (row, values) in b.as_slice().chunks_exact(b.cols().max(1)).enumerate() {
        let mut finite = true;
        for (l, &v) in largest.iter_mut().zip(values) {
            *l = l.max(v.abs());
            finite &= v.is_finite();
        }
        if let Some(at) = values.iter().position(|v| !finite && !v.is_finite()) {
            let index = row * b.cols() + at;
            return Err(Error::Element { array: "the right-hand sides", index, value: values[at], range: "finite" });
        }
    }
    let scale = |l: f64| match (l.to_bits() >> 52) & 0x7ff {
        _ if l == 0.0 => 1.0,
        exponent => f64::from_bits((2046 - exponent).max(1) << 52),
    };
    Ok(largest.into_iter().map(scale).collect())
}
