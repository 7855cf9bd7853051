//! Z = aA + bB with constants a and b: what a node keeps of its start, or how much a weight counts. The gradients are aG
//! and bG.

use super::{Backward, Cx, InPlace, Layer, Needs, only, wrong};
use crate::Result;
use crate::cost::{Cost, Size};
use crate::rows;
use sapwood_sparse::{Block, Real};

const KIND: &str = "combine";

/// A weighted sum of two inputs, in the block of the first; it saves nothing.
#[derive(Debug, Clone, Copy)]
pub struct Combine {
    first: f64,
    second: f64,
}

impl Combine {
    /// `first` times the first input plus `second` times the second.
    pub fn new(first: f64, second: f64) -> Combine {
        Combine { first, second }
    }
}

impl<T: Real> Layer<T> for Combine {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        match inputs {
            [a, b] if a == b => Ok(*a),
            _ => Err(wrong(KIND, format!("needs two inputs of one width, got widths {inputs:?}"))),
        }
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn in_place(&self) -> InPlace {
        InPlace::First
    }

    /// Forward reads both inputs and writes one. Backward scales G in place, and into the gradient of the second input.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let width = size.input();
        let other = size.wanted(0).then(|| size.pass(width, 2.0 + size.read_first(0), 0.0));
        Cost::new([size.pass(width, 3.0, 0.0)], other.into_iter().chain([size.pass(width, 2.0, 0.0)]))
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let (a, b, other) = (T::from_f64(self.first), T::from_f64(self.second), only(KIND, inputs)?.as_slice());
        rows::for_tiles(cx.exec, out, false, |tile| {
            let other = &other[tile.first..tile.first + tile.values.len()];
            rows::zip(tile.values, other, |x, &y| *x = a.mul_add(*x, b * y));
            Ok(())
        })
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let (a, b) = (T::from_f64(self.first), T::from_f64(self.second));
        if let [Some((dx, how))] = step.into {
            let (grad, how) = (step.grad.as_slice(), *how);
            rows::for_tiles(cx.exec, dx, false, |tile| {
                let grad = &grad[tile.first..tile.first + tile.values.len()];
                rows::zip(tile.values, grad, |x, &g| how.write(b * g, x));
                Ok(())
            })?;
        }
        rows::for_tiles(cx.exec, step.grad, false, |tile| {
            rows::each(tile.values, |g| *g = a * *g);
            Ok(())
        })
    }
}
