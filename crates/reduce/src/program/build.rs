//! Building a program: one method for each primitive; it infers the type and shape of the result, or says what is wrong.

use super::{Node, NodeId, Op, Program, Value, ValueId};
use crate::dtype::Dtype;
use crate::elementwise::Elementwise;
use crate::error::{Error, Result};
use crate::monoids::{Params, ReduceOp};
use crate::tensor::{Tensor, c_strides, elements, extent, set_element};
use std::sync::Arc;

/// Which axes a reduction reduces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axes {
    /// All of them.
    All,
    /// These; negative ones count from the end. None at all reduces nothing.
    These(Vec<i64>),
}

impl Axes {
    /// The axes of a tensor of rank `rank`, ascending.
    ///
    /// # Errors
    /// [`Error::Axis`] if one is out of range or named twice.
    pub fn resolve(&self, op: &str, rank: usize) -> Result<Vec<usize>> {
        let Axes::These(list) = self else { return Ok((0..rank).collect()) };
        let mut axes = Vec::with_capacity(list.len());
        for &axis in list {
            let at = resolve_axis(op, axis, rank)?;
            if axes.contains(&at) {
                return Err(Error::Axis { op: op.into(), axis, rank, why: "is named twice" });
            }
            axes.push(at);
        }
        axes.sort_unstable();
        Ok(axes)
    }
}

/// An axis of a tensor of rank `rank`; a negative one counts from the end.
///
/// # Errors
/// [`Error::Axis`] if it is out of range.
pub(crate) fn resolve_axis(op: &str, axis: i64, rank: usize) -> Result<usize> {
    let at = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    at.filter(|&a| a >= 0 && a < rank as i64).map(|a| a as usize).ok_or_else(|| Error::Axis {
        op: op.into(),
        axis,
        rank,
        why: "is outside the tensor",
    })
}

impl Program {
    /// A program without nodes.
    pub fn new(name: &str) -> Program {
        Program { name: name.into(), ..Program::default() }
    }

    /// Type of a value.
    pub fn dtype(&self, v: ValueId) -> Dtype {
        self.value(v).dtype
    }

    /// Shape of a value.
    pub fn shape(&self, v: ValueId) -> &[usize] {
        &self.value(v).shape
    }

    fn push(&mut self, op: Op, inputs: Vec<ValueId>, outputs: Vec<(Dtype, Vec<usize>)>) -> Result<Vec<ValueId>> {
        for (_, shape) in &outputs {
            elements(op.name(), shape)?;
        }
        let node = NodeId(self.nodes.len() as u32);
        let mut made = Vec::with_capacity(outputs.len());
        for (port, (dtype, shape)) in outputs.into_iter().enumerate() {
            made.push(ValueId(self.values.len() as u32));
            self.values.push(Value { node, port, dtype, shape });
        }
        self.nodes.push(Node { op, inputs, outputs: made.clone() });
        Ok(made)
    }

    /// A node as it is; what it makes is given.
    pub(crate) fn raw(&mut self, op: Op, inputs: Vec<ValueId>, made: Vec<(Dtype, Vec<usize>)>) -> Result<Vec<ValueId>> {
        let is_input = matches!(op, Op::Input { .. });
        let made = self.push(op, inputs, made)?;
        if is_input {
            self.inputs.extend(&made);
        }
        Ok(made)
    }

    /// The same elements in memory of their own.
    pub(crate) fn copy(&mut self, v: ValueId) -> Result<ValueId> {
        let shape = self.shape(v).to_vec();
        self.one(Op::Cast, vec![v], self.dtype(v), shape)
    }

    fn one(&mut self, op: Op, inputs: Vec<ValueId>, dtype: Dtype, shape: Vec<usize>) -> Result<ValueId> {
        Ok(self.push(op, inputs, vec![(dtype, shape)])?[0])
    }

    /// An input in C order.
    ///
    /// # Errors
    /// [`Error::Value`] if the name is taken, [`Error::Size`] if it is too large.
    pub fn input(&mut self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<ValueId> {
        self.input_strided(name, dtype, shape, &c_strides(shape))
    }

    /// An input with strides in elements.
    ///
    /// # Errors
    /// [`Error::Value`] if the name is taken or a stride is 0, [`Error::Shape`] if the ranks differ, [`Error::Size`].
    pub fn input_strided(&mut self, name: &str, dtype: Dtype, shape: &[usize], strides: &[usize]) -> Result<ValueId> {
        let op = || format!("input {name}");
        if self.inputs.iter().any(|&i| self.input_name(i) == name) {
            return Err(Error::value(op(), "the name is taken"));
        }
        if strides.len() != shape.len() {
            return Err(Error::shape(op(), format!("{} strides for {} axes", strides.len(), shape.len())));
        }
        if let Some(axis) = strides.iter().position(|&s| s == 0) {
            return Err(Error::value(op(), format!("the stride of axis {axis} is 0; strides are positive")));
        }
        elements(&op(), shape)?;
        if extent(shape, strides).is_none_or(|n| i64::try_from(n).is_err()) {
            return Err(Error::Size { what: op(), shape: shape.to_vec() });
        }
        let made = Op::Input { name: name.into(), strides: strides.to_vec() };
        let id = self.one(made, vec![], dtype, shape.to_vec())?;
        self.inputs.push(id);
        Ok(id)
    }

    /// Gives an input that exists other strides.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such input or the ranks differ.
    pub fn restride(&mut self, name: &str, to: &[usize]) -> Result<()> {
        let wrong = |message: &str| Error::Input { name: name.into(), message: message.into() };
        let found = self.inputs.iter().copied().find(|&v| self.input_name(v) == name);
        let v = found.ok_or_else(|| wrong("the program has no such input"))?;
        if self.shape(v).len() != to.len() {
            return Err(wrong(&format!("has {} axes, {} strides are given", self.shape(v).len(), to.len())));
        }
        if let Op::Input { strides, .. } = &mut self.nodes[self.values[v.0 as usize].node.0 as usize].op {
            *strides = to.to_vec();
        }
        Ok(())
    }

    /// A tensor that is known.
    ///
    /// # Errors
    /// None that a tensor which exists can cause.
    pub fn constant(&mut self, tensor: Tensor) -> Result<ValueId> {
        let (dtype, shape) = (tensor.dtype(), tensor.shape().to_vec());
        self.one(Op::Constant(Arc::new(tensor)), vec![], dtype, shape)
    }

    /// A single number of type `dtype`.
    ///
    /// # Errors
    /// As [`Program::constant`].
    pub fn number(&mut self, value: f64, dtype: Dtype) -> Result<ValueId> {
        let mut tensor = Tensor::zeros(dtype, &[])?;
        set_element(dtype, tensor.bytes_mut(), 0, value, value as i128);
        self.constant(tensor)
    }

    /// An elementwise operation; operands are broadcast as in NumPy.
    ///
    /// # Errors
    /// [`Error::Type`] or [`Error::Shape`] if the operands do not fit, [`Error::Value`] for a wrong number of them.
    pub fn map(&mut self, op: &'static Elementwise, operands: &[ValueId]) -> Result<ValueId> {
        let types: Vec<Dtype> = operands.iter().map(|&v| self.dtype(v)).collect();
        let dtype = op.result(&types)?;
        let shape = self.common_shape(op.name, operands)?;
        let operands = operands.iter().map(|&v| self.broadcast(v, &shape)).collect::<Result<Vec<_>>>()?;
        self.one(Op::Map(op), operands, dtype, shape)
    }

    /// The elementwise operation called `name`.
    ///
    /// # Errors
    /// As [`Program::map`]; [`Error::Value`] if there is none of that name.
    pub fn call(&mut self, name: &str, operands: &[ValueId]) -> Result<ValueId> {
        let op = crate::elementwise::find(name).ok_or_else(|| Error::value(name, "there is no such operation"))?;
        self.map(op, operands)
    }

    /// The shape that all operands broadcast to.
    fn common_shape(&self, op: &str, operands: &[ValueId]) -> Result<Vec<usize>> {
        let rank = operands.iter().map(|&v| self.shape(v).len()).max().unwrap_or(0);
        let mut shape = vec![1; rank];
        for &v in operands {
            let own = self.shape(v);
            for (axis, &e) in own.iter().enumerate() {
                let at = axis + rank - own.len();
                if shape[at] == 1 {
                    shape[at] = e;
                } else if e != 1 && e != shape[at] {
                    let shapes: Vec<String> = operands.iter().map(|&v| format!("{:?}", self.shape(v))).collect();
                    return Err(Error::shape(op, format!("shapes {} do not broadcast", shapes.join(" and "))));
                }
            }
        }
        Ok(shape)
    }

    /// The value with elements of type `dtype`.
    ///
    /// # Errors
    /// None.
    pub fn cast(&mut self, v: ValueId, dtype: Dtype) -> Result<ValueId> {
        if self.dtype(v) == dtype {
            return Ok(v);
        }
        let shape = self.shape(v).to_vec();
        self.one(Op::Cast, vec![v], dtype, shape)
    }

    /// The value repeated to `shape`, as NumPy's `broadcast_to`.
    ///
    /// # Errors
    /// [`Error::Shape`] if it does not broadcast to that.
    pub fn broadcast(&mut self, v: ValueId, shape: &[usize]) -> Result<ValueId> {
        let own = self.shape(v).to_vec();
        if own == shape {
            return Ok(v);
        }
        let fits = own.len() <= shape.len() && {
            let tail = &shape[shape.len() - own.len()..];
            own.iter().zip(tail).all(|(&a, &b)| a == b || a == 1)
        };
        if !fits {
            return Err(Error::shape("broadcast", format!("{own:?} does not broadcast to {shape:?}")));
        }
        let full = [vec![1; shape.len() - own.len()], own].concat();
        let v = self.reshape(v, &full)?;
        if full == shape { Ok(v) } else { self.one(Op::Broadcast, vec![v], self.dtype(v), shape.to_vec()) }
    }

    /// The same elements, in C order, in another shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers of elements differ.
    pub fn reshape(&mut self, v: ValueId, shape: &[usize]) -> Result<ValueId> {
        let own = self.shape(v);
        if own == shape {
            return Ok(v);
        }
        if elements("reshape", own)? != elements("reshape", shape)? {
            return Err(Error::shape("reshape", format!("{own:?} does not become {shape:?}")));
        }
        self.one(Op::Reshape, vec![v], self.dtype(v), shape.to_vec())
    }

    /// Axis i of the result is axis `perm[i]`.
    ///
    /// # Errors
    /// [`Error::Value`] if `perm` is no permutation of the axes.
    pub fn transpose(&mut self, v: ValueId, perm: &[usize]) -> Result<ValueId> {
        let own = self.shape(v);
        let mut seen = vec![false; own.len()];
        let fits =
            perm.len() == own.len() && perm.iter().all(|&p| p < own.len() && !std::mem::replace(&mut seen[p], true));
        if !fits {
            return Err(Error::value("transpose", format!("{perm:?} is no permutation of {} axes", own.len())));
        }
        if perm.iter().enumerate().all(|(i, &p)| i == p) {
            return Ok(v);
        }
        let shape = perm.iter().map(|&p| own[p]).collect();
        self.one(Op::Transpose { perm: perm.to_vec() }, vec![v], self.dtype(v), shape)
    }

    /// Elements `starts`, `starts + steps`, … below `ends` along each axis.
    ///
    /// # Errors
    /// [`Error::Value`] if the lists do not fit the tensor or a step is 0.
    pub fn slice(&mut self, v: ValueId, starts: &[usize], ends: &[usize], steps: &[usize]) -> Result<ValueId> {
        let own = self.shape(v);
        if [starts.len(), ends.len(), steps.len()].iter().any(|&n| n != own.len()) {
            return Err(Error::value("slice", format!("starts, ends and steps have to name all {} axes", own.len())));
        }
        if let Some(axis) = (0..own.len()).find(|&a| steps[a] == 0 || ends[a] > own[a] || starts[a] > ends[a]) {
            let (s, e, t) = (starts[axis], ends[axis], steps[axis]);
            let message = format!("axis {axis} has {} elements, {s}..{e} by {t} is not inside", own[axis]);
            return Err(Error::value("slice", message));
        }
        let shape: Vec<usize> = (0..own.len()).map(|a| (ends[a] - starts[a]).div_ceil(steps[a])).collect();
        if shape == own {
            return Ok(v);
        }
        self.one(Op::Slice { starts: starts.to_vec(), steps: steps.to_vec() }, vec![v], self.dtype(v), shape)
    }

    /// `x` at the place along `axis` that `labels` names.
    ///
    /// # Errors
    /// [`Error::Shape`] if the labels do not have the shape of x without `axis`, [`Error::Type`], [`Error::Axis`].
    pub fn gather_label(&mut self, x: ValueId, labels: ValueId, axis: i64) -> Result<ValueId> {
        let op = "gather_label";
        let axis = resolve_axis(op, axis, self.shape(x).len())?;
        let mut shape = self.shape(x).to_vec();
        shape.remove(axis);
        if !matches!(self.dtype(labels), Dtype::I32 | Dtype::I64) {
            return Err(Error::dtype(op, self.dtype(labels), " as labels: i32 or i64"));
        }
        if self.shape(labels) != shape {
            let message = format!("labels of shape {:?}, {shape:?} is needed", self.shape(labels));
            return Err(Error::shape(op, message));
        }
        self.one(Op::GatherLabel { axis }, vec![x, labels], self.dtype(x), shape)
    }

    /// The index along `axis`, in a tensor of `shape`.
    ///
    /// # Errors
    /// [`Error::Type`] for bool, [`Error::Axis`].
    pub fn iota(&mut self, dtype: Dtype, shape: &[usize], axis: i64) -> Result<ValueId> {
        let axis = resolve_axis("iota", axis, shape.len())?;
        if dtype == Dtype::Bool {
            return Err(Error::dtype("iota", dtype, ": numbers"));
        }
        self.one(Op::Iota { axis }, vec![], dtype, shape.to_vec())
    }

    /// Reduces `axes`; with `keep` they stay with extent 1. The results are the operator's outputs, `topk` giving two
    /// tensors (values and indices) whose reduced axis has extent k.
    ///
    /// # Errors
    /// [`Error::Axis`], [`Error::Type`]; [`Error::Value`] where an empty axis has no answer, or k does not fit.
    pub fn reduce(
        &mut self,
        op: &'static dyn ReduceOp,
        params: Params,
        v: ValueId,
        axes: &Axes,
        keep: bool,
    ) -> Result<Vec<ValueId>> {
        let (name, dtype, own) = (op.name(), self.dtype(v), self.shape(v).to_vec());
        let axes = axes.resolve(name, own.len())?;
        if !op.accepts(dtype) {
            return Err(Error::dtype(name, dtype, ""));
        }
        let n: usize = axes.iter().map(|&a| own[a]).product();
        if n == 0 && op.empty(dtype, &params) == crate::monoids::Empty::Error && name != "topk" {
            return Err(Error::value(name, "empty axis: there is no answer over 0 elements"));
        }
        let kept: Vec<usize> = (0..own.len()).filter(|a| !axes.contains(a)).map(|a| own[a]).collect();
        let outputs = if params.k > 0 {
            let &[axis] = &axes[..] else {
                return Err(Error::value(name, format!("takes one axis, {} are given", axes.len())));
            };
            if params.k > own[axis] {
                return Err(Error::value(name, format!("k = {} passes the {} elements", params.k, own[axis])));
            }
            let mut shape = own.clone();
            shape[axis] = params.k;
            vec![(dtype, shape.clone()), (Dtype::I64, shape)]
        } else {
            op.outputs(dtype, &params).into_iter().map(|d| (d, kept.clone())).collect()
        };
        let made = self.push(Op::Reduce { op, params, axes: axes.clone() }, vec![v], outputs)?;
        if !keep || params.k > 0 {
            return Ok(made);
        }
        let ones: Vec<usize> = (0..own.len()).map(|a| if axes.contains(&a) { 1 } else { own[a] }).collect();
        made.into_iter().map(|v| self.reshape(v, &ones)).collect()
    }

    /// Names a value as an output.
    ///
    /// # Errors
    /// [`Error::Value`] if the name is taken.
    pub fn output(&mut self, name: &str, v: ValueId) -> Result<()> {
        if self.outputs.iter().any(|(n, _)| n == name) {
            return Err(Error::value(format!("output {name}"), "the name is taken"));
        }
        self.outputs.push((name.into(), v));
        Ok(())
    }
}
