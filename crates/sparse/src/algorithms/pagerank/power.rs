//! Power iteration: one parallel pass a sweep gathers, updates and measures.

use super::options::{PageRankOptions, Vectors};
use super::sweep::{Measures, Sweep, ValueOf, start};
use super::{PageRank, fixed};
use crate::algorithms::Walk;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use sapwood_skeleton::Exec;

/// The factors of one sweep.
#[derive(Clone, Copy)]
struct Factors<'v> {
    v: &'v Vectors<'v>,
    alpha: f64,
    /// α · mass of the sinks.
    sunk: f64,
    /// What a unit of the sums is worth.
    unit: f64,
    /// Units of the next sums in 1.
    next: f64,
}

impl Factors<'_> {
    /// Row `i` gets the sum of its arcs in units: changes x, gives what others gather next.
    #[inline(always)]
    fn update<V: Scalar>(&self, i: usize, sum: i64, x: &mut f64, m: &mut Measures) -> u64 {
        let (v, old) = (self.v, *x);
        let out = v.out_weight[i];
        let mut gathered = sum as f64 * self.unit;
        if !v.own.is_empty() && out > 0.0 {
            gathered += v.own[i] * (old / out);
        }
        m.mass += gathered;
        let t = v.teleport.at(i);
        let sunk = self.sunk * v.dangling.as_ref().map_or(t, |d| d.at(i));
        *x = self.alpha.mul_add(gathered, (1.0 - self.alpha).mul_add(t, sunk));
        m.take::<V>(out, self.next, old, *x)
    }
}

/// Iterates from x = t.
pub(super) fn run<A: Walk>(
    exec: Exec<'_>,
    a: &A,
    v: &Vectors<'_>,
    options: &PageRankOptions<'_>,
    result: &mut PageRank,
) -> Result<()> {
    let mut sweep = Sweep::<Measures>::new(a.plan(), v.out_weight.len())?;
    let alpha = options.alpha;
    // All sums of the first sweep are at most 1.
    let mut units = fixed::units_for(1.0);
    let mut m = Measures::default();
    start::<ValueOf<A>>(v, &result.scores, units, &mut sweep.z, &mut m);
    m.delta = 2.0;
    while result.iterations < options.max_iter {
        // α·sum ≤ x afterwards ≤ the largest x + the change, and changes shrink by α a sweep.
        let bound = (m.largest + (alpha + alpha * alpha) * m.delta) / alpha;
        let next = fixed::units_for(bound.min(1.0));
        let sunk = m.sunk();
        let factors = Factors { v, alpha, sunk: alpha * sunk, unit: 1.0 / units, next };
        m = sweep.once(
            exec,
            a,
            &mut result.scores,
            #[inline(always)]
            |row, sum, x, m| factors.update::<ValueOf<A>>(row, sum, x, m),
        )?;
        // Arcs carry what the nodes that are no sinks had.
        let kept = (m.mass + sunk - 1.0).abs() <= 1e-6;
        if !kept {
            return Err(Error::OutWeight { found: m.mass, expected: 1.0 - sunk });
        }
        units = next;
        result.iterations += 1;
        result.residual = m.delta;
        if m.delta <= options.tol {
            break;
        }
    }
    Ok(())
}
