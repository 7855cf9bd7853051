//! The arcs that survive a draw, as a compacted matrix.

use crate::draw::Quotas;
use crate::graph::Arcs;
use crate::{Error, Result, Sampled};
use sapwood_skeleton::{ChunkPlan, Exec, rows, spans};
use sapwood_sparse::{Affine, Block, Csr, One, Real, Scale, WorkPlan, spmm};
use std::ops::Range;

/// Arcs of one chunk of rows; enough that a chunk is worth handing out.
const CHUNK_ARCS: u64 = 1 << 15;

/// Surviving arcs by rows. Between [`Kept::count`] and [`Kept::compact`] there is no matrix.
#[derive(Debug)]
pub(super) struct Kept {
    matrix: Option<Matrix>,
    /// Rows of the whole graph, cut into chunks of about equal arcs.
    chunks: ChunkPlan,
    plan: WorkPlan,
    /// Storage while there is no matrix.
    offsets: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<f32>,
    ones: Vec<One>,
    arcs: usize,
}

/// Where the factors of the rows go: s, l, r.
pub(super) type Outputs<'a, T> = (&'a mut [T], &'a mut [T], &'a mut [T]);

/// The factors of a row from its number and its sum.
pub(super) type Triples<'a, T> = dyn Fn(usize, f64) -> (T, T, T) + Sync + 'a;

#[derive(Debug)]
enum Matrix {
    Pattern(Csr<One>),
    Weighted(Csr<f32>),
}

impl Kept {
    pub(super) fn new(arcs: &Arcs) -> Result<Kept> {
        let pattern = arcs.pattern();
        Ok(Kept {
            matrix: None,
            chunks: ChunkPlan::by_weight(pattern.offsets(), CHUNK_ARCS)?,
            plan: WorkPlan::new(pattern),
            offsets: vec![0; pattern.offsets().len()],
            columns: Vec::with_capacity(pattern.entries()),
            values: Vec::with_capacity(if arcs.weights().is_some() { pattern.entries() } else { 0 }),
            ones: Vec::new(),
            arcs: pattern.entries(),
        })
    }

    /// Arcs of the whole graph.
    pub(super) fn arcs(&self) -> usize {
        self.arcs
    }

    /// Arcs that survive.
    pub(super) fn kept(&self) -> usize {
        match &self.matrix {
            Some(Matrix::Pattern(m)) => m.entries(),
            Some(Matrix::Weighted(m)) => m.entries(),
            None => 0,
        }
    }

    /// Columns of row `i`, and weights if there are any.
    pub(super) fn row(&self, i: usize) -> (&[u32], Option<&[f32]>) {
        match &self.matrix {
            Some(Matrix::Pattern(m)) => (m.row(i), None),
            Some(Matrix::Weighted(m)) => (m.row(i), Some(m.row_values(i))),
            None => (&[], None),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let (columns, values) = (4 * self.arcs, if self.values.capacity() > 0 { 4 * self.arcs } else { 0 });
        columns + values + 8 * self.offsets.capacity()
    }

    /// First pass: counts the surviving arcs of each row, and gives `triple(node, row sum)` to the three outputs, if
    /// anybody wants them.
    pub(super) fn count<T: Real>(
        &mut self,
        exec: Exec<'_>,
        arcs: &Arcs,
        sampled: &Sampled<'_>,
        wanted: Option<(Outputs<'_, T>, &Triples<'_, T>)>,
    ) -> Result<()> {
        self.take_apart();
        let n = arcs.pattern().rows();
        self.offsets.resize(n + 1, 0);
        let stride = usize::from(wanted.is_some());
        let nothing: (Outputs<'_, T>, &Triples<'_, T>) =
            ((&mut [], &mut [], &mut []), &|_, _| (T::ZERO, T::ZERO, T::ZERO));
        let (outputs, triple) = wanted.unwrap_or(nothing);
        let (s, l, r) = (rows(outputs.0, stride), rows(outputs.1, stride), rows(outputs.2, stride));
        let counts = rows(&mut self.offsets[..n], 1);
        exec.for_chunks_mut(&self.chunks, (counts, s, l, r), |_, range, (counts, s, l, r)| {
            for (at, i) in range.enumerate() {
                let (count, sum) = survivors(arcs, i, sampled);
                counts[at] = count;
                if stride == 1 {
                    (s[at], l[at], r[at]) = triple(i, sum);
                }
            }
            Ok(())
        })?;
        self.offsets[n] = 0;
        let total = exec.scan_counts(&mut self.offsets)? as usize;
        self.columns.resize(total, 0);
        Ok(())
    }

    /// Second pass: moves the surviving arcs together; their weights are divided by the probability to stay that
    /// `quotas` gives, if there are any.
    pub(super) fn compact(
        &mut self,
        exec: Exec<'_>,
        arcs: &Arcs,
        sampled: &Sampled<'_>,
        quotas: Option<&Quotas>,
    ) -> Result<()> {
        let total = self.columns.len();
        let weighted = arcs.weights().is_some() || quotas.is_some();
        self.values.resize(if weighted { total } else { 0 }, 0.0);
        self.ones.resize(if weighted { 0 } else { total }, One);
        let columns = spans(&mut self.columns, &self.offsets);
        let all = arcs.pattern().columns();
        if let Some(quotas) = quotas {
            let values = spans(&mut self.values, &self.offsets);
            exec.for_chunks_mut(&self.chunks, (columns, values), |_, range, (columns, values)| {
                let entries = entries(arcs, range);
                gather(&all[entries.clone()], &arcs.unit()[entries.clone()], sampled, columns);
                let kept = entries.filter(|&e| sampled.keeps(arcs.unit()[e]));
                for (slot, e) in values.iter_mut().zip(kept) {
                    let weight = arcs.weights().map_or(1.0, |weights| f64::from(weights[e]));
                    *slot = (weight / (1.0 - quotas.probability(arcs.unit()[e]))) as f32;
                }
                Ok(())
            })?;
        } else if let Some(weights) = arcs.weights() {
            let values = spans(&mut self.values, &self.offsets);
            exec.for_chunks_mut(&self.chunks, (columns, values), |_, range, (columns, values)| {
                let entries = entries(arcs, range);
                gather(&all[entries.clone()], &arcs.unit()[entries.clone()], sampled, columns);
                gather(&weights[entries.clone()], &arcs.unit()[entries], sampled, values);
                Ok(())
            })?;
        } else {
            exec.for_chunks_mut(&self.chunks, columns, |_, range, columns| {
                let entries = entries(arcs, range);
                gather(&all[entries.clone()], &arcs.unit()[entries], sampled, columns);
                Ok(())
            })?;
        }
        self.put_together(exec, arcs, weighted)
    }

    fn take_apart(&mut self) {
        match self.matrix.take() {
            Some(Matrix::Pattern(m)) => (self.offsets, self.columns, self.ones) = m.into_parts(),
            Some(Matrix::Weighted(m)) => (self.offsets, self.columns, self.values) = m.into_parts(),
            None => {}
        }
    }

    fn put_together(&mut self, exec: Exec<'_>, arcs: &Arcs, weighted: bool) -> Result<()> {
        let (n, offsets) = (arcs.pattern().rows(), std::mem::take(&mut self.offsets));
        let columns = std::mem::take(&mut self.columns);
        let matrix = if weighted {
            let matrix = Csr::try_new_on(exec, n, n, offsets, columns, std::mem::take(&mut self.values))?;
            self.plan.rebuild(&matrix);
            Matrix::Weighted(matrix)
        } else {
            let matrix = Csr::try_new_on(exec, n, n, offsets, columns, std::mem::take(&mut self.ones))?;
            self.plan.rebuild(&matrix);
            Matrix::Pattern(matrix)
        };
        self.matrix = Some(matrix);
        Ok(())
    }

    /// Y = Â X with the given factors.
    pub(super) fn multiply<T: Real>(
        &self,
        exec: Exec<'_>,
        scale: Scale<'_, T>,
        x: &Block<T>,
        y: &mut Block<T>,
        how: Affine<T>,
    ) -> Result<()> {
        match &self.matrix {
            Some(Matrix::Pattern(m)) => spmm(exec, m, &self.plan, Some(scale), x, y, how)?,
            Some(Matrix::Weighted(m)) => spmm(exec, m, &self.plan, Some(scale), x, y, how)?,
            None => return Err(Error::Interrupted),
        }
        Ok(())
    }
}

/// The entries of a range of rows.
fn entries(arcs: &Arcs, rows: Range<usize>) -> Range<usize> {
    let offsets = arcs.pattern().offsets();
    offsets[rows.start] as usize..offsets[rows.end] as usize
}

/// Copies what survives to `to`, which has room for just that. Every element is written to the next free place and the
/// place kept or not: which arcs survive is random, and a branch on it would be mispredicted.
#[inline(always)]
fn gather<T: Copy>(from: &[T], units: &[u32], sampled: &Sampled<'_>, to: &mut [T]) {
    let (Sampled::Pairs(mask) | Sampled::Arcs(mask)) = sampled else { return to.copy_from_slice(from) };
    let mut next = 0;
    for (&x, &unit) in from.iter().zip(units) {
        if let Some(slot) = to.get_mut(next) {
            *slot = x;
        }
        next += usize::from(mask.get(unit as usize));
    }
}

/// Number and sum of the surviving arcs of row `i`.
#[inline(always)]
fn survivors(arcs: &Arcs, i: usize, sampled: &Sampled<'_>) -> (u64, f64) {
    let range = arcs.pattern().row_range(i);
    let units = &arcs.unit()[range.clone()];
    match arcs.weights() {
        Some(weights) => {
            let (mut count, mut sum) = (0, 0.0);
            for (&unit, &weight) in units.iter().zip(&weights[range]) {
                if sampled.keeps(unit) {
                    count += 1;
                    sum += f64::from(weight);
                }
            }
            (count, sum)
        }
        None => {
            let count = units.iter().filter(|&&unit| sampled.keeps(unit)).count() as u64;
            (count, count as f64)
        }
    }
}
