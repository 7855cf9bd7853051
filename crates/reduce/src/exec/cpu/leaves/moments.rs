//! Moments (count, mean, sum of squared deviations): lanes in two passes, merges as the operator's expressions say.

use super::fold::row;
use super::{Acc, Leaf, Tile};
use crate::dtype::Scalar;
use crate::monoids::{MOMENTS, Params, ReduceOp};
use crate::tree::LANES;
use sapwood_skeleton::isa;
use sapwood_skeleton::math::Real;

#[derive(Debug)]
struct Moments {
    parts: [Scalar; 3],
}

/// Recognises the operator itself.
pub(super) fn leaf(op: &dyn ReduceOp, _: &Params, x: Scalar) -> Option<Box<dyn Leaf>> {
    (op.name() == MOMENTS.name() && x.is_float()).then(|| Box::new(Moments { parts: [x; 3] }) as _)
}

#[expect(unsafe_code, reason = "untyped memory")]
impl Leaf for Moments {
    fn parts(&self) -> &[Scalar] {
        &self.parts
    }

    fn whole_lanes(&self) -> bool {
        true
    }

    unsafe fn rows(&self, x: &Tile, out: Acc, _: *mut u64) {
        // SAFETY: the contract of the trait.
        unsafe { if self.parts[0] == Scalar::F32 { rows::<f32>(x, out) } else { rows::<f64>(x, out) } }
    }

    unsafe fn columns(&self, x: &Tile, acc: Acc, _: bool, _: *mut u64) {
        // SAFETY: the contract of the trait.
        unsafe { if self.parts[0] == Scalar::F32 { columns::<f32>(x, acc) } else { columns::<f64>(x, acc) } }
    }

    unsafe fn combine(&self, n: usize, acc: Acc, other: Acc, _: *mut u64) {
        // SAFETY: the contract of the trait.
        unsafe {
            if self.parts[0] == Scalar::F32 { combine::<f32>(n, acc, other) } else { combine::<f64>(n, acc, other) }
        }
    }
}

/// The three parts of accumulators.
///
/// # Safety
/// The memory has room for three parts of `n` elements.
#[expect(unsafe_code, reason = "untyped memory")]
unsafe fn parts<'a, T>(acc: Acc, n: usize) -> [&'a mut [T]; 3] {
    // SAFETY: parts are apart from each other.
    std::array::from_fn(|p| unsafe { std::slice::from_raw_parts_mut(acc.part(p).cast::<T>(), n) })
}

/// The accumulator of two: n = n₁ + n₂, δ = μ₂ − μ₁, w = n₂/n, μ = μ₁ + δ w, M2 = (M2₁ + M2₂) + ((δ² n₁) w).
#[inline(always)]
fn merge<T: Real>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    let n = a[0] + b[0];
    let delta = b[1] - a[1];
    let w = b[0] / n;
    [n, a[1] + delta * w, (a[2] + b[2]) + ((delta * delta) * a[0]) * w]
}

/// # Safety
/// The contract of [`Leaf::rows`].
#[expect(unsafe_code, reason = "untyped memory")]
unsafe fn rows<T: Real>(x: &Tile, out: Acc) {
    // SAFETY: the contract.
    unsafe {
        let [n, mean, squares] = parts::<T>(out, x.rows);
        isa::vectorized(
            #[inline(always)]
            || {
                for r in 0..x.rows {
                    [n[r], mean[r], squares[r]] = chunk(row(x, r));
                }
            },
        );
    }
}

/// The value of one row.
#[inline(always)]
fn chunk<T: Real>(x: &[T]) -> [T; 3] {
    let mut live = x.len().min(LANES);
    let (full, more) = (x.len() / LANES, x.len() % LANES);
    let mut n = [T::ZERO; LANES];
    let (long, short) = (T::from_f64((full + 1) as f64), T::from_f64(full as f64));
    n.iter_mut().enumerate().for_each(|(l, n)| *n = if l < more { long } else { short });
    let mut mean = [T::ZERO; LANES];
    mean[..live].copy_from_slice(&x[..live]);
    for block in x[live..].chunks(LANES) {
        mean.iter_mut().zip(block).for_each(|(s, &x)| *s += x);
    }
    mean[..live].iter_mut().zip(&n).for_each(|(s, &n)| *s = *s / n);
    let mut squares = [T::ZERO; LANES];
    let deviation = |x: T, mean: T| (x - mean) * (x - mean);
    squares.iter_mut().zip(&x[..live]).zip(&mean).for_each(|((s, &x), &m)| *s = deviation(x, m));
    for block in x[live..].chunks(LANES) {
        squares.iter_mut().zip(block).zip(&mean).for_each(|((s, &x), &m)| *s += deviation(x, m));
    }
    while live > 1 {
        let half = live.next_power_of_two() / 2;
        for l in 0..live - half {
            let merged = merge([n[l], mean[l], squares[l]], [n[l + half], mean[l + half], squares[l + half]]);
            [n[l], mean[l], squares[l]] = merged;
        }
        live = half;
    }
    [n[0], mean[0], squares[0]]
}

/// # Safety
/// The contract of [`Leaf::columns`].
#[expect(unsafe_code, reason = "untyped memory")]
unsafe fn columns<T: Real>(x: &Tile, acc: Acc) {
    // SAFETY: the contract.
    unsafe {
        let [n, mean, squares] = parts::<T>(acc, x.cols);
        let count = T::from_f64(x.rows as f64);
        isa::vectorized(
            #[inline(always)]
            || {
                n.fill(count);
                mean.copy_from_slice(row(x, 0));
                for r in 1..x.rows {
                    mean.iter_mut().zip(row::<T>(x, r)).for_each(|(s, &x)| *s += x);
                }
                mean.iter_mut().for_each(|s| *s = *s / count);
                for r in 0..x.rows {
                    for ((s, &x), &m) in squares.iter_mut().zip(row::<T>(x, r)).zip(&*mean) {
                        let square = (x - m) * (x - m);
                        *s = if r == 0 { square } else { *s + square };
                    }
                }
            },
        );
    }
}

/// # Safety
/// The contract of [`Leaf::combine`].
#[expect(unsafe_code, reason = "untyped memory")]
unsafe fn combine<T: Real>(n: usize, acc: Acc, other: Acc) {
    // SAFETY: the contract.
    unsafe {
        let ([a, b, c], [d, e, f]) = (parts::<T>(acc, n), parts::<T>(other, n));
        isa::vectorized(
            #[inline(always)]
            || {
                for i in 0..n {
                    [a[i], b[i], c[i]] = merge([a[i], b[i], c[i]], [d[i], e[i], f[i]]);
                }
            },
        );
    }
}
