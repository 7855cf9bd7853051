//! Chebyshev semi-iteration (Golub, Varga, "Chebyshev semi-iterative methods", Numerische Mathematik 3, 1961) for symmetric
//! graphs.
//!
//! With A = Aᵀ and M = αPᵀ = αAD⁻¹, D^(−½)·M·D^(½) is symmetric: the eigenvalues of M are real and lie in [−α, α]. Sinks are
//! isolated, and their mass goes where restarts go, so π = y/Σy with (I − M)y = b = (1−α)·t: no rank-one term.
//! The iteration, from y₀ = t, y₁ = b + My₀:
//!
//! - y_{k+1} = ω_{k+1}(b + My_k − y_{k−1}) + y_{k−1}, ω₁ = 1, ω₂ = 1/(1 − α²/2), ω_{k+1} = 1/(1 − α²ω_k/4);
//! - so r_k = b + My_k − y_k, found on the way to y_{k+1}, is T_k(M/α)/T_k(1/α)·r₀ with the polynomials T_k of Chebyshev:
//!   ‖r_k‖₁ ≤ (1 + √(Σd/min d))·‖r₀‖₁/T_k(1/α), d being the weights of nodes that are no sinks. A run that exceeds this is
//!   on no symmetric graph and ends;
//! - the power iteration changes x = y/s, s = Σy, by (r − t·Σr)/s: this is the residual that is reported, and
//!   ‖x − π‖₁ ≤ residual/(1−α), as ‖αPᵀ + α·t·(sinks)ᵀ‖₁ = α;
//! - ‖M‖₁ ≤ α and r_k = ω_k(Mr_{k−1} − r_{k−2}) + r_{k−2} bound the sums of the next sweep before it is made.

use super::options::{PageRankOptions, Spread, Vectors};
use super::sweep::{Merge, Sweep, ValueOf, zeros};
use super::{PageRank, fixed};
use crate::algorithms::Walk;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::structure::{Structure, WorkRange};
use sapwood_skeleton::{ChunkPlan, Exec};

/// Residuals below this may be rounding, which need not shrink.
const ROUNDING: f64 = 1e-12;

/// Iterates from y = t.
pub(super) fn run<A: Walk>(
    exec: Exec<'_>,
    a: &A,
    v: &Vectors<'_>,
    options: &PageRankOptions<'_>,
    result: &mut PageRank,
) -> Result<()> {
    check(exec, a, v)?;
    let (alpha, n) = (options.alpha, v.out_weight.len());
    let mut sweep = Sweep::<Sums>::new(a.plan(), n)?;
    let (mut inverse, mut other): (Vec<f64>, Vec<f64>) = (zeros(n)?, zeros(n)?);
    let mut course = Course::new(alpha, v);
    // |Σ| ≤ ‖y‖₁ = 1.
    let mut units = fixed::units_for(1.0);
    for (((inverse, z), &y), &out) in inverse.iter_mut().zip(&mut sweep.z).zip(&result.scores).zip(v.out_weight) {
        *inverse = if out > 0.0 { 1.0 / out } else { 0.0 };
        *z = fixed::encode::<ValueOf<A>>(y * *inverse * units);
    }
    loop {
        let next = fixed::units_for(course.sums_after());
        let step =
            Step { v, inverse: &inverse, y: &result.scores, alpha, omega: course.omega, unit: 1.0 / units, next };
        let m = sweep.once(
            exec,
            a,
            &mut other,
            #[inline(always)]
            |row, sum, y, m| step.update::<ValueOf<A>>(row, sum, y, m),
        )?;
        if (m.mass - (m.all - m.sunk)).abs() > 1e-6 * m.all.abs() {
            return Err(Error::OutWeight { found: m.mass, expected: m.all - m.sunk });
        }
        units = next;
        result.iterations += 1;
        let contracts = course.take(&m);
        result.residual = m.residual_of_scores(alpha);
        if result.iterations == 1 {
            course.first = result.residual;
        }
        if result.residual <= options.tol || !contracts || result.iterations == options.max_iter {
            finish(v, alpha, m.all, course.first, result);
            return Ok(());
        }
        std::mem::swap(&mut result.scores, &mut other);
    }
}

/// The scores become those of y, of sum `all`, or the teleport with its residual if that is no larger.
fn finish(v: &Vectors<'_>, alpha: f64, all: f64, first: f64, result: &mut PageRank) {
    let better = result.residual < first || result.iterations == 1;
    if !better {
        result.residual = first;
    }
    for (i, x) in result.scores.iter_mut().enumerate() {
        let t = v.teleport.at(i);
        // π ≥ (1−α)·t: this brings no score further from the true one.
        *x = if better { (*x / all).max((1.0 - alpha) * t) } else { t };
    }
}

/// What a symmetric graph needs: the weights into each node sum to those out of it; sinks follow the teleport.
fn check<A: Walk>(exec: Exec<'_>, a: &A, v: &Vectors<'_>) -> Result<()> {
    let n = v.out_weight.len();
    let same = |d: &Spread| (0..n).all(|i| d.at(i) == v.teleport.at(i));
    if !v.dangling.as_ref().is_none_or(same) {
        return Err(Error::Dangling);
    }
    exec.for_chunks(&ChunkPlan::of(n, 1024).dynamic(), |worker, _, rows| {
        let mut fault = None;
        let mut node_done = |node: usize, stored: f64| {
            let incoming = stored + v.own.get(node).unwrap_or(&0.0);
            let outgoing = v.out_weight[node];
            let equal = (incoming - outgoing).abs() <= 1e-9 * outgoing;
            if fault.is_none() && !equal {
                fault = Some(Error::Asymmetric { node, incoming, outgoing });
            }
        };
        if ValueOf::<A>::PATTERN {
            rows.for_each(|i| node_done(i, a.matrix().row_len(i) as f64));
        } else {
            let mut sum = 0.0;
            a.matrix().segments(WorkRange::rows(rows), worker.arena(), |segment| {
                sum += segment.values.iter().map(|v| v.to::<f64>()).sum::<f64>();
                if segment.ends_row {
                    node_done(segment.row, std::mem::take(&mut sum));
                }
            });
        }
        fault.map_or(Ok(()), |e| Err(sapwood_skeleton::Error::other(e)))
    })?;
    Ok(())
}

/// What a sweep measures on its way from y_k to y_{k+1}.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// Σ |r_k|.
    residual: f64,
    /// Mass that came along arcs.
    mass: f64,
    /// Σ y_k.
    all: f64,
    /// Σ of y_k over sinks.
    sunk: f64,
    /// The largest |sum| over stored entries.
    largest: f64,
}

impl Merge for Sums {
    fn merge(&mut self, other: Sums) {
        self.residual += other.residual;
        self.mass += other.mass;
        self.all += other.all;
        self.sunk += other.sunk;
        self.largest = self.largest.max(other.largest);
    }
}

impl Sums {
    /// A bound on ‖r − t·Σr‖₁/s; infinite if s is not positive.
    fn residual_of_scores(&self, alpha: f64) -> f64 {
        let sum = alpha.mul_add(self.mass, 1.0 - alpha) - self.all;
        if self.all > 0.0 { (self.residual + sum.abs()) / self.all } else { f64::INFINITY }
    }
}

/// One sweep.
struct Step<'a> {
    v: &'a Vectors<'a>,
    /// 1/`out_weight`, 0 for sinks.
    inverse: &'a [f64],
    /// y_k.
    y: &'a [f64],
    alpha: f64,
    omega: f64,
    /// What a unit of the sums is worth.
    unit: f64,
    /// Units of the next sums in 1.
    next: f64,
}

impl Step<'_> {
    /// `y` goes from y_{k−1} to y_{k+1} in row `i`. Gives what others gather of it.
    #[inline(always)]
    fn update<V: Scalar>(&self, i: usize, sum: i64, y: &mut f64, m: &mut Sums) -> u64 {
        let (now, inverse, before) = (self.y[i], self.inverse[i], *y);
        let stored = sum as f64 * self.unit;
        let mut gathered = stored;
        if !self.v.own.is_empty() {
            gathered += self.v.own[i] * (now * inverse);
        }
        let moved = self.alpha.mul_add(gathered, (1.0 - self.alpha) * self.v.teleport.at(i));
        m.residual += (moved - now).abs();
        m.mass += gathered;
        m.all += now;
        m.sunk += if inverse == 0.0 { now } else { 0.0 };
        m.largest = m.largest.max(stored.abs());
        *y = self.omega.mul_add(moved - before, before);
        fixed::encode::<V>(*y * inverse * self.next)
    }
}

/// What is known of a run before its next sweep, the one to y_{k+1}.
struct Course {
    alpha: f64,
    /// ω_{k+1}.
    omega: f64,
    /// 1 + √(Σd/min d).
    spread: f64,
    /// 1/T_k(1/α).
    shrink: f64,
    /// A bound on ‖r_k‖₁, and ‖r_{k−1}‖₁ as measured.
    residual: f64,
    residual_before: f64,
    /// ‖r₀‖₁, once it is known.
    start: Option<f64>,
    /// Residual of the teleport as scores.
    first: f64,
    /// Bounds on ‖y_k − y_{k−1}‖₁, and on all |sums| of y_k.
    change: f64,
    sums: f64,
}

impl Course {
    fn new(alpha: f64, v: &Vectors<'_>) -> Course {
        let out = || v.out_weight.iter().filter(|&&w| w > 0.0);
        let least = out().fold(f64::INFINITY, |a, &b| a.min(b));
        // Divided first: huge weights do not overflow.
        let spread = 1.0 + out().map(|w| w / least).sum::<f64>().sqrt();
        Course {
            alpha,
            omega: 1.0,
            spread,
            shrink: 1.0,
            residual: 2.0 * alpha,
            residual_before: 0.0,
            start: None,
            first: 0.0,
            change: 0.0,
            sums: 1.0,
        }
    }

    /// ‖y_{k+1} − y_k‖₁ ≤ this, as y_{k+1} − y_k = ωr_k + (ω−1)(y_k − y_{k−1}).
    fn change_after(&self) -> f64 {
        self.omega * self.residual + (self.omega - 1.0) * self.change
    }

    /// All |sums| of y_{k+1} are at most this.
    fn sums_after(&self) -> f64 {
        self.sums + self.change_after()
    }

    /// Takes what the sweep to y_{k+1} measured and goes on to the next; whether that is possible on a symmetric graph.
    fn take(&mut self, m: &Sums) -> bool {
        let (square, omega) = (self.alpha * self.alpha, self.omega);
        // T_{k+1} = 2T_k/(αω_{k+1}), but for k = 0.
        let (shrink, doubled) = if self.start.is_none() { (1.0, 2.0) } else { (omega / 2.0, omega) };
        let start = *self.start.get_or_insert(m.residual);
        let allowed = 2.0 * self.spread * start * self.shrink;
        // Sums beyond what was made room for are none of a graph whose weights are `out_weight`.
        let fits = m.largest <= 1.001 * self.sums;
        self.residual = m.residual;
        self.change = self.change_after();
        // Sums of y_k are known now, those of y_{k+1} are as far off as it changed.
        self.sums = m.largest + self.change;
        self.shrink *= self.alpha * shrink;
        self.residual = omega * self.alpha * m.residual + (omega - 1.0) * self.residual_before;
        self.residual_before = m.residual;
        self.omega = 1.0 / (1.0 - square * doubled / 4.0);
        fits && m.residual <= allowed.max(ROUNDING)
    }
}
