//! 1 at the first largest element along an axis, 0 elsewhere.

use super::{Composite, floats};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::monoids::{ARGMAX, Params};
use crate::program::{Axes, Program, ValueId, resolve_axis};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "hardmax",
    summary: "1 at the first largest element along axis= (default -1), else 0",
    operands: (1, 1),
    lower: |p, x, o| {
        let axis = o.int("hardmax", "axis", -1)?;
        floats(p, "hardmax", x[0])?;
        let own = resolve_axis("hardmax", axis, p.shape(x[0]).len())?;
        if p.shape(x[0])[own] == 0 {
            return Ok(vec![x[0]]);
        }
        let place = p.reduce(&ARGMAX, Params::default(), x[0], &Axes::These(vec![axis]), true)?[0];
        let (dtype, shape) = (p.dtype(x[0]), p.shape(x[0]).to_vec());
        let is_there = at_index(p, place, &shape, axis)?;
        Ok(vec![p.cast(is_there, dtype)?])
    },
}];

/// Whether the index along `axis` of a tensor of `shape` is that of `index`, which has extent 1 there.
pub(super) fn at_index(p: &mut Program, index: ValueId, shape: &[usize], axis: i64) -> Result<ValueId> {
    let places = p.iota(Dtype::I64, shape, axis)?;
    let index = p.cast(index, Dtype::I64)?;
    p.call("eq", &[places, index])
}
