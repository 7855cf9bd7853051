//! Groups of layers that several models are made of.

use super::{Builder, FEATURES};
use crate::Result;
use crate::layer::{Activation, Dropout, Function, Linear, Propagate, SparseLinear, Sum};
use crate::number::Number;

impl<T: Number> Builder<T> {
    /// HW [+ b]: a linear layer called `name`, sparse where it reads a sparse X.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn linear(&mut self, name: &str, input: &str, outputs: usize, bias: bool) -> Result<String> {
        let inputs = self.width(input)?;
        if self.reads_sparse(input) {
            self.push(name, &[input], SparseLinear::new(name, inputs, outputs, bias))
        } else {
            self.push(name, &[input], Linear::new(name, inputs, outputs, bias))
        }
    }

    /// ÂHW [+ HW_s] of layer number `layer`, without the bias: Â(HW) if the output is no wider than the input, else (ÂH)W.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn convolution(
        &mut self,
        name: &str,
        input: &str,
        layer: u16,
        outputs: usize,
        with_self: bool,
    ) -> Result<String> {
        let multiply_first = self.reads_sparse(input) || outputs <= self.width(input)?;
        let (linear, propagate) = (format!("{name}.lin"), format!("{name}.propagate"));
        let out = if multiply_first {
            let product = self.linear(&linear, input, outputs, false)?;
            self.push(propagate, &[&product], Propagate::new(layer))?
        } else {
            let gathered = self.push(propagate, &[input], Propagate::new(layer))?;
            self.linear(&linear, &gathered, outputs, false)?
        };
        if !with_self {
            return Ok(out);
        }
        let own = self.linear(&format!("{name}.self"), input, outputs, false)?;
        self.push(format!("{name}.sum"), &[&out, &own], Sum)
    }

    /// dropout(ReLU(z + b)), the end of hidden layer number `layer` called `name`.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn hidden_end(&mut self, name: &str, input: &str, layer: u16, dropout: f64) -> Result<String> {
        let width = self.width(input)?;
        let activation =
            Activation::new(Function::Relu).with_bias(name, width).with_dropout(Dropout::new(dropout, layer)?);
        self.push(format!("{name}.activation"), &[input], activation)
    }

    /// z + b, the end of the output layer called `name`.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn output_end(&mut self, name: &str, input: &str) -> Result<String> {
        let width = self.width(input)?;
        self.push(format!("{name}.logits"), &[input], Activation::new(Function::Identity).with_bias(name, width))
    }

    fn reads_sparse(&self, input: &str) -> bool {
        input == FEATURES && self.features().sparse
    }
}
