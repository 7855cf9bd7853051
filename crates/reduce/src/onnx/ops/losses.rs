//! Losses of labels.

use super::{Call, OnnxOp};
use crate::composites::{Given, Options};
use crate::error::{Error, Result};
use crate::program::ValueId;

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("NegativeLogLikelihoodLoss", |c| loss(c, "nll_loss")),
    OnnxOp::new("SoftmaxCrossEntropyLoss", |c| loss(c, "cross_entropy")),
];

fn loss(c: &mut Call<'_>, name: &str) -> Result<Vec<ValueId>> {
    let mut operands = vec![c.input(0)?, c.input(1)?];
    operands.extend(c.optional(2));
    let reduction = match c.attributes.text("reduction")?.unwrap_or("mean") {
        "none" => 0,
        "mean" => 1,
        "sum" => 2,
        other => return Err(Error::value(name, format!("reduction '{other}': none, mean or sum"))),
    };
    let mut options = Options::none().with("reduction", Given::Int(reduction));
    if let Some(index) = c.attributes.int("ignore_index")? {
        options = options.with("ignore_index", Given::Int(index));
    }
    c.composite(name, &operands, options)
}
