//! The slow twins: products written straight from the definition of the order, one entry at a time.
//!
//! Sequential, without work plans, vectors or tiles. Tests compare every kernel with them, bit by bit.

use crate::dense::Block;
use crate::error::Result;
use crate::formats::csr::Csr;
use crate::order::{Affine, LANES, PIECE, fold_lanes};
use crate::scalar::{Index, Scalar};
use crate::scale::Scale;
use sapwood_skeleton::math::Real;

/// [`crate::spmm`], slowly. The operands must fit together.
///
/// # Errors
/// [`crate::Error::Memory`].
pub fn spmm<V: Scalar, I: Index, P: Index, T: Real>(
    a: &Csr<V, I, P>,
    scale: Option<Scale<'_, T>>,
    x: &Block<T>,
    y: &Block<T>,
    how: Affine<T>,
) -> Result<Block<T>> {
    let row = |i: usize| {
        let entries = a.row(i).iter().zip(a.row_values(i));
        entries.map(|(j, v)| (j.to_usize(), v.to::<T>())).collect()
    };
    product(a.rows(), row, scale, x, y, how)
}

/// [`crate::spmm_transposed`], slowly. The operands must fit together.
///
/// # Errors
/// [`crate::Error::Memory`].
pub fn spmm_transposed<V: Scalar, I: Index, P: Index, T: Real>(
    a: &Csr<V, I, P>,
    scale: Option<Scale<'_, T>>,
    x: &Block<T>,
    y: &Block<T>,
    how: Affine<T>,
) -> Result<Block<T>> {
    let mut columns: Vec<Vec<(usize, T)>> = vec![Vec::new(); a.cols()];
    for i in 0..a.rows() {
        for (j, v) in a.row(i).iter().zip(a.row_values(i)) {
            columns[j.to_usize()].push((i, v.to()));
        }
    }
    product(a.cols(), |j| columns[j].clone(), scale.map(Scale::transposed), x, y, how)
}

/// The product of a matrix whose row i has the entries `row(i)`, as (column, value).
fn product<T: Real>(
    rows: usize,
    row: impl Fn(usize) -> Vec<(usize, T)>,
    scale: Option<Scale<'_, T>>,
    x: &Block<T>,
    y: &Block<T>,
    how: Affine<T>,
) -> Result<Block<T>> {
    let mut out = y.clone();
    for i in 0..rows {
        let entries = row(i);
        for q in 0..x.cols() {
            let terms: Vec<(T, T)> =
                entries.iter().map(|&(j, a)| (scale.map_or(a, |s| a * s.right[j]), x.row(j)[q])).collect();
            let mut sum = row_sum(&terms, x.cols() == 1);
            if let Some(s) = scale {
                sum = s.left[i] * sum;
                if !s.own.is_empty() {
                    sum = s.own[i].mul_add(x.row(i)[q], sum);
                }
            }
            how.write(sum, &mut out.row_mut(i)[q]);
        }
    }
    Ok(out)
}

/// The sum of (weight, operand) terms in the canonical order.
pub fn row_sum<T: Real>(terms: &[(T, T)], lanes: bool) -> T {
    let mut total = None;
    for piece in terms.chunks(PIECE) {
        let sum = if lanes {
            let mut l = [T::ZERO; LANES];
            for (p, &(w, x)) in piece.iter().enumerate() {
                l[p % LANES] = w.mul_add(x, l[p % LANES]);
            }
            fold_lanes(l)
        } else {
            piece.iter().fold(T::ZERO, |acc, &(w, x)| w.mul_add(x, acc))
        };
        total = Some(total.map_or(sum, |t: T| t + sum));
    }
    total.unwrap_or(T::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_ten_ones_shows_the_order() {
        let mut terms = vec![(1.0f32, 1.0f32); 10];
        terms[0].1 = 16_777_216.0;
        assert_eq!(row_sum(&terms, true), 16_777_224.0);
        assert_eq!(row_sum(&terms, false), 16_777_216.0);
    }

    #[test]
    fn long_rows_are_cut() {
        // 2^24, then ones: the first piece swallows its ones, the second piece adds up to 4096 first.
        let mut terms = vec![(1.0f32, 1.0f32); 2 * PIECE];
        terms[0].1 = 16_777_216.0;
        assert_eq!(row_sum(&terms, false), 16_777_216.0 + 4096.0);
    }
}
