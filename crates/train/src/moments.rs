//! Means and squared deviations of the columns of a block, for the layers that centre over the nodes.
//!
//! Sums are in double precision. A chunk of 256 rows is centred on its first row to find its mean, and on its mean to find
//! its squares; chunks meet by the rule of Chan, Golub & LeVeque (1979) in the fixed tree. So nothing cancels where means
//! are large, and a block is read from memory once. Nothing here knows of parameters.

use crate::Result;
use crate::cost::{SUM, Size, Step};
use crate::rows::{self, Partials};
use sapwood_skeleton::{Exec, isa};
use sapwood_sparse::{Affine, Block, Real};

/// The step of [`Moments::of`]: a chunk stays in the cache between its two sums.
pub(crate) fn moments_cost(size: &Size<'_>, width: usize) -> Step {
    size.pass(width, 1.0, 2.0 * SUM)
}

/// The step of [`centred`].
pub(crate) fn centred_cost(size: &Size<'_>, width: usize) -> Step {
    size.pass(width, 2.0, 1.5 * SUM)
}

/// The steps of [`gradient_sums`] and, where somebody wants the gradient, [`centred_back`].
pub(crate) fn back_cost(size: &Size<'_>, width: usize) -> impl Iterator<Item = Step> {
    let dx = size.wanted(0).then(|| size.pass(width, 3.0 + size.read_first(0), 2.5 * SUM));
    std::iter::once(size.pass(width, 2.0, 2.5 * SUM)).chain(dx)
}

/// Column means, and sums of squared deviations from them.
#[derive(Debug)]
pub(crate) struct Moments {
    pub(crate) mean: Vec<f64>,
    pub(crate) squares: Vec<f64>,
}

impl Moments {
    /// The moments of the columns of `x`; zeros where there is no row.
    pub(crate) fn of<T: Real>(exec: Exec<'_>, x: &Block<T>, partials: &mut Partials) -> Result<Moments> {
        let (n, width, values) = (x.rows(), x.cols(), x.as_slice());
        let moments = rows::sums_by(
            exec,
            n,
            2 * width,
            partials,
            |range, moments| {
                let (mean, squares) = moments.split_at_mut(width);
                moments_of(&values[range.start * width..range.end * width], mean, squares);
            },
            |n, m, left, right| merge(n as f64, m as f64, left, right),
        )?;
        let (mean, squares) = moments.split_at(width);
        Ok(Moments { mean: mean.to_vec(), squares: squares.to_vec() })
    }
}

/// Means of a chunk, and sums of squared deviations from them; both are zeros before.
fn moments_of<T: Real>(values: &[T], mean: &mut [f64], squares: &mut [f64]) {
    let width = mean.len().max(1);
    let (first, share) = (&values[..mean.len()], 1.0 / (values.len() / width) as f64);
    isa::vectorized(
        #[inline(always)]
        || {
            for row in values.chunks_exact(width) {
                mean.iter_mut().zip(row).zip(first).for_each(|((m, v), f)| *m += v.to_f64() - f.to_f64());
            }
            mean.iter_mut().zip(first).for_each(|(m, f)| *m = m.mul_add(share, f.to_f64()));
            for row in values.chunks_exact(width) {
                for ((q, m), v) in squares.iter_mut().zip(&*mean).zip(row) {
                    let d = v.to_f64() - m;
                    *q = d.mul_add(d, *q);
                }
            }
        },
    );
}

/// Moments of n rows on the left and m on the right become those of all, on the left.
fn merge(n: f64, m: f64, left: &mut [f64], right: &[f64]) {
    let width = left.len() / 2;
    for c in 0..width {
        let apart = right[c] - left[c];
        left[width + c] += right[width + c] + apart * apart * (n * m / (n + m));
        left[c] += apart * (m / (n + m));
    }
}

/// out = (x − mean)·factor + shift, column by column.
pub(crate) fn centred<T: Real>(
    exec: Exec<'_>,
    x: &Block<T>,
    mean: &[f64],
    (factor, shift): (&[f64], &[f64]),
    out: &mut Block<T>,
) -> Result<()> {
    let (values, width) = (x.as_slice(), x.cols().max(1));
    rows::for_tiles(exec, out, false, |tile| {
        let x = &values[tile.first..tile.first + tile.values.len()];
        isa::vectorized(
            #[inline(always)]
            || {
                for (out, x) in tile.values.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
                    for ((((o, x), m), f), s) in out.iter_mut().zip(x).zip(mean).zip(factor).zip(shift) {
                        *o = T::from_f64((x.to_f64() - m).mul_add(*f, *s));
                    }
                }
            },
        );
        Ok(())
    })
}

/// Column sums of G, and of G ∘ (x − mean): two rows of sums.
pub(crate) fn gradient_sums<'p, T: Real>(
    exec: Exec<'_>,
    x: &Block<T>,
    mean: &[f64],
    grad: &Block<T>,
    partials: &'p mut Partials,
) -> Result<(&'p [f64], &'p [f64])> {
    let (values, grads, width) = (x.as_slice(), grad.as_slice(), x.cols());
    let sums = rows::sums(exec, x.rows(), 2 * width, partials, |range, sums| {
        let range = range.start * width..range.end * width;
        let (sum, product) = sums.split_at_mut(width);
        isa::vectorized(
            #[inline(always)]
            || {
                let width = width.max(1);
                for (x, g) in values[range.clone()].chunks_exact(width).zip(grads[range].chunks_exact(width)) {
                    for ((((s, p), x), g), m) in sum.iter_mut().zip(&mut *product).zip(x).zip(g).zip(mean) {
                        let g = g.to_f64();
                        *s += g;
                        *p = g.mul_add(x.to_f64() - m, *p);
                    }
                }
            },
        );
    })?;
    Ok(sums.split_at(width))
}

/// What the gradients of centred columns are made of: dx = factor·(g − level) − pull·(x − mean), one of each per column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slopes {
    pub(crate) mean: Vec<f64>,
    pub(crate) factor: Vec<f64>,
    pub(crate) level: Vec<f64>,
    pub(crate) pull: Vec<f64>,
}

/// The gradient of x.
pub(crate) fn centred_back<T: Real>(
    exec: Exec<'_>,
    x: &Block<T>,
    grad: &Block<T>,
    slopes: &Slopes,
    (into, how): (&mut Block<T>, Affine<T>),
) -> Result<()> {
    let (values, grads, width) = (x.as_slice(), grad.as_slice(), x.cols().max(1));
    let Slopes { mean, factor, level, pull } = slopes;
    rows::for_tiles(exec, into, false, |tile| {
        let range = tile.first..tile.first + tile.values.len();
        let sources = values[range.clone()].chunks_exact(width).zip(grads[range].chunks_exact(width));
        isa::vectorized(
            #[inline(always)]
            || {
                for (out, (x, g)) in tile.values.chunks_exact_mut(width).zip(sources) {
                    let columns = out.iter_mut().zip(x).zip(g).zip(mean).zip(factor).zip(level).zip(pull);
                    for ((((((o, x), g), mean), factor), level), pull) in columns {
                        let pulled = pull * (x.to_f64() - mean);
                        how.write(T::from_f64(factor.mul_add(g.to_f64() - level, -pulled)), o);
                    }
                }
            },
        );
        Ok(())
    })
}
