//! Z = XW + 1bᵀ for the sparse features X of the data set, which are never densified. dW = XᵀG, db = column sums of G;
//! X itself gets no gradient.

use super::{Backward, Cx, Layer, Needs, wrong};
use crate::Result;
use crate::cost::{Cost, Size};
use crate::features::SparseFeatures;
use crate::parameter::Parameter;
use crate::rows;
use sapwood_sparse::{Block, Real};

/// A linear layer on sparse features, with or without a bias. Its input is X of the pass.
#[derive(Debug)]
pub struct SparseLinear<T: Real> {
    parameters: Vec<Parameter<T>>,
}

impl<T: Real> SparseLinear<T> {
    /// The layer called `name`, from `inputs` features to `outputs` columns.
    pub fn new(name: &str, inputs: usize, outputs: usize, bias: bool) -> SparseLinear<T> {
        let mut parameters = vec![Parameter::weight(name, inputs, outputs)];
        if bias {
            parameters.push(Parameter::bias(name, outputs));
        }
        SparseLinear { parameters }
    }

    fn features<'a>(cx: &Cx<'a, T>) -> Result<&'a SparseFeatures<T>> {
        cx.features.sparse().ok_or_else(|| wrong("sparse linear", "the features of this pass are dense"))
    }
}

impl<T: Real> Layer<T> for SparseLinear<T> {
    fn kind(&self) -> &'static str {
        "sparse linear"
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        if inputs.is_empty() {
            Ok(self.parameters[0].shape.1)
        } else {
            Err(wrong("sparse linear", "reads X, no layer"))
        }
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Forward XW gathers rows of W; backward XᵀG gathers rows of G.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let ((inputs, outputs), n) = (self.parameters[0].shape, size.on.rows);
        let entries = size.on.feature_entries.unwrap_or_default();
        let bias = self.parameters.len() > 1;
        let forward = [size.feature_product(entries, (n, inputs), outputs)].into_iter();
        let backward = [size.feature_product(entries, (inputs, n), outputs)].into_iter();
        Cost::new(
            forward.chain(bias.then(|| size.pass(outputs, 2.0, 0.0))),
            backward.chain(bias.then(|| size.column_sums(outputs))),
        )
    }

    fn forward(&self, _inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        Self::features(cx)?.times(cx.exec, &self.parameters[0].value, out)?;
        match self.parameters.get(1) {
            Some(bias) => rows::add_row(cx.exec, out, bias.value.as_slice()),
            None => Ok(()),
        }
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        Self::features(cx)?.transposed_times(cx.exec, step.grad, &mut step.weights[0])?;
        if let Some(db) = step.weights.get_mut(1) {
            rows::column_sums(cx.exec, step.grad, cx.partials, db.as_mut_slice())?;
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
