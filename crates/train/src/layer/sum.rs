//! Z = A + B + …: paths that meet, such as a convolution and its self weight. The gradient of each input is G.

use super::{Backward, Cx, InPlace, Layer, Needs, wrong};
use crate::Result;
use crate::cost::{Cost, Size};
use crate::rows;
use sapwood_sparse::{Block, Real};

/// The sum of its inputs, left to right. It works in place and saves nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum;

impl<T: Real> Layer<T> for Sum {
    fn kind(&self) -> &'static str {
        "sum"
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        match inputs {
            [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|w| w == first) => Ok(*first),
            _ => Err(wrong("sum", format!("needs two or more inputs of one width, got widths {inputs:?}"))),
        }
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn in_place(&self) -> InPlace {
        InPlace::Each
    }

    /// Each input but the first is added in a pass; backward passes G on.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let adds = size.inputs.iter().skip(1).map(|&width| size.pass(width, 3.0, 0.0));
        Cost::new(adds, [])
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        inputs.iter().try_for_each(|input| rows::add(cx.exec, out, input))
    }

    fn backward(&self, _step: Backward<'_, T>, _cx: &mut Cx<'_, T>) -> Result<()> {
        Ok(())
    }
}
