//! The arithmetic of a region as scalar expressions over what it reads: memory, indices, accumulators.

use crate::canon::{Class, Classes};
use crate::dtype::Scalar;
use crate::fuse::{Access, Region, Regions, strides_by_class};
use crate::monoids::{Empty, Params, ReduceOp};
use crate::program::{Node, NodeId, Op, Program, ValueId};
use crate::scalar::{Const, ScalarBuilder, ScalarExpr};
use crate::tensor::element;
use std::collections::HashMap;

/// Something that the arithmetic reads, with its stride by each iterator.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    /// A value in memory.
    Load { base: ValueId, offset: usize, strides: Vec<(Class, usize)> },
    /// A value in memory, one axis of which (its stride and extent) is picked by a label.
    Gather {
        base: ValueId,
        offset: usize,
        strides: Vec<(Class, usize)>,
        stride: usize,
        extent: usize,
        label: ScalarExpr,
    },
    /// A whole number made of the indices.
    Index { strides: Vec<(Class, usize)> },
    /// Part of the accumulator of one of the region's reductions.
    Part { reduction: usize, part: usize },
}

impl Source {
    pub(super) fn strides(&self) -> &[(Class, usize)] {
        match self {
            Source::Load { strides, .. } | Source::Gather { strides, .. } | Source::Index { strides } => strides,
            Source::Part { .. } => &[],
        }
    }
}

/// A reduction and what it is fed.
#[derive(Debug)]
pub(super) struct Fed {
    pub(super) op: &'static dyn ReduceOp,
    pub(super) params: Params,
    pub(super) x: Scalar,
    pub(super) value: ScalarExpr,
    /// The place among the reduced elements, where the operator wants it.
    pub(super) index: Option<ScalarExpr>,
}

/// See [`emit`].
#[derive(Debug, Default)]
pub(super) struct Emitted {
    pub(super) code: ScalarBuilder,
    pub(super) sources: Vec<Source>,
    pub(super) reductions: Vec<Fed>,
    /// What each store writes.
    pub(super) stores: Vec<ScalarExpr>,
}

impl Emitted {
    /// Number of a source among those of its kind.
    pub(super) fn number(&self, source: usize) -> usize {
        let kind = std::mem::discriminant(&self.sources[source]);
        self.sources[..source].iter().filter(|s| std::mem::discriminant(*s) == kind).count()
    }

    /// The label of gather number `g`.
    pub(super) fn label(&self, g: usize) -> ScalarExpr {
        let labels =
            self.sources.iter().filter_map(|s| if let Source::Gather { label, .. } = s { Some(*label) } else { None });
        labels.into_iter().nth(g).unwrap_or(ScalarExpr(0))
    }

    /// The label of a source, if it is a gather.
    pub(super) fn label_of(&self, source: usize) -> Option<ScalarExpr> {
        if let Source::Gather { label, .. } = &self.sources[source] { Some(*label) } else { None }
    }
}

/// The arithmetic of region `k`.
pub(super) fn emit(p: &Program, classes: &Classes, regions: &Regions, k: usize) -> Emitted {
    let mut e = Emitter { p, classes, regions, k, out: Emitted::default(), known: HashMap::new() };
    let region = &regions.list[k];
    for &(node, _) in &region.reductions {
        e.reduction(region, node);
    }
    for store in &region.stores {
        let value = e.value(store.value);
        e.out.stores.push(value);
    }
    e.out
}

struct Emitter<'a> {
    p: &'a Program,
    classes: &'a Classes,
    regions: &'a Regions,
    k: usize,
    out: Emitted,
    known: HashMap<ValueId, ScalarExpr>,
}

impl Emitter<'_> {
    fn source(&mut self, source: Source, kind: Scalar) -> ScalarExpr {
        let at = self.out.sources.iter().position(|s| *s == source).unwrap_or_else(|| {
            self.out.sources.push(source);
            self.out.sources.len() - 1
        });
        self.out.code.arg(at, kind)
    }

    fn reduction(&mut self, region: &Region, id: NodeId) {
        let node = self.p.node(id);
        let Op::Reduce { op, params, axes } = &node.op else { return };
        let operand = node.inputs[0];
        let value = self.value(operand);
        let x = self.p.dtype(operand).scalar();
        let parts = op.parts(x, params);
        let index = (parts.len() > 1 && parts.contains(&Scalar::I64)).then(|| self.place(operand, axes));
        let reduction = self.out.reductions.len();
        debug_assert_eq!(region.reductions[reduction].0, id);
        self.out.reductions.push(Fed { op: *op, params: *params, x, value, index });
        let n: usize = axes.iter().map(|&a| self.p.shape(operand)[a]).product();
        let results = match op.empty(self.p.dtype(operand), params) {
            Empty::Values(values) if n == 0 => values.into_iter().map(|c| self.out.code.constant(c)).collect(),
            _ => {
                let part = |(part, kind): (usize, &Scalar)| self.source(Source::Part { reduction, part }, *kind);
                let parts: Vec<ScalarExpr> = parts.iter().enumerate().map(part).collect();
                let n = self.out.code.number(n as f64, parts[0]);
                op.finish(&mut self.out.code, params, &parts, n)
            }
        };
        self.bind(node, results);
    }

    /// Results of a reduction, rounded to their types.
    fn bind(&mut self, node: &Node, results: Vec<ScalarExpr>) {
        for (&v, e) in node.outputs.iter().zip(results) {
            let e = self.out.code.narrow(e, self.p.dtype(v));
            self.known.insert(v, e);
        }
    }

    /// The place of an element among the reduced ones: the flat index over the axes in their own order.
    fn place(&mut self, v: ValueId, axes: &[usize]) -> ScalarExpr {
        let shape = self.p.shape(v);
        let mut strides = vec![0; shape.len()];
        let mut step = 1;
        for &a in axes.iter().rev() {
            strides[a] = step;
            step *= shape[a];
        }
        let strides = nonzero(strides_by_class(self.classes, v, &strides));
        self.source(Source::Index { strides }, Scalar::I64)
    }

    fn value(&mut self, v: ValueId) -> ScalarExpr {
        if let Some(&known) = self.known.get(&v) {
            return known;
        }
        let made = if self.regions.is_computed(self.p, v, self.k) { self.compute(v) } else { self.load(v, v) };
        self.known.insert(v, made);
        made
    }

    /// A value in memory (or what is below its views), by the iterators of `by`, which has the same axes.
    fn load(&mut self, v: ValueId, by: ValueId) -> ScalarExpr {
        if let Some(constant) = self.single(v) {
            return self.out.code.constant(constant);
        }
        let access = self.access(v);
        self.read(v, by, access)
    }

    /// A view that is computed here, read through what it is a view of.
    fn view(&mut self, v: ValueId) -> ScalarExpr {
        let access = Access::through(self.p, v, &|v| self.regions.in_memory(self.p, v));
        self.read(v, v, access)
    }

    fn read(&mut self, v: ValueId, by: ValueId, access: Option<Access>) -> ScalarExpr {
        debug_assert!(access.is_some(), "what is read across the grain is in memory");
        let Some(access) = access else {
            return self.out.code.constant(Const::from_f64(0.0, self.p.dtype(v).scalar()));
        };
        let strides = nonzero(strides_by_class(self.classes, by, &access.strides));
        let kind = self.p.dtype(v).scalar();
        self.source(Source::Load { base: access.base, offset: access.offset, strides }, kind)
    }

    fn access(&self, v: ValueId) -> Option<Access> {
        Access::of(self.p, v, &|v| self.regions.in_memory(self.p, v))
    }

    /// The value of a constant with one element.
    fn single(&self, v: ValueId) -> Option<Const> {
        let tensor = self.p.constant_of(v).filter(|t| t.len() == 1)?;
        let (float, int) = element(tensor.dtype(), tensor.bytes(), 0);
        let kind = tensor.dtype().scalar();
        Some(if kind.is_float() { Const::from_f64(float, kind) } else { Const::from_int(int, kind) })
    }

    fn operand(&mut self, node: &Node, operand: usize) -> ScalarExpr {
        let v = node.inputs[operand];
        if self.classes.is_cut(node, operand) { self.load(v, node.outputs[0]) } else { self.value(v) }
    }

    fn compute(&mut self, v: ValueId) -> ScalarExpr {
        let node = self.p.maker(v);
        let dtype = self.p.dtype(v);
        match &node.op {
            Op::Map(op) => {
                let operands: Vec<ScalarExpr> = (0..node.inputs.len()).map(|i| self.operand(node, i)).collect();
                let made = (op.expr)(&mut self.out.code, &operands);
                self.out.code.narrow(made, dtype)
            }
            Op::Cast => {
                let from = self.operand(node, 0);
                self.out.code.narrow(from, dtype)
            }
            Op::Slice { .. } => self.view(v),
            Op::Reshape if self.classes.is_cut(node, 0) => self.view(v),
            Op::Broadcast | Op::Transpose { .. } | Op::Reshape => self.operand(node, 0),
            Op::GatherLabel { axis } => self.gather(node, *axis),
            Op::Iota { axis } => {
                let mut strides = vec![0; self.p.shape(v).len()];
                strides[*axis] = 1;
                let strides = nonzero(strides_by_class(self.classes, v, &strides));
                let index = self.source(Source::Index { strides }, Scalar::I64);
                self.out.code.narrow(index, dtype)
            }
            Op::Reduce { op, params, .. } => {
                let results = self.of_one(*op, params, node.inputs[0]);
                self.bind(node, results);
                self.known[&v]
            }
            Op::Input { .. } | Op::Constant(_) => self.load(v, v),
        }
    }

    /// A reduction over axes of extent 1.
    fn of_one(&mut self, op: &'static dyn ReduceOp, params: &Params, operand: ValueId) -> Vec<ScalarExpr> {
        let x = self.value(operand);
        let b = &mut self.out.code;
        let one = b.number(1.0, x);
        let parts = match op.two_pass() {
            Some(t) => {
                let centre = t.centre(b, x, one);
                let deviation = t.deviation(b, centre, x);
                t.done(b, centre, deviation, one)
            }
            None => {
                let first = b.constant(Const::from(0i64));
                op.lift(b, params, x, first)
            }
        };
        op.finish(b, params, &parts, one)
    }

    fn gather(&mut self, node: &Node, axis: usize) -> ScalarExpr {
        let (x, out) = (node.inputs[0], node.outputs[0]);
        let label = self.operand(node, 1);
        let label = self.out.code.convert(label, Scalar::I64);
        let Some(access) = self.access(x) else { return label };
        let mut kept = access.strides.clone();
        let stride = kept.remove(axis);
        let strides = nonzero(strides_by_class(self.classes, out, &kept));
        let extent = self.p.shape(x)[axis];
        let source = Source::Gather { base: access.base, offset: access.offset, strides, stride, extent, label };
        self.source(source, self.p.dtype(x).scalar())
    }
}

/// Without strides of 0, so that equal reads are equal.
fn nonzero(mut strides: Vec<(Class, usize)>) -> Vec<(Class, usize)> {
    strides.retain(|s| s.1 != 0);
    strides
}
