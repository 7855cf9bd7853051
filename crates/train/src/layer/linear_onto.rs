//! Z += HW: one part of a linear layer on activations side by side, which are never put side by side.
//! [H₀ | H₁ | …]·W = H₀W₀ + H₁W₁ + …, W_l being the rows of W that meet H_l. dW_l = H_lᵀG, dH_l = GW_lᵀ, and Z passes G on.

use super::{Backward, Cx, InPlace, Layer, Needs, only, wrong};
use crate::Result;
use crate::cost::{Cost, Size};
use crate::parameter::Parameter;
use sapwood_sparse::{Affine, Block, Real, dense};

const KIND: &str = "linear onto";

/// A dense product added to its first input, in place; the second one is multiplied.
#[derive(Debug)]
pub struct LinearOnto<T: Real> {
    parameters: [Parameter<T>; 1],
}

impl<T: Real> LinearOnto<T> {
    /// The part called `name`, from `inputs` to `outputs` columns, of a layer of `whole` input columns: rules of
    /// initialisation see the matrix of the whole layer.
    pub fn new(name: &str, inputs: usize, outputs: usize, whole: usize) -> LinearOnto<T> {
        let mut weight = Parameter::weight(name, inputs, outputs);
        weight.fan = (whole, outputs);
        LinearOnto { parameters: [weight] }
    }

    fn weight(&self) -> &Block<T> {
        &self.parameters[0].value
    }
}

impl<T: Real> Layer<T> for LinearOnto<T> {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        let (rows, cols) = self.parameters[0].shape;
        if inputs == [cols, rows] {
            return Ok(cols);
        }
        Err(wrong(KIND, format!("adds {rows} columns times a weight to {cols} columns, got widths {inputs:?}")))
    }

    fn needs(&self) -> Needs {
        Needs { input: true, output: false }
    }

    fn in_place(&self) -> InPlace {
        InPlace::First
    }

    /// Forward HW, added. Backward HᵀG, and GWᵀ if it is wanted.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let (inputs, outputs) = self.parameters[0].shape;
        let dh = size.wanted(0).then(|| size.product(outputs, inputs, size.read_first(0)));
        Cost::new([size.product(inputs, outputs, 1.0)], size.weight_gradient(inputs, outputs).into_iter().chain(dh))
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        Ok(dense::gemm(cx.exec, Affine::ADD, only(KIND, inputs)?, self.weight(), out)?)
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        if let [dw] = step.weights {
            dense::gemm_at(cx.exec, Affine::SET, only(KIND, step.inputs)?, step.grad, dw)?;
        }
        match step.into {
            [Some((dh, how))] => Ok(dense::gemm_bt(cx.exec, *how, step.grad, self.weight(), dh)?),
            _ => Ok(()),
        }
    }

    fn parameters(&self) -> &[Parameter<T>] {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut [Parameter<T>] {
        &mut self.parameters
    }
}
