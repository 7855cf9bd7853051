//! The largest eigenvalues of a symmetric operator by the Lanczos method with full re-orthogonalisation and thick restart
//! (Wu & Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM J. Matrix Anal. Appl. 2000).
//!
//! `basis` holds the vectors, `jacobi` solves the small projected problem. One start vector sees one copy of a
//! multiple eigenvalue; so when all have converged, the search goes on from a new random vector orthogonal to them, until
//! that finds nothing larger.

mod basis;
mod jacobi;

use super::LinOp;
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::order::Affine;
use crate::scale::equal;
use basis::Basis;
use sapwood_skeleton::Exec;

/// Options of [`lanczos`].
#[derive(Debug, Clone, Copy)]
pub struct LanczosOptions<'a> {
    /// How many eigenvalues, at least 1.
    pub k: usize,
    /// A value has converged when ‖A·v − λ·v‖₂ ≤ tol·(the largest |λ| seen); finite and positive.
    pub tol: f64,
    /// Most products with the operator, at least 1.
    pub max_iter: u32,
    /// Vectors of the basis, at least k + 2, or 0: 2·k + 10, at least 24.
    pub basis: usize,
    /// Key of the random start.
    pub seed: u64,
    /// Vectors that the eigenvectors shall be orthogonal to, such as known eigenvectors. Of any length and angles.
    pub deflate: &'a [&'a [f64]],
}

impl Default for LanczosOptions<'_> {
    fn default() -> Self {
        LanczosOptions { k: 1, tol: 1e-8, max_iter: 10_000, basis: 0, seed: 0, deflate: &[] }
    }
}

/// Eigenvalues and how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanczos {
    /// The eigenvalues, descending, as often as they are multiple. Fewer than k only where `max_iter` is below k.
    pub values: Vec<f64>,
    /// Column j is the unit eigenvector of value j.
    pub vectors: Block<f64>,
    /// ‖A·v − λ·v‖₂ of each, computed anew (orthogonal to the deflated vectors only if those are eigenvectors).
    pub residuals: Vec<f64>,
    /// Products with the operator, those for the residuals not counted.
    pub iterations: u32,
    /// All k converged, and a second start found none that was missed.
    pub converged: bool,
}

/// The k algebraically largest eigenvalues of a symmetric operator, n × n, and their eigenvectors.
///
/// With `deflate`, those of (I − QQᵀ)A(I − QQᵀ) on what is orthogonal to the deflated vectors, where Q is an orthonormal
/// basis of them. Time O(iterations · (product + n·basis)), memory n · (basis + deflated) numbers. The result has the same
/// bits for any number of threads.
///
/// # Errors
/// [`Error::Shape`], [`Error::Length`], [`Error::Option`], [`Error::Element`] for input that does not fit, or where a
/// product is not finite; what the operator says; [`Error::Run`].
pub fn lanczos<A: LinOp<f64> + ?Sized>(exec: Exec<'_>, a: &A, options: &LanczosOptions<'_>) -> Result<Lanczos> {
    let (n, columns) = a.shape();
    equal("the columns of the operator of an eigenproblem", n, columns)?;
    let size = options.check(n)?.min(n);
    let width = options.deflate.len().min(n) + size + 1;
    let mut basis = Basis::new(exec, n, width, options.seed)?;
    let mut locked = 0;
    for vector in options.deflate {
        locked += usize::from(locked < n && basis.store_given(locked, vector)?);
    }
    if options.k > n - locked {
        let range = "at least 1 and at most the rows of the operator less the deflated vectors";
        return Err(Error::Option { name: "k", value: options.k as f64, range });
    }
    let size = size.min(n - locked);
    let projected = Projected { t: vec![0.0; size * size], size, filled: 0, next: 0.0, exact: false };
    let mut run = Run { a, options, n, locked, basis, projected, iterations: 0, top: 0.0 };
    let (found, converged) = run.search()?;
    run.finish(exec, found, converged)
}

impl LanczosOptions<'_> {
    /// Checks the options for n rows; gives the size of the basis.
    fn check(&self, n: usize) -> Result<usize> {
        let LanczosOptions { k, tol, max_iter, basis, deflate, .. } = *self;
        let option = |name, value, range| Err(Error::Option { name, value, range });
        if !(tol > 0.0 && tol.is_finite()) {
            return option("tol", tol, "positive and finite");
        }
        if max_iter == 0 {
            return option("max_iter", 0.0, "at least 1");
        }
        if k == 0 || k > n {
            return option("k", k as f64, "at least 1 and at most the rows of the operator");
        }
        if basis != 0 && basis < k + 2 {
            return option("basis", basis as f64, "0 or at least k + 2");
        }
        let array = "a deflated vector";
        for vector in deflate {
            if vector.len() != n {
                return Err(Error::Length { array, expected: n, found: vector.len() });
            }
            if let Some(index) = vector.iter().position(|x| !x.is_finite()) {
                return Err(Error::Element { array, index, value: vector[index], range: "finite" });
            }
        }
        Ok(if basis == 0 { (2 * k + 10).max(24) } else { basis })
    }
}

/// The operator in the basis: T = VᵀAV, and the rest A·V − V·T, which is next·(the vector behind the basis) in its last
/// column.
struct Projected {
    /// size × size, of which the leading filled × filled are in use.
    t: Vec<f64>,
    size: usize,
    filled: usize,
    next: f64,
    /// The basis spans an invariant space that no random vector leaves.
    exact: bool,
}

/// Eigenvalues of [`Projected`].
struct Ritz {
    values: Vec<f64>,
    /// filled × filled, one column each.
    vectors: Vec<f64>,
    /// ‖A·v − λ·v‖₂ of each.
    residuals: Vec<f64>,
}

impl Projected {
    fn ritz(&self) -> Ritz {
        let (size, filled) = (self.size, self.filled);
        let mut t: Vec<f64> = (0..filled).flat_map(|i| &self.t[i * size..][..filled]).copied().collect();
        let (values, vectors) = jacobi::eigen(&mut t, filled);
        let last = &vectors[filled * (filled - 1)..];
        let residuals = last.iter().map(|y| (self.next * y).abs()).collect();
        Ritz { values, vectors, residuals }
    }

    /// Starts again from `kept` Ritz vectors, coupled with the next vector, or not.
    fn restart(&mut self, ritz: &Ritz, kept: usize, coupled: bool) {
        let (size, filled) = (self.size, self.filled);
        self.t.fill(0.0);
        for i in 0..kept {
            self.t[i * size + i] = ritz.values[i];
            if coupled {
                let arrow = self.next * ritz.vectors[(filled - 1) * filled + i];
                (self.t[i * size + kept], self.t[kept * size + i]) = (arrow, arrow);
            }
        }
        self.filled = kept;
    }
}

/// A search for eigenvalues.
struct Run<'r, 'e, A: ?Sized> {
    a: &'r A,
    options: &'r LanczosOptions<'r>,
    n: usize,
    /// Deflated vectors.
    locked: usize,
    basis: Basis<'e>,
    projected: Projected,
    iterations: u32,
    /// The largest |λ| seen.
    top: f64,
}

impl<A: LinOp<f64> + ?Sized> Run<'_, '_, A> {
    /// Gives the last Ritz values and whether all that were asked for have converged.
    fn search(&mut self) -> Result<(Ritz, bool)> {
        let LanczosOptions { k, max_iter, .. } = *self.options;
        // What had converged before the start vector that is in use.
        let mut before: Option<Vec<f64>> = None;
        self.basis.store_random(self.locked)?;
        loop {
            self.expand()?;
            let ritz = self.projected.ritz();
            self.top = ritz.values.iter().fold(self.top, |t, v| t.max(v.abs()));
            let tol = self.options.tol * self.top;
            if self.projected.exact {
                return Ok((ritz, true));
            }
            // After a new start the next value must stand as well, if less firmly: it could rise above the others.
            let next =
                before.is_some() && !(ritz.residuals.get(k).is_some_and(|r| *r <= self.options.tol.sqrt() * self.top));
            let done = ritz.values.len() >= k && ritz.residuals[..k].iter().all(|r| *r <= tol) && !next;
            let same = |b: &Vec<f64>| b.iter().zip(&ritz.values).all(|(b, v)| (b - v).abs() <= tol);
            if (done && before.as_ref().is_some_and(same)) || self.iterations >= max_iter {
                let converged = done && before.as_ref().is_some_and(same);
                return Ok((ritz, converged));
            }
            if done {
                before = Some(ritz.values[..k].to_vec());
            }
            if !self.restart(&ritz, done)? {
                return Ok((self.projected.ritz(), true));
            }
        }
    }

    /// Extends the basis to its full size.
    fn expand(&mut self) -> Result<()> {
        // Below this, what is left of a product is rounding.
        let noise = 8.0 * f64::EPSILON * (self.n as f64).sqrt();
        let size = self.projected.size;
        for j in self.projected.filled..size {
            self.basis.multiply(self.a)?;
            self.iterations += 1;
            let at = self.locked + j;
            let (removed, norm) = self.basis.orthogonalise(at + 1)?;
            let p = &mut self.projected;
            p.t[j * size + j] = removed[at];
            p.filled = j + 1;
            p.next = norm;
            self.top = self.top.max(removed[at].abs()).max(norm);
            if at + 1 == self.n {
                (p.next, p.exact) = (0.0, true);
                return Ok(());
            }
            if norm <= noise * self.top {
                p.next = 0.0;
                p.exact = !self.basis.store_random(at + 1)?;
            } else {
                self.basis.store(at + 1, norm)?;
            }
            let p = &mut self.projected;
            if j + 1 < size {
                (p.t[j * size + j + 1], p.t[(j + 1) * size + j]) = (p.next, p.next);
            }
            if p.exact || self.iterations >= self.options.max_iter {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Keeps the wanted Ritz vectors and some more; or the wanted ones alone, with a new start vector. `false` if there is
    /// no such vector.
    fn restart(&mut self, ritz: &Ritz, anew: bool) -> Result<bool> {
        let (k, filled) = (self.options.k, self.projected.filled);
        let kept = if anew { k } else { (k + (filled - k) / 2).min(filled - 1) };
        self.basis.rotate(self.locked, filled, &ritz.vectors, kept)?;
        self.projected.restart(ritz, kept, !anew);
        Ok(!anew || self.basis.store_random(self.locked + kept)?)
    }

    fn finish(&self, exec: Exec<'_>, found: Ritz, converged: bool) -> Result<Lanczos> {
        let (k, filled) = (self.options.k.min(found.values.len()), self.projected.filled);
        let vectors = self.basis.combinations(self.locked, filled, &found.vectors, k)?;
        let mut product = Block::zeros(self.n, k)?;
        self.a.apply(exec, &vectors, &mut product, Affine::SET)?;
        let residual = |j: usize| {
            let square = |(p, v): (&[f64], &[f64])| (p[j] - found.values[j] * v[j]).powi(2);
            let rows = product.as_slice().chunks_exact(k).zip(vectors.as_slice().chunks_exact(k));
            rows.map(square).sum::<f64>().sqrt()
        };
        let residuals = (0..k).map(residual).collect();
        let values = found.values[..k].to_vec();
        Ok(Lanczos { values, vectors, residuals, iterations: self.iterations, converged })
    }
}
