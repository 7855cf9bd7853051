//! Z = HW + 1bᵀ. dW = HᵀG (fixed blocks of 256 nodes, partials added in the fixed tree), db = column sums of G,
//! dH = GWᵀ.

use super::{Backward, Cx, Layer, Needs, only, only_width, wrong};
use crate::Result;
use crate::cost::{Cost, Size};
use crate::parameter::Parameter;
use crate::rows;
use sapwood_sparse::{Affine, Block, Real, dense};

/// A dense linear layer, with or without a bias.
#[derive(Debug)]
pub struct Linear<T: Real> {
    parameters: Vec<Parameter<T>>,
}

impl<T: Real> Linear<T> {
    /// The layer called `name`, from `inputs` to `outputs` columns.
    pub fn new(name: &str, inputs: usize, outputs: usize, bias: bool) -> Linear<T> {
        let mut parameters = vec![Parameter::weight(name, inputs, outputs)];
        if bias {
            parameters.push(Parameter::bias(name, outputs));
        }
        Linear { parameters }
    }

    /// The same as a part of a layer of `whole` input columns: rules of initialisation see the whole layer.
    #[must_use]
    pub fn part_of(mut self, whole: usize) -> Linear<T> {
        self.parameters.iter_mut().take(1).for_each(|weight| weight.fan.0 = whole);
        self
    }

    fn weight(&self) -> &Block<T> {
        &self.parameters[0].value
    }
}

impl<T: Real> Layer<T> for Linear<T> {
    fn kind(&self) -> &'static str {
        "linear"
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        let width = only_width("linear", inputs)?;
        let (inputs, outputs) = self.parameters[0].shape;
        if width != inputs {
            return Err(wrong("linear", format!("has a weight for {inputs} columns, the input has {width}")));
        }
        Ok(outputs)
    }

    fn needs(&self) -> Needs {
        Needs { input: true, output: false }
    }

    /// Forward HW, and the bias in a pass of its own. Backward HᵀG, the sums of G, and GWᵀ if it is wanted.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let (inputs, outputs) = self.parameters[0].shape;
        let bias = self.parameters.len() > 1;
        let forward = [size.product(inputs, outputs, 0.0)].into_iter();
        let dw = size.weight_gradient(inputs, outputs).into_iter();
        let db = bias.then(|| size.column_sums(outputs));
        let dh = size.wanted(0).then(|| size.product(outputs, inputs, size.read_first(0)));
        Cost::new(forward.chain(bias.then(|| size.pass(outputs, 2.0, 0.0))), dw.chain(db).chain(dh))
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        dense::gemm(cx.exec, Affine::SET, only("linear", inputs)?, self.weight(), out)?;
        match self.parameters.get(1) {
            Some(bias) => rows::add_row(cx.exec, out, bias.value.as_slice()),
            None => Ok(()),
        }
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        dense::gemm_at(cx.exec, Affine::SET, only("linear", step.inputs)?, step.grad, &mut step.weights[0])?;
        if let Some(db) = step.weights.get_mut(1) {
            rows::column_sums(cx.exec, step.grad, cx.partials, db.as_mut_slice())?;
        }
        if let [Some((dx, how))] = step.into {
            dense::gemm_bt(cx.exec, *how, step.grad, self.weight(), dx)?;
        }
        Ok(())
    }

    fn parameters(&self) -> &[Parameter<T>] {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut [Parameter<T>] {
        &mut self.parameters
    }
}
