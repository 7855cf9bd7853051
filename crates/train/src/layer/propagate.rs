//! Z = ÂH: each node gathers from its neighbours in the draw at hand. dH = ÂᵀG.

use super::{Backward, Cx, Layer, Needs, only, only_width};
use crate::Result;
use sapwood_sparse::{Block, Real};

/// Multiplication by Â of the pass. It has no parameters and saves nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Propagate;

impl<T: Real> Layer<T> for Propagate {
    fn kind(&self) -> &'static str {
        "propagate"
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        only_width("propagate", inputs)
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        cx.operator.apply(cx.exec, only("propagate", inputs)?, out)?;
        Ok(())
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        if let [Some((dx, how))] = step.into {
            cx.operator.apply_transposed_onto(cx.exec, step.grad, dx, *how)?;
        }
        Ok(())
    }
}
