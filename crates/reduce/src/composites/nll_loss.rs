//! The negative log-likelihood of labels: −w[l] x[l] along the channels of x of shape [N, C, …], with labels of shape
//! [N, …]. A label equal to `ignore_index=` counts nothing; `reduction=` is 0 (none), 1 (the mean weighted by w, the default:
//! NaN if nothing counts) or 2 (the sum).

use super::{Composite, Options, floats, sum, wide};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::program::{Axes, Program, ValueId};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "nll_loss",
    summary: "(log-probabilities, labels, weights), the last optional: the loss, ignore_index=, reduction= 0 none, 1 mean, 2 sum",
    operands: (2, 3),
    lower: |p, x, o| {
        floats(p, "nll_loss", x[0])?;
        let (dtype, logs) = (p.dtype(x[0]), wide(p, x[0])?);
        let labelled = Labelled::new(p, "nll_loss", logs, x[1], x.get(2).copied(), o)?;
        let y = labelled.loss(p, logs)?;
        Ok(vec![p.cast(y, dtype)?])
    },
}];

/// What to do with the losses of single elements.
#[derive(Clone, Copy, PartialEq)]
enum Reduction {
    None,
    Mean,
    Sum,
}

/// Labels, and what each of them weighs.
pub(super) struct Labelled {
    /// Inside the channels, whatever was ignored.
    pub(super) labels: ValueId,
    /// 0 where the label is ignored; none if all weigh 1.
    pub(super) weights: Option<ValueId>,
    reduction: Reduction,
}

impl Labelled {
    /// Labels for x, which is wide, with a weight for each channel.
    pub(super) fn new(
        p: &mut Program,
        op: &str,
        x: ValueId,
        labels: ValueId,
        weights: Option<ValueId>,
        o: &mut Options,
    ) -> Result<Labelled> {
        let ignored = if o.has("ignore_index") { Some(o.int(op, "ignore_index", 0)?) } else { None };
        let reduction = match o.int(op, "reduction", 1)? {
            0 => Reduction::None,
            1 => Reduction::Mean,
            2 => Reduction::Sum,
            other => return Err(Error::value(op, format!("reduction is 0 (none), 1 (mean) or 2 (sum), not {other}"))),
        };
        let (kind, shape) = (p.dtype(labels), p.shape(x));
        if !kind.is_int() {
            return Err(Error::dtype(op, kind, " as labels: whole numbers"));
        }
        if shape.len() < 2 || p.shape(labels) != [&shape[..1], &shape[2..]].concat() {
            let message =
                format!("labels of shape {:?} for logits of shape {shape:?} with channels in axis 1", p.shape(labels));
            return Err(Error::shape(op, message));
        }
        let labels = p.cast(labels, if kind == Dtype::I32 { kind } else { Dtype::I64 })?;
        let mut all = Labelled { labels, weights: None, reduction };
        let ignored = ignored.map(|index| all.ignore(p, index)).transpose()?;
        all.weights = weights.map(|w| all.weigh(p, op, x, w)).transpose()?;
        if let Some(ignored) = ignored {
            let (zero, one) = (p.number(0.0, p.dtype(x))?, p.number(1.0, p.dtype(x))?);
            all.weights = Some(p.call("where", &[ignored, zero, all.weights.unwrap_or(one)])?);
        }
        Ok(all)
    }

    /// Puts 0 in the place of ignored labels; gives where they are.
    fn ignore(&mut self, p: &mut Program, index: i64) -> Result<ValueId> {
        let dtype = p.dtype(self.labels);
        let index = exactly(p, index, dtype)?;
        let ignored = p.call("eq", &[self.labels, index])?;
        let zero = exactly(p, 0, dtype)?;
        self.labels = p.call("where", &[ignored, zero, self.labels])?;
        Ok(ignored)
    }

    /// The weight of each label.
    fn weigh(&self, p: &mut Program, op: &str, x: ValueId, weights: ValueId) -> Result<ValueId> {
        let weights = wide(p, weights)?;
        let beside = super::normalise::channels(p, op, weights, x)?;
        let shape = p.shape(x).to_vec();
        let spread = p.broadcast(beside, &shape)?;
        p.gather_label(spread, self.labels, 1)
    }

    /// The loss for log-probabilities, which are wide.
    pub(super) fn loss(&self, p: &mut Program, logs: ValueId) -> Result<ValueId> {
        let picked = p.gather_label(logs, self.labels, 1)?;
        let mut terms = p.call("neg", &[picked])?;
        if let Some(weights) = self.weights {
            // What is ignored is 0, whatever its logarithm.
            let zero = p.number(0.0, p.dtype(logs))?;
            let is_ignored = p.call("eq", &[weights, zero])?;
            let weighted = p.call("mul", &[terms, weights])?;
            terms = p.call("where", &[is_ignored, zero, weighted])?;
        }
        if self.reduction == Reduction::None {
            return Ok(terms);
        }
        let total = sum(p, terms, &Axes::All, false)?;
        if self.reduction == Reduction::Sum {
            return Ok(total);
        }
        let weight = self.total_weight(p, logs)?;
        p.call("div", &[total, weight])
    }

    /// The sum of all weights.
    fn total_weight(&self, p: &mut Program, like: ValueId) -> Result<ValueId> {
        match self.weights {
            Some(weights) => sum(p, weights, &Axes::All, false),
            None => super::count(p, p.shape(self.labels).iter().product(), like),
        }
    }

    /// A gradient for each logit times its label's weight, and for the mean over all weights.
    pub(super) fn scaled(&self, p: &mut Program, mut gradient: ValueId) -> Result<ValueId> {
        if let Some(weights) = self.weights {
            let weights = self.along_channels(p, weights)?;
            gradient = p.call("mul", &[gradient, weights])?;
        }
        if self.reduction == Reduction::Mean {
            let total = self.total_weight(p, gradient)?;
            gradient = p.call("div", &[gradient, total])?;
        }
        Ok(gradient)
    }

    /// A value of the labels' shape beside x.
    pub(super) fn along_channels(&self, p: &mut Program, v: ValueId) -> Result<ValueId> {
        let shape = p.shape(v);
        let beside = [&shape[..1], &[1], &shape[1..]].concat();
        p.reshape(v, &beside)
    }
}

/// A whole number of type i32 or i64.
fn exactly(p: &mut Program, value: i64, dtype: Dtype) -> Result<ValueId> {
    if dtype == Dtype::I64 {
        return p.constant(crate::tensor::Tensor::from_slice(dtype, &[], &[value])?);
    }
    let fits = i32::try_from(value).map_err(|_| Error::value("ignore_index", format!("{value} is no {dtype}")))?;
    p.constant(crate::tensor::Tensor::from_slice(dtype, &[], &[fits])?)
}
