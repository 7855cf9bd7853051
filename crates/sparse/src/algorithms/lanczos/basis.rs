//! The vectors of a run, as the columns of one tall block: deflated ones first, then the basis.
//!
//! A row of the block holds what all vectors say of a node, so projecting, removing and rotating are passes over rows.
//! Sums are those of [`crate::algorithms::tree`].

use crate::algorithms::{LinOp, tree};
use crate::dense::Block;
use crate::error::{Error, Result, reserve};
use crate::order::{Affine, LANES, fold_lanes};
use sapwood_skeleton::fixed_tree::chunk_length;
use sapwood_skeleton::random::{Purpose, Stream, uniform_f64};
use sapwood_skeleton::{ChunkPlan, Exec, Work, isa, rows, spans};

/// Draws of a random direction before the space is taken to be used up.
const DRAWS: usize = 4;

/// See the head of this file.
pub(super) struct Basis<'e> {
    exec: Exec<'e>,
    v: Block<f64>,
    /// The last vector stored, to be multiplied.
    x: Block<f64>,
    /// The vector being made.
    y: Block<f64>,
    stream: Stream,
    draws: u32,
    /// One item per chunk of rows.
    plan: ChunkPlan,
    /// Where chunks start in a vector, and in the block.
    borders: Vec<u64>,
    wide: Vec<u64>,
    /// Sums of the chunks, one more than vectors.
    sums: Vec<f64>,
}

impl<'e> Basis<'e> {
    /// Room for `width` vectors of `n` elements.
    pub(super) fn new(exec: Exec<'e>, n: usize, width: usize, seed: u64) -> Result<Basis<'e>> {
        let length = chunk_length(n);
        let chunks = n.div_ceil(length);
        let per_chunk = (length * width) as f64;
        let plan = ChunkPlan::of(chunks, 1).work(Work { flops: 4.0 * per_chunk, bytes: 8.0 * per_chunk });
        let borders: Vec<u64> = (0..=chunks).map(|c| (c * length).min(n) as u64).collect();
        let wide = borders.iter().map(|b| b * width as u64).collect();
        let mut sums = Vec::new();
        reserve(&mut sums, chunks * (width + 1), "the sums of chunks")?;
        sums.resize(chunks * (width + 1), 0.0);
        let vector = || Block::zeros(n, 1);
        let stream = Stream::new(seed, Purpose::Probe);
        let v = Block::zeros(n, width)?;
        Ok(Basis { exec, v, x: vector()?, y: vector()?, stream, draws: 0, plan, borders, wide, sums })
    }

    /// y = A·x with the vector stored last.
    pub(super) fn multiply<A: LinOp<f64> + ?Sized>(&mut self, a: &A) -> Result<()> {
        a.apply(self.exec, &self.x, &mut self.y, Affine::SET)
    }

    /// y −= (the first vectors)·remove; then the products of the first `dots` vectors with y, and yᵀy behind them.
    fn sweep(&mut self, remove: &[f64], dots: usize) -> Result<Vec<f64>> {
        let width = self.v.cols();
        let v = self.v.as_slice();
        let borders = &self.borders;
        let parts = (spans(self.y.as_mut_slice(), borders), rows(&mut self.sums, width + 1));
        self.exec.for_chunks_mut(&self.plan, parts, |_, chunk, (y, sums)| {
            let first = borders[chunk.start] as usize;
            let v = &v[first * width..][..y.len() * width];
            isa::vectorized(
                #[inline(always)]
                || sweep_rows(v, width, y, remove, &mut sums[..=dots]),
            );
            Ok(())
        })?;
        tree::fold(&mut self.sums, width + 1);
        Ok(self.sums.get(..=dots).map_or_else(|| vec![0.0; dots + 1], <[f64]>::to_vec))
    }

    /// Makes y orthogonal to the first `vectors` vectors, twice over. Gives what was removed and ‖y‖ then.
    pub(super) fn orthogonalise(&mut self, vectors: usize) -> Result<(Vec<f64>, f64)> {
        let mut removed = self.sweep(&[], vectors)?;
        removed.truncate(vectors);
        let again = self.sweep(&removed, vectors)?;
        let norm = self.sweep(&again[..vectors], 0)?[0].sqrt();
        removed.iter_mut().zip(&again).for_each(|(r, a)| *r += a);
        match norm.is_finite() {
            true => Ok((removed, norm)),
            false => Err(Error::Element {
                array: "the norms of products with the operator",
                index: vectors,
                value: norm,
                range: "finite",
            }),
        }
    }

    /// Stores y/norm as vector `at`.
    pub(super) fn store(&mut self, at: usize, norm: f64) -> Result<()> {
        let width = self.v.cols();
        let y = self.y.as_slice();
        let borders = &self.borders;
        let parts = (spans(self.v.as_mut_slice(), &self.wide), spans(self.x.as_mut_slice(), borders));
        self.exec.for_chunks_mut(&self.plan, parts, |_, chunk, (v, x)| {
            let y = &y[borders[chunk.start] as usize..];
            for ((row, x), &y) in v.chunks_exact_mut(width).zip(x).zip(y) {
                *x = y / norm;
                row[at] = *x;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Stores a random unit vector, orthogonal to the `at` vectors before it, as vector `at`. `false` if there is none.
    pub(super) fn store_random(&mut self, at: usize) -> Result<bool> {
        for _ in 0..DRAWS {
            let (stream, draw) = (self.stream, self.draws);
            self.draws += 1;
            for (i, y) in self.y.as_mut_slice().iter_mut().enumerate() {
                let [low, high, ..] = stream.at(draw, 0, i as u64)?;
                *y = 2.0 * uniform_f64(low, high) - 1.0;
            }
            if self.store_new(at, 1e-6)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Stores the given vector, made orthogonal to the `at` vectors before it, as vector `at`. `false` if nothing is left.
    pub(super) fn store_given(&mut self, at: usize, vector: &[f64]) -> Result<bool> {
        let largest = vector.iter().fold(0.0, |l: f64, x| l.max(x.abs()));
        if largest == 0.0 {
            return Ok(false);
        }
        for (y, v) in self.y.as_mut_slice().iter_mut().zip(vector) {
            *y = v / largest;
        }
        self.store_new(at, 1e-10)
    }

    /// Stores y, made orthogonal, unless less than `least` of it is left.
    fn store_new(&mut self, at: usize, least: f64) -> Result<bool> {
        let before = self.sweep(&[], 0)?[0].sqrt();
        let (_, norm) = self.orthogonalise(at)?;
        if norm <= least * before {
            return Ok(false);
        }
        self.store(at, norm)?;
        // What was left may have been small: rounding is removed once more.
        self.y.as_mut_slice().copy_from_slice(self.x.as_slice());
        let (_, norm) = self.orthogonalise(at)?;
        self.store(at, norm)?;
        Ok(true)
    }

    /// Replaces the `size` vectors from `first` on by their combinations with the first `kept` columns of `turn`
    /// (size × size), and moves the vector behind them up to follow.
    pub(super) fn rotate(&mut self, first: usize, size: usize, turn: &[f64], kept: usize) -> Result<()> {
        let width = self.v.cols();
        let parts = (spans(self.v.as_mut_slice(), &self.wide), spans(self.x.as_mut_slice(), &self.borders));
        self.exec.for_chunks_mut(&self.plan, parts, |worker, _, (v, x)| {
            let new = worker.arena().take::<f64>(kept)?;
            isa::vectorized(
                #[inline(always)]
                || {
                    for (row, x) in v.chunks_exact_mut(width).zip(x) {
                        let row = &mut row[first..=first + size];
                        combine(&row[..size], turn, new);
                        *x = row[size];
                        row[..kept].copy_from_slice(new);
                        row[kept] = *x;
                    }
                },
            );
            Ok(())
        })?;
        Ok(())
    }

    /// The combinations of the `size` vectors from `first` on with the first `k` columns of `turn`.
    pub(super) fn combinations(&self, first: usize, size: usize, turn: &[f64], k: usize) -> Result<Block<f64>> {
        let mut out = Block::zeros(self.v.rows(), k)?;
        for i in 0..out.rows() {
            combine(&self.v.row(i)[first..first + size], turn, out.row_mut(i));
        }
        Ok(out)
    }
}

/// new = row · (the first columns of `turn`).
#[inline(always)]
fn combine(row: &[f64], turn: &[f64], new: &mut [f64]) {
    new.fill(0.0);
    for (&r, turn) in row.iter().zip(turn.chunks_exact(row.len())) {
        for (new, &t) in new.iter_mut().zip(turn) {
            *new = r.mul_add(t, *new);
        }
    }
}

/// [`Basis::sweep`] over the rows of one chunk.
#[inline(always)]
fn sweep_rows(v: &[f64], width: usize, y: &mut [f64], remove: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    let dots = sums.len() - 1;
    for (row, y) in v.chunks_exact(width).zip(y) {
        let mut lanes = [0.0; LANES];
        for (row, remove) in row[..remove.len()].chunks(LANES).zip(remove.chunks(LANES)) {
            for ((l, &v), &r) in lanes.iter_mut().zip(row).zip(remove) {
                *l = v.mul_add(r, *l);
            }
        }
        let new = *y - fold_lanes(lanes);
        *y = new;
        for (sum, &v) in sums[..dots].iter_mut().zip(row) {
            *sum = v.mul_add(new, *sum);
        }
        sums[dots] = new.mul_add(new, sums[dots]);
    }
}
