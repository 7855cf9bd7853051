//! Power iteration: one parallel pass a sweep gathers, updates and measures.

use super::options::{PageRankOptions, Vectors};
use super::sweep::{Measures, start, zeros};
use super::{PageRank, fixed};
use crate::algorithms::Walk;
use crate::error::{Error, Result};
use crate::plan::WorkPlan;
use crate::scalar::Scalar;
use crate::structure::Structure;
use sapwood_skeleton::{ChunkPlan, Exec, Work, isa, per_chunk, spans};

/// Stored values of the matrix that is walked.
type ValueOf<A> = <<A as Walk>::Matrix as Structure>::Value;

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
    let mut sweep = Sweep::new(a.plan(), v.out_weight.len())?;
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
        sweep.once(exec, a, Factors { v, alpha, sunk: alpha * sunk, unit: 1.0 / units, next }, &mut result.scores)?;
        m = Measures::total(&sweep.measures);
        // Arcs carry what the nodes that are no sinks had.
        let lost = (m.mass + sunk - 1.0).abs();
        if lost.is_nan() || lost > 1e-6 {
            return Err(Error::OutWeight { found: m.mass, expected: 1.0 - sunk });
        }
        units = next;
        std::mem::swap(&mut sweep.z, &mut sweep.z_next);
        result.iterations += 1;
        result.residual = m.delta;
        if m.delta <= options.tol {
            break;
        }
    }
    Ok(())
}

/// The storage of all sweeps.
struct Sweep {
    /// What is gathered, per node.
    z: Vec<u64>,
    z_next: Vec<u64>,
    /// Where the rows of each item start, and its slots.
    outputs: Vec<u64>,
    slot_starts: Vec<u64>,
    /// Sums of the pieces of heavy rows.
    slots: Vec<i64>,
    /// Per item of the plan, then per heavy row.
    measures: Vec<Measures>,
}

impl Sweep {
    fn new(plan: &WorkPlan, n: usize) -> Result<Sweep> {
        let items = plan.items();
        let mut sweep = Sweep {
            z: zeros(n)?,
            z_next: zeros(n)?,
            outputs: zeros(items + 1)?,
            slot_starts: zeros(items + 1)?,
            slots: zeros(plan.slots())?,
            measures: zeros(items + plan.heavy().len())?,
        };
        plan.spans(1, &mut sweep.outputs, &mut sweep.slot_starts);
        Ok(sweep)
    }

    /// x becomes the next iterate.
    fn once<A: Walk>(&mut self, exec: Exec<'_>, a: &A, factors: Factors<'_>, x: &mut [f64]) -> Result<()> {
        let (plan, matrix) = (a.plan(), a.matrix());
        let items = plan.items();
        let per_item = (matrix.entries() + 4 * x.len()) as f64 / items.max(1) as f64;
        let chunks = ChunkPlan::of(items, 1).dynamic().work(Work { flops: 2.0 * per_item, bytes: 8.0 * per_item });
        let (of_items, of_heavy) = self.measures.split_at_mut(items);
        let z = self.z.as_slice();
        let parts = (
            spans(&mut *x, &self.outputs),
            spans(&mut self.z_next, &self.outputs),
            spans(&mut self.slots, &self.slot_starts),
            per_chunk(of_items),
        );
        exec.for_chunks_mut(&chunks, parts, |worker, item, (x, z_next, slot, measures)| {
            let work = plan.range(item.start);
            let (first, piece) = (work.start.0, WorkPlan::is_piece(work));
            let mut m = Measures::default();
            isa::vectorized(
                #[inline(always)]
                || {
                    fixed::sums(
                        matrix,
                        work,
                        worker.arena(),
                        z,
                        #[inline(always)]
                        |row, sum| {
                            if piece {
                                slot[0] = sum;
                            } else {
                                let at = row - first;
                                z_next[at] = factors.update::<ValueOf<A>>(row, sum, &mut x[at], &mut m);
                            }
                        },
                    )
                },
            )?;
            measures[0] = m;
            Ok(())
        })?;
        for (heavy, m) in plan.heavy().iter().zip(of_heavy) {
            *m = Measures::default();
            let sum = self.slots[heavy.slot..][..heavy.pieces].iter().sum();
            let row = heavy.row;
            self.z_next[row] = factors.update::<ValueOf<A>>(row, sum, &mut x[row], m);
        }
        Ok(())
    }
}
