//! What methods share: the arrays of a run, a parallel pass over all rows, and what a sweep measures.

use super::fixed;
use super::options::Vectors;
use crate::algorithms::Walk;
use crate::error::{Result, reserve};
use crate::plan::WorkPlan;
use crate::scalar::Scalar;
use crate::structure::Structure;
use sapwood_skeleton::{ChunkPlan, Exec, Work, isa, per_chunk, spans};

/// Stored values of the matrix that is walked.
pub(super) type ValueOf<A> = <<A as Walk>::Matrix as Structure>::Value;

/// What is measured of some rows, and can be put together.
pub(super) trait Merge: Copy + Default + Send {
    /// Takes what was measured of other rows.
    fn merge(&mut self, other: Self);

    /// All of them together, in a tree that their number fixes.
    fn total(items: &[Self]) -> Self {
        match items {
            [] => Self::default(),
            [one] => *one,
            _ => {
                let (left, right) = items.split_at(items.len().next_power_of_two() / 2);
                let mut sum = Self::total(left);
                sum.merge(Self::total(right));
                sum
            }
        }
    }
}

/// What a sweep measures of some rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measures {
    /// Σ |x_new − x|.
    pub(super) delta: f64,
    /// What must be conserved: mass that came in along arcs (power), or all mass (Gauss-Seidel).
    pub(super) mass: f64,
    /// Σ of x_new over sinks, in units of [`sink_units`].
    pub(super) sinks: i64,
    /// The largest x_new.
    pub(super) largest: f64,
}

/// Units of sums over sinks in 1: such a sum is at most 1.
#[inline(always)]
pub(super) fn sink_units() -> f64 {
    fixed::units_for(1.0)
}

impl Merge for Measures {
    fn merge(&mut self, other: Measures) {
        self.delta += other.delta;
        self.mass += other.mass;
        self.sinks += other.sinks;
        self.largest = self.largest.max(other.largest);
    }
}

impl Measures {
    /// Row `i` changed from `old` to `new`. Gives what others gather of it, `units` of it being 1.
    #[inline(always)]
    pub(super) fn take<V: Scalar>(&mut self, out: f64, units: f64, old: f64, new: f64) -> u64 {
        self.delta += (new - old).abs();
        self.largest = self.largest.max(new);
        // No branch: sinks may be anywhere. A sink's own quotient is dropped.
        let sink = (out == 0.0) as i64;
        self.sinks += -sink & fixed::whole(new * sink_units());
        fixed::encode::<V>(new / out * units) & (sink - 1) as u64
    }

    /// Mass of the sinks.
    pub(super) fn sunk(&self) -> f64 {
        self.sinks as f64 / sink_units()
    }
}

/// Writes what is gathered of the scores `x`, and the mass of the sinks into `m`.
pub(super) fn start<V: Scalar>(v: &Vectors<'_>, x: &[f64], units: f64, z: &mut [u64], m: &mut Measures) {
    for ((&x, z), &out) in x.iter().zip(z).zip(v.out_weight) {
        *z = m.take::<V>(out, units, x, x);
    }
}

/// `len` zeros, or the memory that was refused.
pub(super) fn zeros<T: Copy + Default>(len: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    reserve(&mut vec, len, "the vectors of PageRank")?;
    vec.resize(len, T::default());
    Ok(vec)
}

/// The storage of all sweeps; a sweep measures `M`.
pub(super) struct Sweep<M> {
    /// What is gathered, per node.
    pub(super) z: Vec<u64>,
    z_next: Vec<u64>,
    /// Where the rows of each item start, and its slots.
    outputs: Vec<u64>,
    slot_starts: Vec<u64>,
    /// Sums of the pieces of heavy rows.
    slots: Vec<i64>,
    /// Per item of the plan, then per heavy row.
    measures: Vec<M>,
}

impl<M: Merge> Sweep<M> {
    pub(super) fn new(plan: &WorkPlan, n: usize) -> Result<Sweep<M>> {
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

    /// One pass: `update(row, sum, &mut x[row], measures)` for each row gives what others gather of it in the next.
    #[inline(always)]
    pub(super) fn once<A: Walk>(
        &mut self,
        exec: Exec<'_>,
        a: &A,
        x: &mut [f64],
        update: impl Fn(usize, i64, &mut f64, &mut M) -> u64 + Sync,
    ) -> Result<M> {
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
            let mut m = M::default();
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
                                z_next[at] = update(row, sum, &mut x[at], &mut m);
                            }
                        },
                    )
                },
            )?;
            measures[0] = m;
            Ok(())
        })?;
        for (heavy, m) in plan.heavy().iter().zip(of_heavy) {
            *m = M::default();
            let sum = self.slots[heavy.slot..][..heavy.pieces].iter().sum();
            let row = heavy.row;
            self.z_next[row] = update(row, sum, &mut x[row], m);
        }
        std::mem::swap(&mut self.z, &mut self.z_next);
        Ok(M::total(&self.measures))
    }
}
