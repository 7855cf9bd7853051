//! Gauss-Seidel inside fixed blocks of rows, Jacobi between the blocks: the cut depends on the rows alone, so the result
//! does not depend on threads.
//!
//! With x = Mx + b and M = L + U, where L holds the entries inside a block at or left of the diagonal (without the part of
//! the sinks, which is taken from the sweep before), a sweep is x' = Lx' + Ux + b. M is not negative and ‖M‖₁ = α, so
//!
//! - the residual Mx' + b − x' is U(x' − x), and ‖x' − π‖₁ ≤ ‖U‖₁/(1−α)·‖x' − x‖₁ ≤ α/(1−α)·‖x' − x‖₁: the bound of the
//!   power iteration holds here too;
//! - G = (I − L)⁻¹U has Gπ ≤ π, and (1−α)·t ≤ π, so from x₀ = t no iterate passes π + Gᵏt ≤ (2−α)/(1−α)·π: that bounds
//!   all sums.

use super::options::{PageRankOptions, Vectors};
use super::sweep::{Measures, Merge, start, zeros};
use super::{PageRank, fixed};
use crate::algorithms::Walk;
use crate::error::{Error, Result};
use crate::structure::{Structure, WorkRange};
use sapwood_skeleton::{Arena, ChunkPlan, Exec, Work, isa, per_chunk, rows};

/// Rows of a block.
const ROWS: usize = 4096;

/// Iterates from x = t.
pub(super) fn run<A: Walk>(
    exec: Exec<'_>,
    a: &A,
    v: &Vectors<'_>,
    options: &PageRankOptions<'_>,
    result: &mut PageRank,
) -> Result<()> {
    let n = v.out_weight.len();
    let (mut z, mut z_next): (Vec<u64>, Vec<u64>) = (zeros(n)?, zeros(n)?);
    let bound = (2.0 - options.alpha) / (1.0 - options.alpha);
    let units = fixed::units_for(bound);
    let mut m = Measures::default();
    start::<<A::Matrix as Structure>::Value>(v, &result.scores, units, &mut z, &mut m);
    let per_row = a.matrix().entries() as f64 / n as f64 + 4.0;
    let blocks = ChunkPlan::of(n, ROWS).dynamic().work(Work { flops: 2.0 * per_row, bytes: 8.0 * per_row });
    let mut measures: Vec<Measures> = zeros(blocks.chunks())?;
    while result.iterations < options.max_iter {
        let block = Block { v, alpha: options.alpha, sunk: m.sunk(), units, z: &z };
        let parts = (rows(&mut result.scores, 1), rows(&mut z_next, 1), per_chunk(&mut measures));
        exec.for_chunks_mut(&blocks, parts, |worker, range, (x, z_next, measures)| {
            let work = WorkRange::rows(range);
            measures[0] = isa::vectorized(
                #[inline(always)]
                || block.relax(a, worker.arena(), work, x, z_next),
            );
            Ok(())
        })?;
        m = Measures::total(&measures);
        std::mem::swap(&mut z, &mut z_next);
        result.iterations += 1;
        result.residual = m.delta;
        let done = m.delta <= options.tol;
        // The mass is not conserved on the way, but it is 1 in the end.
        let off = if done { options.alpha / (1.0 - options.alpha) * options.tol } else { bound };
        let kept = (m.mass - 1.0).abs() <= off + 1e-6;
        if !kept {
            return Err(Error::OutWeight { found: m.mass, expected: 1.0 });
        }
        if done {
            break;
        }
    }
    Ok(())
}

/// What all blocks of a sweep read.
struct Block<'a> {
    v: &'a Vectors<'a>,
    alpha: f64,
    /// Mass of the sinks after the sweep before.
    sunk: f64,
    /// Units of the sums in 1.
    units: f64,
    /// What is gathered from other blocks.
    z: &'a [u64],
}

impl Block<'_> {
    /// One sweep over the rows of a block.
    #[inline(always)]
    fn relax<A: Walk>(&self, a: &A, arena: &Arena, work: WorkRange, x: &mut [f64], z_next: &mut [u64]) -> Measures {
        let (v, alpha, first) = (self.v, self.alpha, work.start.0);
        z_next.copy_from_slice(&self.z[first..first + z_next.len()]);
        let mut state = (Measures::default(), z_next);
        fixed::walk(
            a.matrix(),
            work,
            arena,
            &mut state,
            #[inline(always)]
            |(_, inside), j| inside.get(j.wrapping_sub(first)).copied().unwrap_or_else(|| self.z[j]),
            #[inline(always)]
            |(m, inside), row, sum| {
                let (out, old) = (v.out_weight[row], x[row - first]);
                let t = v.teleport.at(row);
                let sunk = alpha * self.sunk * v.dangling.as_ref().map_or(t, |d| d.at(row));
                let mut new = alpha.mul_add(sum as f64 / self.units, (1.0 - alpha).mul_add(t, sunk));
                if !v.own.is_empty() && out > 0.0 {
                    // x = α·own/out·x + new
                    new /= 1.0 - alpha * (v.own[row] / out);
                }
                m.mass += new;
                x[row - first] = new;
                inside[row - first] = m.take::<<A::Matrix as Structure>::Value>(out, self.units, old, new);
            },
        );
        state.0
    }
}
