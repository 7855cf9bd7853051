//! The k largest or smallest elements.

use super::{Call, OnnxOp};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::monoids::{self, Params};
use crate::program::{Axes, ValueId};
use crate::tensor::Tensor;

pub(super) static OPS: &[OnnxOp] = &[OnnxOp::new("TopK", topk).knowing(&[1])];

/// k was an attribute before version 10. Unsorted results are sorted ones too.
fn topk(c: &mut Call<'_>) -> Result<Vec<ValueId>> {
    let (x, axis) = (c.input(0)?, c.int("axis", -1)?);
    let k = match c.ints(1)? {
        Some(list) if list.len() == 1 => list[0],
        Some(list) => return Err(Error::value("topk", format!("k is one number, {} are given", list.len()))),
        None => c.attributes.int("k")?.ok_or_else(|| Error::value("topk", "k is missing"))?,
    };
    let k = usize::try_from(k).map_err(|_| Error::value("topk", format!("k = {k} is no count")))?;
    let axes = Axes::These(vec![axis]);
    if k == 0 {
        let mut shape = c.shape(x);
        let axis = axes.resolve("topk", shape.len())?[0];
        shape[axis] = 0;
        let empty = |dtype| Tensor::zeros(dtype, &shape);
        let (values, indices) = (empty(c.dtype(x))?, empty(Dtype::I64)?);
        return Ok(vec![c.p.constant(values)?, c.p.constant(indices)?]);
    }
    let op = monoids::find("topk").ok_or_else(|| Error::value("topk", "there is no such operation"))?;
    let params = Params { k, smallest: !c.flag("largest", true)?, ..Params::default() };
    c.p.reduce(op, params, x, &axes, false)
}
