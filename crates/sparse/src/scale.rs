//! Scaling that is fused into products: Â = diag(s) + diag(l)·A·diag(r), never built.
//!
//! A row of Y = Â·X is `t = Σ_j a_ij·r_j · x_j` in the canonical order with `fma(r_j, x_j, acc)` (a stored value is first
//! multiplied by r_j and rounded), then `y_i = fma(s_i, x_i, l_i·t)`. The transpose swaps l and r. For the graph
//! convolution of Kipf & Welling (2017), l = r = (deg + 1)^(−1/2) and s = 1/(deg + 1): no value and no self-loop is stored.

use crate::error::{Error, Result};
use sapwood_skeleton::math::Real;

/// The triple (s, l, r) of one scaled matrix.
#[derive(Debug, Clone, Copy)]
pub struct Scale<'a, T> {
    /// s: what a row keeps of its own operand row. Empty: nothing, and the matrix need not be square.
    pub own: &'a [T],
    /// l: one factor per row.
    pub left: &'a [T],
    /// r: one factor per column.
    pub right: &'a [T],
}

impl<'a, T: Real> Scale<'a, T> {
    /// The scale of the transpose.
    pub fn transposed(self) -> Scale<'a, T> {
        Scale { own: self.own, left: self.right, right: self.left }
    }

    /// Whether it fits a rows × cols matrix.
    pub(crate) fn check(self, (rows, cols): (usize, usize)) -> Result<()> {
        equal("the length of scale.left (the rows)", rows, self.left.len())?;
        equal("the length of scale.right (the columns)", cols, self.right.len())?;
        if self.own.is_empty() {
            return Ok(());
        }
        equal("the length of scale.own (the rows)", rows, self.own.len())?;
        equal("the columns of a matrix that keeps its own rows (scale.own)", rows, cols)
    }
}

/// `Ok` if a dimension is as it must be.
pub(crate) fn equal(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_are_checked_against_the_matrix() {
        let (two, three) = ([1.0f32; 2], [1.0f32; 3]);
        let rect = Scale { own: &[], left: &two, right: &three };
        assert!(rect.check((2, 3)).is_ok());
        assert!(rect.transposed().check((3, 2)).is_ok());
        assert!(rect.check((3, 2)).is_err());
        let own = Scale { own: &two, ..rect };
        let message = own.check((2, 3)).unwrap_err().to_string();
        assert_eq!(message, "the columns of a matrix that keeps its own rows (scale.own) must be 2, found 3");
    }
}
