//! Conversion to another type.

use super::OnnxOp;
use crate::error::Error;
use crate::onnx::tensors;

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("Cast", |c| {
        let to = c.attributes.int("to")?.ok_or_else(|| Error::value("to", "the attribute is missing"))?;
        let to = tensors::dtype("the attribute to", i32::try_from(to).unwrap_or(-1))?;
        let x = c.input(0)?;
        Ok(vec![c.p.cast(x, to)?])
    }),
    OnnxOp::new("CastLike", |c| {
        let (x, like) = (c.input(0)?, c.input(1)?);
        Ok(vec![c.p.cast(x, c.dtype(like))?])
    }),
];
