//! The cross entropy of the softmax of logits and labels: `nll_loss` of `log_softmax` along the channels of x of shape
//! [N, C, …]; and its backward pass (softmax − onehot) · weight.

use super::hardmax::at_index;
use super::log_softmax::log_softmax;
use super::nll_loss::Labelled;
use super::{Composite, Options, floats, wide};
use crate::error::Result;
use crate::program::{Program, ValueId};

pub(super) static OPS: &[Composite] = &[
    Composite {
        name: "cross_entropy",
        summary: "(logits, labels, weights), the last optional: the loss and the log-probabilities, ignore_index=, reduction= \
                  0 none, 1 mean, 2 sum",
        operands: (2, 3),
        lower: |p, x, o| {
            let op = "cross_entropy";
            floats(p, op, x[0])?;
            let (dtype, logits) = (p.dtype(x[0]), wide(p, x[0])?);
            let labelled = Labelled::new(p, op, logits, x[1], x.get(2).copied(), o)?;
            let logs = log_softmax(p, logits, 1)?;
            let loss = labelled.loss(p, logs)?;
            Ok(vec![p.cast(loss, dtype)?, p.cast(logs, dtype)?])
        },
    },
    Composite {
        name: "cross_entropy_grad",
        summary: "(logits, labels, weights), the last optional: the gradient of the logits for a loss gradient of 1, \
                  ignore_index=, reduction=",
        operands: (2, 3),
        lower: |p, x, o| Ok(vec![cross_entropy_grad(p, "cross_entropy_grad", x, o)?]),
    },
];

fn cross_entropy_grad(p: &mut Program, op: &str, x: &[ValueId], o: &mut Options) -> Result<ValueId> {
    floats(p, op, x[0])?;
    let (dtype, logits) = (p.dtype(x[0]), wide(p, x[0])?);
    let labelled = Labelled::new(p, op, logits, x[1], x.get(2).copied(), o)?;
    let probabilities = super::softmax::softmax(p, logits, 1)?;
    let shape = p.shape(logits).to_vec();
    let labels = labelled.along_channels(p, labelled.labels)?;
    let is_label = at_index(p, labels, &shape, 1)?;
    let onehot = p.cast(is_label, p.dtype(logits))?;
    let difference = p.call("sub", &[probabilities, onehot])?;
    let gradient = labelled.scaled(p, difference)?;
    p.cast(gradient, dtype)
}
