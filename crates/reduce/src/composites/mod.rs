//! Composite operations: one file each (its lowering and, where training needs it, its backward pass), one line in [`ALL`].
//!
//! A composite is lowered to primitives when it is added to a program; nothing after that knows of it. Inside, half
//! precision is computed in single precision (`wide`) and rounded once at the end.

mod mean;
mod moments;
mod options;
mod softmax;

pub use options::{Given, Options};

use crate::dtype::{Dtype, Scalar};
use crate::error::{Error, Result};
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
pub static ALL: &[&[Composite]] = &[mean::OPS, moments::OPS, softmax::OPS];

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
