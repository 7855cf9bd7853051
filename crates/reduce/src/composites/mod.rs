//! Composite operations: one file each (its lowering and, where training needs it, its backward pass), one line in [`ALL`].
//!
//! A composite is lowered to primitives when it is added to a program; nothing after that knows of it. Inside, half
//! precision is computed in single precision (`wide`) and rounded once at the end.

mod batch_norm;
mod bias_grad;
mod cross_entropy;
mod entropy;
mod global_average_pool;
mod global_lp_pool;
mod global_max_pool;
mod group_norm;
mod hardmax;
mod instance_norm;
mod l1;
mod l2;
mod layer_norm;
mod log_softmax;
mod logsum;
mod logsumexp;
mod lp_norm;
mod mean;
mod mean_variance_norm;
mod moments;
mod mse;
mod nll_loss;
mod normalise;
mod options;
mod rms_norm;
mod softmax;
mod sumsq;

pub use options::{Given, Options};

use crate::dtype::{Dtype, Scalar};
use crate::error::{Error, Result};
use crate::monoids::{Params, SUM};
use crate::program::{Axes, Program, ValueId};

/// A composite operation.
pub struct Composite {
    /// Name in programs.
    pub name: &'static str,
    /// One sentence, with the names of its options.
    pub summary: &'static str,
    /// Least and largest number of operands.
    pub operands: (usize, usize),
    /// Adds its primitives to a program and gives its results.
    pub lower: fn(&mut Program, &[ValueId], &mut Options) -> Result<Vec<ValueId>>,
}

impl std::fmt::Debug for Composite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every composite, file by file.
pub static ALL: &[&[Composite]] = &[
    batch_norm::OPS,
    bias_grad::OPS,
    cross_entropy::OPS,
    entropy::OPS,
    global_average_pool::OPS,
    global_lp_pool::OPS,
    global_max_pool::OPS,
    group_norm::OPS,
    hardmax::OPS,
    instance_norm::OPS,
    l1::OPS,
    l2::OPS,
    layer_norm::OPS,
    log_softmax::OPS,
    logsum::OPS,
    logsumexp::OPS,
    lp_norm::OPS,
    mean::OPS,
    mean_variance_norm::OPS,
    moments::OPS,
    mse::OPS,
    nll_loss::OPS,
    rms_norm::OPS,
    softmax::OPS,
    sumsq::OPS,
];

/// The composite called `name`.
pub fn find(name: &str) -> Option<&'static Composite> {
    ALL.iter().flat_map(|file| file.iter()).find(|c| c.name == name)
}

impl Program {
    /// Adds the composite called `name`.
    ///
    /// # Errors
    /// [`Error::Value`] for an unknown name, a wrong number of operands or an option that it does not have; what lowering says.
    pub fn composite(&mut self, name: &str, operands: &[ValueId], mut options: Options) -> Result<Vec<ValueId>> {
        let op = find(name).ok_or_else(|| Error::value(name, "there is no such operation"))?;
        let (least, most) = op.operands;
        if operands.len() < least || operands.len() > most {
            let takes = if least == most { format!("{least}") } else { format!("{least} to {most}") };
            return Err(Error::value(name, format!("takes {takes} operands, {} are given", operands.len())));
        }
        let results = (op.lower)(self, operands, &mut options)?;
        options.finish(name)?;
        Ok(results)
    }
}

/// The value in the type that accumulates it: f32 for half precision.
fn wide(p: &mut Program, v: ValueId) -> Result<ValueId> {
    match p.dtype(v) {
        Dtype::F16 | Dtype::Bf16 => p.cast(v, Dtype::F32),
        _ => Ok(v),
    }
}

/// Refuses anything but floats.
fn floats(p: &Program, op: &str, v: ValueId) -> Result<()> {
    if p.dtype(v).is_float() { Ok(()) } else { Err(Error::dtype(op, p.dtype(v), ": floating-point numbers")) }
}

/// n as a number of the type of `like`, rounded to it.
fn count(p: &mut Program, n: usize, like: ValueId) -> Result<ValueId> {
    let dtype = p.dtype(like);
    debug_assert_ne!(dtype.scalar(), Scalar::Bool);
    p.number(n as f64, dtype)
}

/// Number of elements that a reduction of `axes` meets in one group.
fn reduced_count(p: &Program, op: &str, x: ValueId, axes: &Axes) -> Result<usize> {
    let shape = p.shape(x);
    Ok(axes.resolve(op, shape.len())?.iter().map(|&a| shape[a]).product())
}

/// A reduction over `axes=` with `keep=`: `f` on the wide value, rounded to the type of x.
fn over_axes(
    p: &mut Program,
    op: &str,
    x: ValueId,
    o: &mut Options,
    f: fn(&mut Program, ValueId, &Axes, bool) -> Result<ValueId>,
) -> Result<Vec<ValueId>> {
    let (axes, keep) = (o.axes(op)?, o.flag(op, "keep", false)?);
    let dtype = p.dtype(x);
    let x = wide(p, x)?;
    let y = f(p, x, &axes, keep)?;
    Ok(vec![p.cast(y, dtype)?])
}

/// Σ x.
fn sum(p: &mut Program, x: ValueId, axes: &Axes, keep: bool) -> Result<ValueId> {
    Ok(p.reduce(&SUM, Params::default(), x, axes, keep)?[0])
}

/// The axes of x behind the first two, which are the batch and the channels.
fn spatial(p: &Program, op: &str, x: ValueId) -> Result<Axes> {
    match p.shape(x).len() {
        rank @ 2.. => Ok(Axes::These((2..rank as i64).collect())),
        rank => Err(Error::shape(op, format!("needs a batch and a channel axis, the rank is {rank}"))),
    }
}

#[cfg(test)]
mod tests;
