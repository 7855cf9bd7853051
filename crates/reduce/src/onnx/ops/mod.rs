//! How each ONNX operation becomes primitives or composites: one file per family, one line each in [`ALL`].
//!
//! A lowering sees values of a program, attributes and the version of the operator set; it knows nothing of graphs. What
//! a lowering returns are the node's outputs in order, optional ones as far as the node names them.

mod activations;
mod arith;
mod cast;
mod compare;
mod gather;
mod known;
mod losses;
mod norms;
mod pools;
mod pow;
mod reduce;
mod shapes;
mod slice;
mod softmax;
mod topk;

use super::attributes::Attributes;
use crate::composites::Options;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::program::{Program, ValueId};
use crate::tensor::{Tensor, element};
use std::path::Path;

/// An ONNX operation.
pub(super) struct OnnxOp {
    pub(super) name: &'static str,
    /// Inputs that give axes, sizes or the like: their elements have to be known.
    pub(super) known: &'static [usize],
    /// Whether all inputs have to be known and few, because no primitive does this.
    pub(super) folds_only: bool,
    /// Whether only types and shapes of the inputs matter.
    pub(super) of_shapes: bool,
    pub(super) lower: fn(&mut Call<'_>) -> Result<Vec<ValueId>>,
}

impl std::fmt::Debug for OnnxOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl OnnxOp {
    const fn new(name: &'static str, lower: fn(&mut Call<'_>) -> Result<Vec<ValueId>>) -> OnnxOp {
        OnnxOp { name, known: &[], folds_only: false, of_shapes: false, lower }
    }

    /// With inputs whose elements have to be known.
    const fn knowing(self, known: &'static [usize]) -> OnnxOp {
        OnnxOp { known, ..self }
    }
}

/// Every family.
pub(super) static ALL: &[&[OnnxOp]] = &[
    activations::OPS,
    arith::OPS,
    cast::OPS,
    compare::OPS,
    gather::OPS,
    known::OPS,
    losses::OPS,
    norms::OPS,
    pools::OPS,
    pow::OPS,
    reduce::OPS,
    shapes::OPS,
    slice::OPS,
    softmax::OPS,
    topk::OPS,
];

/// The operation called `name`.
pub(super) fn find(name: &str) -> Option<&'static OnnxOp> {
    ALL.iter().flat_map(|family| family.iter()).find(|op| op.name == name)
}

/// A node that is being lowered.
pub(super) struct Call<'a> {
    /// Takes the operations.
    pub(super) p: &'a mut Program,
    pub(super) opset: i64,
    pub(super) attributes: &'a Attributes<'a>,
    /// None for an optional input that is left out.
    pub(super) inputs: Vec<Option<ValueId>>,
    /// Number of outputs that the node names.
    pub(super) outputs: usize,
    /// The folder of external data.
    pub(super) folder: Option<&'a Path>,
}

impl Call<'_> {
    /// Input number `i`.
    fn input(&self, i: usize) -> Result<ValueId> {
        self.optional(i).ok_or_else(|| Error::value("the node", format!("input number {i} is missing")))
    }

    /// Input number `i`, if it is given.
    fn optional(&self, i: usize) -> Option<ValueId> {
        self.inputs.get(i).copied().flatten()
    }

    /// All inputs, of which there is at least one.
    fn all(&self) -> Result<Vec<ValueId>> {
        (0..self.inputs.len().max(1)).map(|i| self.input(i)).collect()
    }

    /// The elements of input number `i`, which are known.
    fn known(&self, i: usize) -> Result<Option<&Tensor>> {
        let Some(v) = self.optional(i) else { return Ok(None) };
        let found = self.p.constant_of(v).map(|t| &**t);
        found.map(Some).ok_or_else(|| Error::value("the node", format!("input number {i} has to be known")))
    }

    /// The whole numbers of input number `i`, which are known.
    fn ints(&self, i: usize) -> Result<Option<Vec<i64>>> {
        let Some(tensor) = self.known(i)? else { return Ok(None) };
        if !tensor.dtype().is_int() {
            return Err(Error::dtype("the node", tensor.dtype(), format!(" as input number {i}: whole numbers")));
        }
        let too_large = |_| Error::value("the node", format!("a number of input number {i} passes 64 bits"));
        let at = |place: usize| i64::try_from(element(tensor.dtype(), tensor.bytes(), place).1).map_err(too_large);
        (0..tensor.len()).map(at).collect::<Result<Vec<i64>>>().map(Some)
    }

    /// The whole numbers of input number `i`, or of the attribute that held them in older versions.
    fn list(&self, i: usize, name: &str) -> Result<Option<Vec<i64>>> {
        match self.ints(i)? {
            Some(list) => Ok(Some(list)),
            None => Ok(self.attributes.ints(name)?.map(<[i64]>::to_vec)),
        }
    }

    fn int(&self, name: &str, default: i64) -> Result<i64> {
        Ok(self.attributes.int(name)?.unwrap_or(default))
    }

    fn float(&self, name: &str, default: f32) -> Result<f64> {
        Ok(self.attributes.float(name)?.unwrap_or(f64::from(default)))
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool> {
        self.attributes.flag(name, default)
    }

    fn dtype(&self, v: ValueId) -> Dtype {
        self.p.dtype(v)
    }

    fn shape(&self, v: ValueId) -> Vec<usize> {
        self.p.shape(v).to_vec()
    }

    /// A number beside `like`.
    fn number(&mut self, value: f64, like: ValueId) -> Result<ValueId> {
        self.p.number(value, self.p.dtype(like))
    }

    /// The elementwise operation called `name`.
    fn call(&mut self, name: &str, operands: &[ValueId]) -> Result<ValueId> {
        self.p.call(name, operands)
    }

    /// The elementwise operation called `name` on all inputs.
    fn map(&mut self, name: &str) -> Result<Vec<ValueId>> {
        let operands = self.all()?;
        Ok(vec![self.call(name, &operands)?])
    }

    /// The composite called `name`.
    fn composite(&mut self, name: &str, operands: &[ValueId], options: Options) -> Result<Vec<ValueId>> {
        self.p.composite(name, operands, options)
    }
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn every_operation_is_registered_once() {
        let names: Vec<&str> = ALL.iter().flat_map(|family| family.iter()).map(|op| op.name).collect();
        assert!(names.iter().enumerate().all(|(i, name)| !names[..i].contains(name)));
        let source = include_str!("mod.rs");
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/onnx/ops")).unwrap() {
            let file = file.unwrap().file_name().into_string().unwrap();
            let name = file.trim_end_matches(".rs");
            assert!(name == "mod" || source.contains(&format!("    {name}::OPS,")), "{file} is not in ALL");
        }
    }
}
