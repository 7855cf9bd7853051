//! The canonical order of the sums inside a matrix row: the law behind "same bits". No kernel may add in another order.
//!
//! - The entries of a row are cut at positions that are multiples of [`PIECE`]. Each cut piece starts from +0; the sums
//!   of the pieces are added from left to right.
//! - **Serial** (dense operands of k ≥ 2 columns): `acc = fma(a, x, acc)` for ascending position. Each of the k columns
//!   is independent, so tiling over k changes nothing.
//! - **Lanes8** (k = 1, and dots over features): the entry at position p goes to lane p mod 8, and the sum of the piece
//!   is [`fold_lanes`].
//!
//! A row sum depends on the matrix and on whether k is 1, not on threads, blocks of work or instruction set.

use sapwood_skeleton::math::Real;

/// Positions at which long rows are cut: the L of the order.
pub const PIECE: usize = 4096;

/// Number of lanes of the Lanes8 order.
pub const LANES: usize = 8;

/// `((l0+l4)+(l2+l6)) + ((l1+l5)+(l3+l7))`.
#[inline(always)]
pub fn fold_lanes<T: Real>(l: [T; LANES]) -> T {
    ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

/// How a product meets its output: Y = α·(A·X) + β·Y, as `t = α·s; u = β·y; t + u`, each rounded.
///
/// β = 0 never reads Y; α = 1 and β = 0 skip their operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine<T> {
    /// Factor of the product.
    pub alpha: T,
    /// Factor of the old output.
    pub beta: T,
}

impl<T: Real> Affine<T> {
    /// Y = A·X.
    pub const SET: Affine<T> = Affine { alpha: T::ONE, beta: T::ZERO };
    /// Y = A·X + Y.
    pub const ADD: Affine<T> = Affine { alpha: T::ONE, beta: T::ONE };

    /// Writes the sum `s` of one output element over its old value.
    #[inline(always)]
    pub fn write(self, s: T, y: &mut T) {
        let t = if self.alpha == T::ONE { s } else { self.alpha * s };
        *y = if self.beta == T::ZERO { t } else { t + self.beta * *y };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_folded_in_halves() {
        // Values whose sum depends on the order of additions.
        let lanes = [16_777_216.0f32, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(fold_lanes(lanes), 16_777_224.0);
        assert_eq!(lanes.iter().sum::<f32>(), 16_777_220.0);
    }

    #[test]
    fn beta_zero_never_reads_the_output() {
        let mut y = f32::NAN;
        Affine::SET.write(2.0, &mut y);
        assert_eq!(y, 2.0);
        Affine { alpha: 3.0, beta: 0.5 }.write(1.0, &mut y);
        assert_eq!(y, 4.0);
        Affine::ADD.write(f32::INFINITY, &mut y);
        assert_eq!(y, f32::INFINITY);
    }
}
