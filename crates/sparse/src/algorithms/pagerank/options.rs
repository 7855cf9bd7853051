//! What a caller may choose, checked, and the vectors of one run.

use crate::error::{Error, Result, reserve};
use crate::scale::equal;
use sapwood_skeleton::Exec;
use sapwood_skeleton::monoid::Sum;

/// How to iterate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Power iteration: symmetric nodes keep equal bits.
    #[default]
    Power,
    /// Gauss-Seidel inside fixed blocks of 4096 rows, Jacobi between them: fewer sweeps, no law of ties.
    GaussSeidel,
    /// Chebyshev semi-iteration, for symmetric graphs: fewest sweeps, symmetric nodes keep equal bits.
    Chebyshev,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 3] = [Method::Power, Method::GaussSeidel, Method::Chebyshev];

    /// Its name as text.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Power => "power",
            Method::GaussSeidel => "gauss-seidel",
            Method::Chebyshev => "chebyshev",
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Method> {
        let found = Method::ALL.into_iter().find(|m| m.name() == name);
        found.ok_or_else(|| Error::unknown("method of PageRank", name, Method::ALL.map(Method::name)))
    }
}

/// Options of [`super::pagerank`].
#[derive(Debug, Clone, Copy)]
pub struct PageRankOptions<'a> {
    /// Chance to follow an arc, 0 ≤ α < 1.
    pub alpha: f64,
    /// Stop when a step of the power iteration changes the scores by at most this in the 1-norm; finite and positive.
    pub tol: f64,
    /// Most sweeps, at least 1.
    pub max_iter: u32,
    /// How to iterate.
    pub method: Method,
    /// Where restarts go, one weight per node, rescaled to sum 1; `None`: uniform.
    pub teleport: Option<&'a [f64]>,
    /// Where the mass of sinks goes, likewise; `None`: as the teleport.
    pub dangling: Option<&'a [f64]>,
}

impl Default for PageRankOptions<'_> {
    fn default() -> Self {
        PageRankOptions {
            alpha: 0.85,
            tol: 1e-10,
            max_iter: 1000,
            method: Method::Power,
            teleport: None,
            dangling: None,
        }
    }
}

impl PageRankOptions<'_> {
    pub(super) fn check(&self) -> Result<()> {
        let PageRankOptions { alpha, tol, .. } = *self;
        if !(0.0..1.0).contains(&alpha) {
            return Err(Error::Option { name: "alpha", value: alpha, range: "at least 0 and below 1" });
        }
        if !(tol > 0.0 && tol.is_finite()) {
            return Err(Error::Option { name: "tol", value: tol, range: "positive and finite" });
        }
        if self.max_iter == 0 {
            return Err(Error::Option { name: "max_iter", value: 0.0, range: "at least 1" });
        }
        Ok(())
    }
}

/// The checked vectors of a run over n nodes.
pub(super) struct Vectors<'a> {
    pub(super) out_weight: &'a [f64],
    /// Weights of self-loops, or empty.
    pub(super) own: &'a [f64],
    pub(super) teleport: Spread,
    /// Where the mass of sinks goes; `None`: as the teleport.
    pub(super) dangling: Option<Spread>,
}

/// A distribution over the nodes.
pub(super) enum Spread {
    /// 1/n each.
    Uniform(f64),
    /// One share per node.
    Shares(Vec<f64>),
}

impl Spread {
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> f64 {
        match self {
            Spread::Uniform(share) => *share,
            Spread::Shares(shares) => shares[i],
        }
    }

    /// `weights` rescaled to sum 1.
    fn new(exec: Exec<'_>, array: &'static str, n: usize, weights: Option<&[f64]>) -> Result<Spread> {
        let Some(weights) = weights else { return Ok(Spread::Uniform(1.0 / n as f64)) };
        weights_of(array, n, weights)?;
        // The largest weight goes first, so that sums of huge or tiny ones neither overflow nor vanish.
        let largest = weights.iter().fold(0.0, |a: f64, &b| a.max(b));
        if n > 0 && largest == 0.0 {
            return Err(Error::AllZero { array });
        }
        let sum = exec.reduce(n, &Sum::<f64>::new(), |i| weights[i] / largest)?;
        let mut shares = Vec::new();
        exec.fill(&mut shares, n, |i| weights[i] / largest / sum)?;
        Ok(Spread::Shares(shares))
    }
}

/// Checks a list of `n` finite weights that are not negative.
fn weights_of(array: &'static str, n: usize, weights: &[f64]) -> Result<()> {
    if weights.len() != n {
        return Err(Error::Length { array, expected: n, found: weights.len() });
    }
    match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        Some(index) => Err(Error::Element { array, index, value: weights[index], range: "finite and not negative" }),
        None => Ok(()),
    }
}

impl<'a> Vectors<'a> {
    pub(super) fn new(
        exec: Exec<'_>,
        (rows, cols): (usize, usize),
        out_weight: &'a [f64],
        own: &'a [f64],
        options: &PageRankOptions<'_>,
    ) -> Result<Vectors<'a>> {
        equal("the columns of the matrix of a graph", rows, cols)?;
        weights_of("out_weight", rows, out_weight)?;
        if !own.is_empty() {
            weights_of("own", rows, own)?;
        }
        let teleport = Spread::new(exec, "teleport", rows, options.teleport)?;
        let dangling = match options.dangling {
            Some(weights) => Some(Spread::new(exec, "dangling", rows, Some(weights))?),
            None => None,
        };
        Ok(Vectors { out_weight, own, teleport, dangling })
    }

    /// x₀ = t.
    pub(super) fn start(&self) -> Result<Vec<f64>> {
        let n = self.out_weight.len();
        let mut x = Vec::new();
        reserve(&mut x, n, "the scores")?;
        x.extend((0..n).map(|i| self.teleport.at(i)));
        Ok(x)
    }
}
