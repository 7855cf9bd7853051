//! PageRank (Page, Brin, Motwani, Winograd, "The PageRank citation ranking", 1999) with sinks, weights and any teleport.
//!
//! π is the fixed point of x ← α(Pᵀx + (Σ over sinks x)·d) + (1−α)·t, P = D⁻¹A. The sum over a row is taken in fixed point
//! (`fixed`): it is exact, so it has no order, and nodes that an automorphism of the graph exchanges get equal bits.

mod chebyshev;
mod fixed;
mod gauss_seidel;
mod options;
mod power;
mod sweep;

pub use options::{Method, PageRankOptions};

use super::Walk;
use crate::error::Result;
use crate::structure::Structure;
use options::Vectors;
use sapwood_skeleton::Exec;

/// Scores and how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRank {
    /// One score per node. They sum to 1: with the power iteration up to rounding, else up to the bound.
    pub scores: Vec<f64>,
    /// Sweeps over the matrix; 0 if α = 0, where the scores are the teleport.
    pub iterations: u32,
    /// ‖x_k − x_{k−1}‖₁ of the last sweep; Chebyshev: by how much a step of the power iteration would change the scores.
    pub residual: f64,
    /// α/(1−α)·residual, Chebyshev residual/(1−α): the scores differ from the true ones by no more than this in the 1-norm
    /// (beside rounding).
    pub error_bound: f64,
    /// The residual came down to the tolerance.
    pub converged: bool,
    /// Number of sinks: nodes that no arc leaves.
    pub dangling: u64,
}

/// PageRank of the graph whose arc j → i with weight w is the entry (i, j) = w of the square matrix `a`.
///
/// `out_weight[j]` is the sum of the weights of all arcs that leave j, a self-loop counted once; 0 makes j a sink.
/// `own[i]` is the weight of the self-loop of i where `a` does not store it; empty if there are none. Weights must be
/// finite and not negative. Time O(iterations · (entries + nodes)); memory of two vectors beside the scores, Chebyshev four.
/// The result has the same bits for any number of threads.
///
/// # Errors
/// [`crate::Error::Shape`], [`crate::Error::Option`], [`crate::Error::Element`], [`crate::Error::AllZero`] for input that
/// does not fit, [`crate::Error::OutWeight`] if `out_weight` does not belong to `a`; with [`Method::Chebyshev`]
/// [`crate::Error::Asymmetric`] and [`crate::Error::Dangling`]; [`crate::Error::Run`].
pub fn pagerank<A: Walk>(
    exec: Exec<'_>,
    a: &A,
    out_weight: &[f64],
    own: &[f64],
    options: &PageRankOptions<'_>,
) -> Result<PageRank> {
    options.check()?;
    let v = Vectors::new(exec, a.matrix().shape(), out_weight, own, options)?;
    a.plan().check(a.matrix().shape(), a.matrix().entries())?;
    fixed::check_values(exec, a)?;
    let mut result = PageRank {
        scores: v.start()?,
        iterations: 0,
        residual: 0.0,
        error_bound: 0.0,
        converged: true,
        dangling: out_weight.iter().filter(|&&w| w == 0.0).count() as u64,
    };
    if options.alpha > 0.0 && !out_weight.is_empty() {
        match options.method {
            Method::Power => power::run(exec, a, &v, options, &mut result)?,
            Method::GaussSeidel => gauss_seidel::run(exec, a, &v, options, &mut result)?,
            Method::Chebyshev => chebyshev::run(exec, a, &v, options, &mut result)?,
        }
        // The first two return the result of the step whose change is the residual.
        let steps = if options.method == Method::Chebyshev { 1.0 } else { options.alpha };
        result.error_bound = steps / (1.0 - options.alpha) * result.residual;
        result.converged = result.residual <= options.tol;
    }
    Ok(result)
}
