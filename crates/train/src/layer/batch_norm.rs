//! y = γ·(x − m)/√(v + ε) + β by columns (Ioffe & Szegedy, ICML 2015), m and v the mean and the biased variance over all
//! nodes; in evaluation the running ones. With x̂ = (x − m)/√(v + ε):
//! dx = γ/√(v + ε)·(G − mean G − x̂·mean(G ∘ x̂)), dγ = Σ G ∘ x̂, dβ = Σ G.
//!
//! Forward changes nothing, so that running it again changes nothing either: backward hands m and the unbiased variance (of
//! one node: the biased one) to the optimiser's step as if they were gradients of the running values.

use super::{Backward, Cx, Layer, Mode, Needs, only, only_width, wrong};
use crate::Result;
use crate::cost::{Cost, Size};
use crate::moments::{self, Moments, Slopes, centred, centred_back, gradient_sums};
use crate::parameter::{Parameter, Role};
use sapwood_sparse::{Block, Real};

/// Added to a variance before its root is taken.
const EPSILON: f64 = 1e-5;
const KIND: &str = "batch norm";

/// Batch norm over the nodes, with gain, shift and running values.
#[derive(Debug)]
pub struct BatchNorm<T: Real> {
    parameters: [Parameter<T>; 4],
}

impl<T: Real> BatchNorm<T> {
    /// The layer called `name` for `width` columns. Its parameters are `weight`, `bias`, `running_mean`, `running_var`.
    pub fn new(name: &str, width: usize) -> BatchNorm<T> {
        let row = |last: &str, role| Parameter::new(format!("{name}.{last}"), role, 1, width);
        BatchNorm {
            parameters: [
                row("weight", Role::Gain),
                row("bias", Role::Shift),
                row("running_mean", Role::Mean),
                row("running_var", Role::Variance),
            ],
        }
    }

    /// Value of parameter `number` in double precision.
    fn row(&self, number: usize) -> Vec<f64> {
        self.parameters[number].value.as_slice().iter().map(|v| v.to_f64()).collect()
    }

    /// Mean, biased and unbiased variance of each column of a pass; in evaluation the running ones.
    fn statistics(&self, x: &Block<T>, cx: &mut Cx<'_, T>) -> Result<Statistics> {
        if cx.mode == Mode::Evaluate {
            return Ok(Statistics { mean: self.row(2), biased: self.row(3), unbiased: self.row(3) });
        }
        let Moments { mean, squares } = Moments::of(cx.exec, x, cx.partials)?;
        let n = x.rows().max(1) as f64;
        let over = |divisor: f64| squares.iter().map(|s| s / divisor).collect();
        Ok(Statistics { mean, biased: over(n), unbiased: over(if n > 1.0 { n - 1.0 } else { 1.0 }) })
    }
}

struct Statistics {
    mean: Vec<f64>,
    biased: Vec<f64>,
    unbiased: Vec<f64>,
}

impl Statistics {
    /// 1/√(v + ε).
    fn inverse(&self) -> impl Iterator<Item = f64> + '_ {
        self.biased.iter().map(|v| 1.0 / (v + EPSILON).sqrt())
    }
}

impl<T: Real> Layer<T> for BatchNorm<T> {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        let (width, own) = (only_width(KIND, inputs)?, self.parameters[0].shape.1);
        if width == own { Ok(own) } else { Err(wrong(KIND, format!("is for {own} columns, the input has {width}"))) }
    }

    fn needs(&self) -> Needs {
        Needs { input: true, output: false }
    }

    /// Forward: means and variances, then the pass that centres. Backward: these again, sums of G, and the pass that makes
    /// dx. In evaluation the first falls away.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let (width, train) = (size.input(), size.mode == Mode::Train);
        let moments = train.then(|| moments::moments_cost(size, width));
        let backward = moments::back_cost(size, width);
        Cost::new(moments.into_iter().chain([moments::centred_cost(size, width)]), moments.into_iter().chain(backward))
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let x = only(KIND, inputs)?;
        let statistics = self.statistics(x, cx)?;
        let factor: Vec<f64> = self.row(0).iter().zip(statistics.inverse()).map(|(gain, inv)| gain * inv).collect();
        centred(cx.exec, x, &statistics.mean, (&factor, &self.row(1)), out)
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let x = only(KIND, step.inputs)?;
        let statistics = self.statistics(x, cx)?;
        let (sums, products) = gradient_sums(cx.exec, x, &statistics.mean, step.grad, cx.partials)?;
        // Running values do not depend on x.
        let share = if cx.mode == Mode::Train { 1.0 / x.rows().max(1) as f64 } else { 0.0 };
        let factor: Vec<f64> = self.row(0).iter().zip(statistics.inverse()).map(|(gain, inv)| gain * inv).collect();
        let pull = factor.iter().zip(statistics.inverse()).zip(products).map(|((f, inv), p)| f * inv * inv * p * share);
        let slopes = Slopes {
            pull: pull.collect(),
            level: sums.iter().map(|sum| sum * share).collect(),
            mean: statistics.mean.clone(),
            factor,
        };
        if let [gain, shift, mean, variance] = step.weights {
            let set = |row: &mut Block<T>, values: &mut dyn Iterator<Item = f64>| {
                row.as_mut_slice().iter_mut().zip(values).for_each(|(w, v)| *w = T::from_f64(v));
            };
            set(gain, &mut products.iter().zip(statistics.inverse()).map(|(p, inverse)| p * inverse));
            set(shift, &mut sums.iter().copied());
            set(mean, &mut statistics.mean.iter().copied());
            set(variance, &mut statistics.unbiased.iter().copied());
        }
        match step.into {
            [Some((dx, how))] => centred_back(cx.exec, x, step.grad, &slopes, (dx, *how)),
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
