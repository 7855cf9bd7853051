//! One panel of W columns and the passes over its vectors.
//!
//! An iteration is one product and three passes: the sums pᵀq, the residuals with their sums, and solution and direction
//! together, ten reads and writes of a vector in all. Sums are those of [`crate::algorithms::tree`].

use super::{Cg, CgColumn, CgOptions, CgStop};
use crate::algorithms::{LinOp, tree};
use crate::dense::Block;
use crate::error::{Result, reserve};
use crate::order::Affine;
use sapwood_skeleton::{ChunkPlan, Exec, Work, isa, per_chunk, rows};
use std::ops::Range;

/// What all panels share.
pub(super) struct System<'a, A: ?Sized> {
    pub(super) exec: Exec<'a>,
    pub(super) a: &'a A,
    pub(super) b: &'a Block<f64>,
    /// 1/diagonal, or empty.
    pub(super) inverse: &'a [f64],
    /// The factor of each column of B.
    pub(super) scales: &'a [f64],
}

/// The vectors of a panel: solution, residual, direction, and A times the direction.
#[derive(Default)]
pub(super) struct Storage {
    x: Block<f64>,
    r: Block<f64>,
    p: Block<f64>,
    q: Block<f64>,
}

/// Two sums per column.
type Sums<const W: usize> = [[f64; W]; 2];

/// What a pass does to a column. Of a column that has stopped, nothing changes any more.
#[derive(Clone, Copy)]
struct Steps<const W: usize> {
    /// Length of the step along p; 0 for none.
    alpha: [f64; W],
    /// What the next direction keeps of p; negative if there is no next one, and p becomes 0.
    beta: [f64; W],
}

/// A panel being solved.
pub(super) struct Panel<'a, A: ?Sized, const W: usize> {
    system: &'a System<'a, A>,
    plan: ChunkPlan,
    v: &'a mut Storage,
    /// Two sums per chunk and column.
    sums: Vec<Sums<W>>,
}

impl<'a, A: LinOp<f64> + ?Sized, const W: usize> Panel<'a, A, W> {
    /// Solves the columns from `first` on, as many as there are, at most W. Gives W.
    pub(super) fn solve(
        system: &'a System<'a, A>,
        first: usize,
        v: &'a mut Storage,
        options: &CgOptions<'_>,
        result: &mut Cg,
    ) -> Result<usize> {
        let n = system.b.rows();
        for block in [&mut v.x, &mut v.r, &mut v.p, &mut v.q] {
            block.resize(n, W)?;
        }
        let plan = ChunkPlan::even(n).work(Work { flops: 4.0 * W as f64, bytes: 32.0 * W as f64 });
        let mut sums = Vec::new();
        reserve(&mut sums, plan.chunks(), "the sums of chunks")?;
        sums.resize(plan.chunks(), [[0.0; W]; 2]);
        let mut panel = Panel { system, plan, v, sums };
        let columns = first..system.b.cols().min(first + W);
        let [norms, rz] = panel.start(columns.clone())?;
        let mut columns_of = Columns::new(norms, rz, options);
        while columns_of.live() {
            system.a.apply(system.exec, &panel.v.p, &mut panel.v.q, Affine::SET)?;
            let pq = panel.along()?;
            let mut steps = columns_of.steps(&pq);
            let [rr, rz] = panel.descend(&steps.alpha)?;
            columns_of.turn(&mut steps, &rr, &rz);
            panel.advance(&steps)?;
        }
        system.a.apply(system.exec, &panel.v.x, &mut panel.v.q, Affine::SET)?;
        let [errors, _] = panel.finish(columns.clone(), &mut result.solution)?;
        result.columns.extend(columns_of.into_results(&errors).take(columns.len()));
        Ok(W)
    }

    /// The sum of the chunks' sums.
    fn total(&mut self) -> Sums<W> {
        tree::fold(self.sums.as_flattened_mut().as_flattened_mut(), 2 * W);
        self.sums.first().copied().unwrap_or([[0.0; W]; 2])
    }

    /// x = 0, r = b, p = M⁻¹r; gives (bᵀb, rᵀM⁻¹r).
    fn start(&mut self, columns: Range<usize>) -> Result<Sums<W>> {
        let System { exec, b, inverse, scales, .. } = *self.system;
        let Storage { x, r, p, .. } = &mut *self.v;
        let parts = (
            rows(x.as_mut_slice(), W),
            rows(r.as_mut_slice(), W),
            rows(p.as_mut_slice(), W),
            per_chunk(&mut self.sums),
        );
        exec.for_chunks_mut(&self.plan, parts, |_, range, (x, r, p, sums)| {
            x.fill(0.0);
            let mut sum = [[0.0; W]; 2];
            for ((i, r), p) in range.zip(r.as_chunks_mut::<W>().0).zip(p.as_chunks_mut::<W>().0) {
                *r = scaled(b.row(i), scales, columns.clone());
                let inverse = inverse.get(i).copied().unwrap_or(1.0);
                for c in 0..W {
                    p[c] = r[c] * inverse;
                    sum[0][c] = r[c].mul_add(r[c], sum[0][c]);
                    sum[1][c] = r[c].mul_add(p[c], sum[1][c]);
                }
            }
            sums[0] = sum;
            Ok(())
        })?;
        Ok(self.total())
    }

    /// pᵀq.
    fn along(&mut self) -> Result<[f64; W]> {
        let (p, q) = (self.v.p.as_slice(), self.v.q.as_slice());
        self.system.exec.for_chunks_mut(&self.plan, per_chunk(&mut self.sums), |_, range, sums| {
            let part = range.start * W..range.end * W;
            let (p, q) = (p[part.clone()].as_chunks::<W>().0, q[part].as_chunks::<W>().0);
            isa::vectorized(
                #[inline(always)]
                || {
                    let mut sum = [0.0; W];
                    for (p, q) in p.iter().zip(q) {
                        for c in 0..W {
                            sum[c] = p[c].mul_add(q[c], sum[c]);
                        }
                    }
                    sums[0][0] = sum;
                },
            );
            Ok(())
        })?;
        Ok(self.total()[0])
    }

    /// r −= α·q; gives (rᵀr, rᵀM⁻¹r).
    fn descend(&mut self, alpha: &[f64; W]) -> Result<Sums<W>> {
        let System { exec, inverse, .. } = *self.system;
        let q = self.v.q.as_slice();
        let parts = (rows(self.v.r.as_mut_slice(), W), per_chunk(&mut self.sums));
        exec.for_chunks_mut(&self.plan, parts, |_, range, (r, sums)| {
            let q = q[range.start * W..range.end * W].as_chunks::<W>().0;
            let inverse = inverse.get(range).unwrap_or_default();
            isa::vectorized(
                #[inline(always)]
                || sums[0] = residuals(r.as_chunks_mut::<W>().0, q, inverse, alpha),
            );
            Ok(())
        })?;
        Ok(self.total())
    }

    /// x += α·p, then p = M⁻¹r + β·p.
    fn advance(&mut self, steps: &Steps<W>) -> Result<()> {
        let System { exec, inverse, .. } = *self.system;
        let Storage { x, r, p, .. } = &mut *self.v;
        let r = r.as_slice();
        exec.for_chunks_mut(&self.plan, (rows(x.as_mut_slice(), W), rows(p.as_mut_slice(), W)), |_, range, (x, p)| {
            let r = r[range.start * W..range.end * W].as_chunks::<W>().0;
            let inverse = inverse.get(range).unwrap_or_default();
            isa::vectorized(
                #[inline(always)]
                || {
                    let xp = x.as_chunks_mut::<W>().0.iter_mut().zip(p.as_chunks_mut::<W>().0);
                    for (i, ((x, p), r)) in xp.zip(r).enumerate() {
                        let m = inverse.get(i).copied().unwrap_or(1.0);
                        for c in 0..W {
                            let (alpha, beta) = (steps.alpha[c], steps.beta[c]);
                            let moved = alpha.mul_add(p[c], x[c]);
                            let turned = beta.mul_add(p[c], m * r[c]);
                            x[c] = if alpha == 0.0 { x[c] } else { moved };
                            p[c] = if beta < 0.0 { 0.0 } else { turned };
                        }
                    }
                },
            );
            Ok(())
        })?;
        Ok(())
    }

    /// Writes the columns of the solution; gives ‖b − q‖² where q = A·x.
    fn finish(&mut self, columns: Range<usize>, solution: &mut Block<f64>) -> Result<Sums<W>> {
        let System { exec, b, scales, .. } = *self.system;
        let (x, q) = (self.v.x.as_slice(), self.v.q.as_slice());
        let parts = (rows(solution.as_mut_slice(), b.cols()), per_chunk(&mut self.sums));
        exec.for_chunks_mut(&self.plan, parts, |_, range, (out, sums)| {
            let mut sum = [0.0; W];
            for (i, out) in range.zip(out.chunks_exact_mut(b.cols())) {
                let b: [f64; W] = scaled(b.row(i), scales, columns.clone());
                for c in 0..W {
                    let error = b[c] - q[i * W + c];
                    sum[c] = error.mul_add(error, sum[c]);
                }
                for ((out, &x), &scale) in
                    out[columns.clone()].iter_mut().zip(&x[i * W..]).zip(&scales[columns.clone()])
                {
                    *out = x / scale;
                }
            }
            sums[0][0] = sum;
            Ok(())
        })?;
        Ok(self.total())
    }
}

/// The elements of a row of B times the factors of their columns, then zeros.
fn scaled<const W: usize>(row: &[f64], scales: &[f64], columns: Range<usize>) -> [f64; W] {
    let mut out = [0.0; W];
    for ((out, &b), &scale) in out.iter_mut().zip(&row[columns.clone()]).zip(&scales[columns]) {
        *out = b * scale;
    }
    out
}

/// r −= α·q in one chunk; gives the sums of r² and of r²/diagonal.
#[inline(always)]
fn residuals<const W: usize>(r: &mut [[f64; W]], q: &[[f64; W]], inverse: &[f64], alpha: &[f64; W]) -> Sums<W> {
    let mut sum = [[0.0; W]; 2];
    for (i, (r, q)) in r.iter_mut().zip(q).enumerate() {
        let m = inverse.get(i).copied().unwrap_or(1.0);
        for c in 0..W {
            let new = (-alpha[c]).mul_add(q[c], r[c]);
            r[c] = if alpha[c] == 0.0 { r[c] } else { new };
            sum[0][c] = r[c].mul_add(r[c], sum[0][c]);
            sum[1][c] = r[c].mul_add(m * r[c], sum[1][c]);
        }
    }
    sum
}

/// The numbers of each column.
struct Columns<'a, const W: usize> {
    options: &'a CgOptions<'a>,
    /// ‖b‖₂.
    norms: [f64; W],
    /// rᵀM⁻¹r.
    rz: [f64; W],
    histories: [Vec<f64>; W],
    stops: [Option<CgStop>; W],
}

impl<'a, const W: usize> Columns<'a, W> {
    fn new(squares: [f64; W], rz: [f64; W], options: &'a CgOptions<'a>) -> Self {
        let norms = squares.map(f64::sqrt);
        let none = |norm: f64| norm == 0.0;
        Columns {
            options,
            norms,
            rz,
            histories: norms.map(|norm| vec![if none(norm) { 0.0 } else { 1.0 }]),
            stops: norms.map(|norm| none(norm).then_some(CgStop::Converged)),
        }
    }

    fn live(&self) -> bool {
        self.stops.iter().any(Option::is_none)
    }

    /// The lengths of the next steps from pᵀAp.
    fn steps(&mut self, pq: &[f64; W]) -> Steps<W> {
        let mut steps = Steps { alpha: [0.0; W], beta: [-1.0; W] };
        let before = self.stops;
        for c in (0..W).filter(|&c| before[c].is_none()) {
            let alpha = self.rz[c] / pq[c];
            match pq[c] {
                pq if pq <= 0.0 => self.stops[c] = Some(CgStop::NotPositiveDefinite),
                _ if alpha > 0.0 && alpha.is_finite() => steps.alpha[c] = alpha,
                _ => self.stops[c] = Some(CgStop::NotFinite),
            }
        }
        steps
    }

    /// Decides from the new residuals which columns go on, and sets their β.
    fn turn(&mut self, steps: &mut Steps<W>, rr: &[f64; W], rz: &[f64; W]) {
        let before = self.stops;
        for c in (0..W).filter(|&c| before[c].is_none()) {
            let residual = rr[c].sqrt() / self.norms[c];
            self.histories[c].push(residual);
            let beta = rz[c] / self.rz[c];
            self.rz[c] = rz[c];
            self.stops[c] = match residual {
                r if r <= self.options.tol => Some(CgStop::Converged),
                _ if !(residual.is_finite() && beta.is_finite()) => Some(CgStop::NotFinite),
                _ if self.histories[c].len() > self.options.max_iter as usize => Some(CgStop::MaxIterations),
                _ => None,
            };
            if self.stops[c].is_none() {
                steps.beta[c] = beta;
            }
        }
    }

    /// The results, given ‖b − A·x‖² of each column.
    fn into_results(self, errors: &[f64; W]) -> impl Iterator<Item = CgColumn> {
        let Columns { norms, histories, stops, .. } = self;
        let residuals: [f64; W] =
            std::array::from_fn(|c| if norms[c] == 0.0 { 0.0 } else { errors[c].sqrt() / norms[c] });
        histories.into_iter().zip(stops).zip(residuals).map(|((history, stop), residual)| CgColumn {
            iterations: (history.len() - 1) as u32,
            history,
            residual,
            stop: stop.unwrap_or(CgStop::MaxIterations),
        })
    }
}
