//! Groups of layers that several models are made of.

use super::{Builder, FEATURES};
use crate::Result;
use crate::layer::{
    Activation, BatchNorm, Dropout, Function, LayerNorm, Linear, PairNorm, Propagate, SparseLinear, Sum,
};
use crate::model::{NormLayer, Shape};
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

    /// Hidden layer number `layer`: dropout(ReLU(norm(convolution + b))).
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn hidden_convolution(&mut self, name: &str, input: &str, layer: u16, shape: &Shape) -> Result<String> {
        let z = self.convolution(name, input, layer, shape.hidden, shape.options.with_self)?;
        self.hidden_end(name, &z, Dropout::new(shape.dropout, layer)?, shape)
    }

    /// Hidden layer number `layer` without the graph: dropout(ReLU(norm(HW + b))).
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn hidden_linear(&mut self, name: &str, input: &str, layer: u16, shape: &Shape) -> Result<String> {
        let z = self.linear(name, input, shape.hidden, false)?;
        self.hidden_end(name, &z, Dropout::new(shape.dropout, layer)?, shape)
    }

    /// dropout(ReLU(norm(z + b))), the end of a hidden layer called `name`.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn hidden_end(&mut self, name: &str, z: &str, dropout: Dropout, shape: &Shape) -> Result<String> {
        self.hidden_end_with(name, Some(name), z, dropout, shape)
    }

    /// The end of a hidden layer called `name` whose bias is called after `bias`, if it has one.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn hidden_end_with(
        &mut self,
        name: &str,
        bias: Option<&str>,
        z: &str,
        dropout: Dropout,
        shape: &Shape,
    ) -> Result<String> {
        let mut activation = Activation::new(Function::Relu).with_dropout(dropout);
        let mut z = z.to_owned();
        match (bias, shape.options.norm_layer) {
            (None, _) => {}
            (Some(bias), NormLayer::None) => activation = activation.with_bias(bias, self.width(&z)?),
            (Some(bias), _) => z = self.bias(name, bias, &z)?,
        }
        let normed = self.norm(name, &z, shape.options.norm_layer)?;
        let end = self.push(format!("{name}.activation"), &[&normed], activation)?;
        self.mark_hidden();
        Ok(end)
    }

    /// The output layer, number `layer`: convolution + b.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn output_convolution(&mut self, name: &str, input: &str, layer: u16, shape: &Shape) -> Result<String> {
        let z = self.convolution(name, input, layer, shape.classes, shape.options.with_self)?;
        self.output_end(name, &z, shape)
    }

    /// The output layer without the graph: HW + b.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn output_linear(&mut self, name: &str, input: &str, shape: &Shape) -> Result<String> {
        if shape.options.norm_layer == NormLayer::Batch {
            let z = self.linear(name, input, shape.classes, false)?;
            return self.output_end(name, &z, shape);
        }
        self.linear(name, input, shape.classes, true)
    }

    /// z + b, the end of the output layer called `name`; with batch norms one more, as the DropEdge scripts have it.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn output_end(&mut self, name: &str, z: &str, shape: &Shape) -> Result<String> {
        self.output_end_with(name, name, z, shape)
    }

    /// The end of the output layer called `name` whose bias is called after `bias`.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn output_end_with(&mut self, name: &str, bias: &str, z: &str, shape: &Shape) -> Result<String> {
        let biased = self.bias(name, bias, z)?;
        match shape.options.norm_layer {
            NormLayer::Batch => self.norm(name, &biased, NormLayer::Batch),
            _ => Ok(biased),
        }
    }

    /// z + b, in a layer called after `name`; b is called after `bias`.
    fn bias(&mut self, name: &str, bias: &str, z: &str) -> Result<String> {
        let width = self.width(z)?;
        self.push(format!("{name}.biased"), &[z], Activation::new(Function::Identity).with_bias(bias, width))
    }

    /// A norm layer called after `name`.
    fn norm(&mut self, name: &str, z: &str, norm: NormLayer) -> Result<String> {
        let (width, name) = (self.width(z)?, format!("{name}.norm"));
        match norm {
            NormLayer::None => Ok(z.to_owned()),
            NormLayer::Batch => self.push(name.clone(), &[z], BatchNorm::new(&name, width)),
            NormLayer::Layer => self.push(name.clone(), &[z], LayerNorm::new(&name, width)),
            NormLayer::Pair => self.push(name, &[z], PairNorm),
        }
    }

    /// Whether `input` is a sparse X, which only a linear layer can read.
    pub fn reads_sparse(&self, input: &str) -> bool {
        input == FEATURES && self.features().sparse
    }
}
