//! Z_ik = the largest H_jk over the in-neighbours j of node i that survive the draw, the node itself not among them; 0 for a
//! node without any. The gradient goes to the neighbour that had it, of equal ones to that with the smallest number.
//!
//! Only Â's pattern counts, not its values. Backward finds the winners again, in the storage of the pass.

use super::{Backward, Cx, Layer, Needs, only, only_width};
use crate::cost::{Cost, Size};
use crate::{Error, Result};
use sapwood_sparse::{Block, Real};

const KIND: &str = "neighbour max";

/// The largest value of each coordinate among the neighbours. It has no parameters.
#[derive(Debug, Clone, Copy)]
pub struct NeighbourMax {
    layer: u16,
}

impl NeighbourMax {
    /// Propagation number `layer`, from 1: where propagations have draws of their own, along that of this number.
    pub fn new(layer: u16) -> NeighbourMax {
        NeighbourMax { layer }
    }

    /// A lost coordinate has no value that could be the largest.
    fn check<T: Real>(cx: &Cx<'_, T>) -> Result<()> {
        match cx.drawn.messages {
            None => Ok(()),
            Some(_) => Err(Error::Settings(
                "--sampler dropmessage scales sums of messages, of which --aggregator max has none; use --aggregator mean or another --sampler".into(),
            )),
        }
    }
}

impl<T: Real> Layer<T> for NeighbourMax {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        only_width(KIND, inputs)
    }

    fn needs(&self) -> Needs {
        Needs { input: true, output: false }
    }

    fn propagation(&self) -> u16 {
        self.layer
    }

    fn chooses(&self) -> bool {
        true
    }

    /// Forward gathers H. Backward gathers it again, then G and the nodes chosen, 4 bytes each.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let width = size.input();
        let forward = size.propagation(width, 0.0);
        // Comparing and choosing in place of one multiply-add.
        let compare = size.on.entries * width as f64 * 2.0;
        let choose = forward.with_operations(compare).with_streamed(size.on.rows as f64 * width as f64 * 4.0);
        let mut back = size.propagation(width, size.read_first(0)).with_operations(compare);
        back.gathered.row_bytes += width as f64 * 4.0;
        back.gathered.operand_bytes += size.on.rows as f64 * width as f64 * 4.0;
        let backward = [choose, back].into_iter().filter(|_| size.wanted(0));
        Cost::new([forward.with_operations(compare)], backward)
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        Self::check(cx)?;
        Ok(cx.drawn.operator(self.layer).largest(cx.exec, only(KIND, inputs)?, out)?)
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        Self::check(cx)?;
        let [Some((dx, how))] = step.into else { return Ok(()) };
        let (operator, x) = (cx.drawn.operator(self.layer), only(KIND, step.inputs)?);
        Ok(operator.largest_transposed_onto(cx.exec, x, step.grad, cx.chosen, dx, *how)?)
    }
}
