//! Z = ÂH: each node gathers from its neighbours in the draw at hand. dH = ÂᵀG.

use super::{Backward, Cx, Layer, Needs, only, only_width};
use crate::Result;
use crate::cost::{Cost, Size, WORD};
use sapwood_graph::DrawKey;
use sapwood_sparse::{Block, Real};

/// Multiplication by Â of a layer. It has no parameters and saves nothing.
#[derive(Debug, Clone, Copy)]
pub struct Propagate {
    layer: u16,
}

impl Propagate {
    /// The propagation of layer number `layer`, from 1: where layers have draws of their own, it gathers along that of
    /// this number.
    pub fn new(layer: u16) -> Propagate {
        Propagate { layer }
    }
}

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

    fn propagation(&self) -> u16 {
        self.layer
    }

    /// One product with Â forward, one with Âᵀ backward if the gradient is wanted; where coordinates of messages get lost, a
    /// random word for each.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let width = size.input();
        let words = if size.on.messages { size.on.entries * width as f64 * WORD } else { 0.0 };
        let product = |read_first: f64| size.propagation(width, read_first).with_operations(words);
        Cost::new([product(0.0)], size.wanted(0).then(|| product(size.read_first(0))))
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let (operator, x) = (cx.drawn.operator(self.layer), only("propagate", inputs)?);
        match cx.drawn.messages {
            None => operator.apply(cx.exec, x, out)?,
            Some((graph, p)) => {
                let key = DrawKey { layer: self.layer, ..cx.key };
                operator.apply_messages(cx.exec, graph, (key, p), x, out)?;
            }
        }
        Ok(())
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let [Some((dx, how))] = step.into else { return Ok(()) };
        let operator = cx.drawn.operator(self.layer);
        match cx.drawn.messages {
            None => operator.apply_transposed_onto(cx.exec, step.grad, dx, *how)?,
            Some((graph, p)) => {
                let key = DrawKey { layer: self.layer, ..cx.key };
                operator.apply_messages_transposed_onto(cx.exec, graph, (key, p), step.grad, dx, *how)?;
            }
        }
        Ok(())
    }
}
