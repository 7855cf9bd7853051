//! Pooling over all axes behind batch and channels.

use super::OnnxOp;
use crate::composites::{Given, Options};

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("GlobalAveragePool", |c| {
        let x = c.input(0)?;
        c.composite("global_average_pool", &[x], Options::none())
    }),
    OnnxOp::new("GlobalLpPool", |c| {
        let (x, order) = (c.input(0)?, c.int("p", 2)?);
        c.composite("global_lp_pool", &[x], Options::none().with("p", Given::Int(order)))
    }),
    OnnxOp::new("GlobalMaxPool", |c| {
        let x = c.input(0)?;
        c.composite("global_max_pool", &[x], Options::none())
    }),
];
