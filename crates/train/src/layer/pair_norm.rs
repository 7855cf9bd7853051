//! PairNorm (Zhao & Akoglu, ICLR 2020): the nodes are centred, then all are scaled by one factor so that their mean squared
//! length is 1, which keeps the pairs of nodes of a deep network apart. With C = X − 1·mean(X)ᵀ and q = ‖C‖² + ε:
//! Z = √n·C/√q, dX = √n/√q·(G − mean G − C·⟨G, C⟩/q).

use super::{Backward, Cx, Layer, Needs, only, only_width};
use crate::Result;
use crate::cost::{Cost, Size};
use crate::moments::{self, Moments, Slopes, centred, centred_back, gradient_sums};
use sapwood_sparse::{Block, Real};

/// Added to the squared length of all nodes.
const EPSILON: f64 = 1e-6;
const KIND: &str = "pair norm";

/// Pair norm with the scale 1. It has no parameters, and evaluation works as training does.
#[derive(Debug, Clone, Copy, Default)]
pub struct PairNorm;

/// √n/√q and q.
fn scale(moments: &Moments, rows: usize) -> (f64, f64) {
    let length = moments.squares.iter().sum::<f64>() + EPSILON;
    ((rows as f64 / length).sqrt(), length)
}

impl<T: Real> Layer<T> for PairNorm {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        only_width(KIND, inputs)
    }

    fn needs(&self) -> Needs {
        Needs { input: true, output: false }
    }

    /// As a batch norm in training; without a gradient to give there is no backward pass.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let width = size.input();
        let moments = moments::moments_cost(size, width);
        let backward = std::iter::once(moments).chain(moments::back_cost(size, width)).filter(|_| size.wanted(0));
        Cost::new([moments, moments::centred_cost(size, width)], backward)
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let x = only(KIND, inputs)?;
        let moments = Moments::of(cx.exec, x, cx.partials)?;
        let (factor, width) = (scale(&moments, x.rows()).0, x.cols());
        centred(cx.exec, x, &moments.mean, (&vec![factor; width], &vec![0.0; width]), out)
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let [Some((dx, how))] = step.into else { return Ok(()) };
        let x = only(KIND, step.inputs)?;
        let moments = Moments::of(cx.exec, x, cx.partials)?;
        let (factor, length) = scale(&moments, x.rows());
        let (sums, products) = gradient_sums(cx.exec, x, &moments.mean, step.grad, cx.partials)?;
        let pull = factor * products.iter().sum::<f64>() / length;
        let share = 1.0 / x.rows().max(1) as f64;
        let slopes = Slopes {
            factor: vec![factor; x.cols()],
            level: sums.iter().map(|sum| sum * share).collect(),
            pull: vec![pull; x.cols()],
            mean: moments.mean,
        };
        centred_back(cx.exec, x, step.grad, &slopes, (dx, *how))
    }
}
