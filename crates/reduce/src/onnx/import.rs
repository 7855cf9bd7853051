//! Lowering the nodes of a graph, one after the other.

use super::graph::Graph;
use super::inline::{Flat, Id};
use super::ops::{Call, OnnxOp};
use super::proto::ModelProto;
use super::{Bindings, tensors};
use crate::error::{Error, Result};
use crate::program::{Op, Program, ValueId};
use crate::tensor::Tensor;
use std::collections::BTreeSet;

/// Most elements that folding one node may compute; larger results stay operations of the program.
const MOST_AT_ONCE: usize = 1 << 16;
/// Most elements that folding may compute for one model.
const MOST_IN_ALL: usize = 1 << 23;

/// A node that is not supported: its outputs are inputs of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// Name of the node, or of its first output.
    pub node: String,
    /// Its operation, with the domain where that is not ONNX's own.
    pub op: String,
    /// Version of the operator set.
    pub opset: i64,
    /// The values that it makes.
    pub values: Vec<String>,
}

/// What became of a model.
#[derive(Debug, Clone)]
pub struct Imported {
    /// What can be computed.
    pub program: Program,
    /// The nodes that are not in it.
    pub unsupported: Vec<Unsupported>,
}

/// A value of the graph during the import.
#[derive(Debug, Clone, Copy)]
enum Item {
    /// Nothing has made it yet.
    Unmade,
    Value(ValueId),
    /// A boundary of unknown shape, or what depends on one.
    Lost,
}

struct Import<'g, 'a> {
    graph: &'g Graph<'a>,
    bind: &'g Bindings,
    program: Program,
    items: Vec<Item>,
    unsupported: Vec<Unsupported>,
    /// What nodes that are in the program read, as far as they are needed.
    read: Vec<bool>,
    /// What boundaries read.
    exits: Vec<Id>,
    /// What boundaries make.
    entries: BTreeSet<Id>,
    /// Elements that folding may still compute.
    to_fold: usize,
}

/// The program of a model.
pub(super) fn import(model: &ModelProto, bind: &Bindings) -> Result<Imported> {
    let graph = Graph::of(model)?;
    let is_input = |name: &str| graph.id(name).is_ok_and(|id| graph.is_declared(id));
    if let Some(name) = bind.values.keys().find(|name| !is_input(name)) {
        return Err(Error::Input { name: name.clone(), message: "the graph has no input of that name".into() });
    }
    let needed = graph.needed(&bind.only)?;
    if let Some(input) = graph.to_know(&needed).into_iter().find(|name| !bind.values.contains_key(name)) {
        return Err(Error::Unknown { input });
    }
    let mut import = Import {
        program: Program::new(if graph.proto.name.is_empty() { "onnx" } else { &graph.proto.name }),
        items: vec![Item::Unmade; graph.names.len()],
        unsupported: vec![],
        read: vec![false; graph.names.len()],
        exits: vec![],
        entries: BTreeSet::new(),
        to_fold: MOST_IN_ALL,
        graph: &graph,
        bind,
    };
    let wanted = import.wanted()?;
    import.mark_read(&needed, &wanted);
    import.inputs()?;
    for (node, _) in graph.nodes.iter().zip(&needed).filter(|(_, needed)| **needed) {
        import.node(node)?;
    }
    import.outputs(&wanted)?;
    Ok(Imported { program: import.program, unsupported: import.unsupported })
}

impl<'a> Import<'_, 'a> {
    /// The outputs that are asked for.
    fn wanted(&self) -> Result<Vec<Id>> {
        if self.bind.only.is_empty() {
            return self.graph.proto.output.iter().map(|o| self.graph.id(&o.name)).collect();
        }
        self.bind.only.iter().map(|name| self.graph.id(name)).collect()
    }

    fn mark_read(&mut self, needed: &[bool], wanted: &[Id]) {
        let nodes = self.graph.nodes.iter().zip(needed).filter(|(node, needed)| **needed && node.op.is_some());
        let ids = nodes.flat_map(|(node, _)| node.inputs.iter().flatten()).chain(wanted);
        ids.for_each(|&id| self.read[id] = true);
    }

    /// Declares the graph's inputs: constants if their values are bound, nothing if no node reads them.
    fn inputs(&mut self) -> Result<()> {
        for info in &self.graph.proto.input {
            let id = self.graph.id(&info.name)?;
            if matches!(self.items[id], Item::Value(_)) {
                return Err(Error::onnx(format!("input {}", info.name), "it is declared twice"));
            }
            if let Some(known) = self.bind.values.get(&info.name) {
                self.items[id] = Item::Value(self.bound(id, known)?);
            } else if self.read[id] && self.graph.is_input(id) {
                let (dtype, shape) = self.graph.declared(id, self.bind)?;
                self.items[id] = Item::Value(self.program.input(&info.name, dtype, &shape)?);
            }
        }
        Ok(())
    }

    /// A bound value, if it is of the declared type.
    fn bound(&mut self, id: Id, known: &Tensor) -> Result<ValueId> {
        if let Ok((dtype, shape)) = self.graph.declared(id, self.bind)
            && (dtype != known.dtype() || shape != known.shape())
        {
            let message = format!("{known:?} is given, {dtype}{shape:?} is declared");
            return Err(Error::Input { name: self.graph.names[id].into(), message });
        }
        self.program.constant(known.clone())
    }

    /// The value with that number; none if it cannot be computed.
    fn value(&mut self, id: Id) -> Result<Option<ValueId>> {
        if let (Item::Unmade, Some(proto)) = (self.items[id], self.graph.initialiser(id)) {
            let tensor = tensors::tensor(proto, self.bind.folder.as_deref())?;
            self.items[id] = Item::Value(self.program.constant(tensor)?);
        }
        match self.items[id] {
            Item::Value(v) => Ok(Some(v)),
            Item::Lost => Ok(None),
            Item::Unmade => {
                let what = format!("value {}", self.graph.names[id]);
                Err(Error::onnx(what, "no node before its use makes it, and it is no input or dense initialiser"))
            }
        }
    }

    fn node(&mut self, node: &Flat<'a>) -> Result<()> {
        let Some(op) = node.op else { return self.boundary(node) };
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            let Some(id) = *input else {
                inputs.push(None);
                continue;
            };
            let Some(v) = self.value(id)? else {
                node.outputs.iter().flatten().for_each(|&o| self.items[o] = Item::Lost);
                return Ok(());
            };
            inputs.push(Some(v));
        }
        if !is_known_enough(op, &self.program, &inputs) {
            return self.boundary(node);
        }
        let inside = |source| Error::Node {
            node: node.name(),
            op: node.proto.op_type.clone(),
            opset: node.opset,
            source: Box::new(source),
        };
        let Some(made) = self.lower(node, op, &inputs).map_err(inside)? else { return self.boundary(node) };
        for (i, output) in node.outputs.iter().enumerate() {
            let Some(id) = *output else { continue };
            let missing = || inside(Error::value(&node.proto.op_type, format!("has no output number {i}")));
            self.items[id] = Item::Value(*made.get(i).ok_or_else(missing)?);
        }
        Ok(())
    }

    /// What the node makes, folded or as operations of the program; none if it has to be folded and cannot be.
    fn lower(&mut self, node: &Flat<'a>, op: &OnnxOp, inputs: &[Option<ValueId>]) -> Result<Option<Vec<ValueId>>> {
        let call = |program: &mut Program, inputs: Vec<Option<ValueId>>| {
            let outputs = node.outputs.len();
            let folder = self.bind.folder.as_deref();
            (op.lower)(&mut Call {
                p: program,
                opset: node.opset,
                attributes: &node.attributes,
                inputs,
                outputs,
                folder,
            })
        };
        if let Some(made) = folded(&self.program, inputs, call, &mut self.to_fold)? {
            return made.into_iter().map(|tensor| self.program.constant(tensor)).collect::<Result<_>>().map(Some);
        }
        if op.folds_only { Ok(None) } else { call(&mut self.program, inputs.to_vec()).map(Some) }
    }

    /// A node that is not lowered: its outputs enter the program, its inputs leave it.
    fn boundary(&mut self, node: &Flat<'a>) -> Result<()> {
        let domain = if node.proto.domain.is_empty() { String::new() } else { format!("{}.", node.proto.domain) };
        let made = node.outputs.iter().flatten().copied();
        self.unsupported.push(Unsupported {
            node: node.name(),
            op: domain + &node.proto.op_type,
            opset: node.opset,
            values: made.clone().map(|id| self.name(id)).collect(),
        });
        self.exits.extend(node.inputs.iter().flatten().chain(&node.captured));
        for id in made {
            self.items[id] = Item::Lost;
            self.entries.insert(id);
            if let (true, Ok((dtype, shape))) = (self.read[id], self.graph.declared(id, self.bind)) {
                self.items[id] = Item::Value(self.program.input(&self.name(id), dtype, &shape)?);
            }
        }
        Ok(())
    }

    /// A name that no other value has: values inside functions may be called like others.
    fn name(&self, id: Id) -> String {
        let name = self.graph.names[id];
        if self.graph.id(name).is_ok_and(|own| own == id) { name.into() } else { format!("{name}#{id}") }
    }

    /// Names the outputs: those that are wanted, and for a whole graph what its boundaries read.
    fn outputs(&mut self, wanted: &[Id]) -> Result<()> {
        let mut done = BTreeSet::new();
        for &id in wanted {
            let name = self.name(id);
            match self.value(id)?.filter(|_| !self.entries.contains(&id)) {
                Some(v) if done.insert(id) => self.program.output(&name, v)?,
                None if !self.bind.only.is_empty() => {
                    let list: Vec<String> = self.unsupported.iter().map(|u| format!("{} ({})", u.node, u.op)).collect();
                    let message = format!("it needs nodes that are not supported: {}", list.join(", "));
                    return Err(Error::onnx(format!("value {name}"), message));
                }
                _ => {}
            }
        }
        for id in std::mem::take(&mut self.exits).into_iter().filter(|_| self.bind.only.is_empty()) {
            let Item::Value(v) = self.items[id] else { continue };
            let is_given = matches!(self.program.maker(v).op, Op::Input { .. } | Op::Constant(_));
            if !is_given && done.insert(id) {
                self.program.output(&self.name(id), v)?;
            }
        }
        Ok(())
    }
}

/// Whether what the operation has to know is constant.
fn is_known_enough(op: &OnnxOp, p: &Program, inputs: &[Option<ValueId>]) -> bool {
    let is_known = |input: &Option<ValueId>| input.is_none_or(|v| p.constant_of(v).is_some());
    op.known.iter().filter_map(|&slot| inputs.get(slot)).all(is_known)
}

/// The results of a node whose inputs are all known, computed by a program of its own; none if that would be much, or more
/// than is left of `budget`.
fn folded(
    p: &Program,
    inputs: &[Option<ValueId>],
    call: impl Fn(&mut Program, Vec<Option<ValueId>>) -> Result<Vec<ValueId>>,
    budget: &mut usize,
) -> Result<Option<Vec<Tensor>>> {
    let known: Vec<_> = inputs.iter().flatten().map_while(|&v| p.constant_of(v)).collect();
    let count: usize = known.iter().map(|t| t.len()).fold(0, usize::saturating_add);
    if known.is_empty() || known.len() < inputs.iter().flatten().count() || count > MOST_AT_ONCE {
        return Ok(None);
    }
    let mut small = Program::new("folded");
    let mut operands = Vec::with_capacity(inputs.len());
    for input in inputs {
        let Some(tensor) = input.and_then(|v| p.constant_of(v)) else {
            operands.push(None);
            continue;
        };
        let kind = (tensor.dtype(), tensor.shape().to_vec());
        operands.extend(small.raw(Op::Constant(tensor.clone()), vec![], vec![kind])?.into_iter().map(Some));
    }
    let made = call(&mut small, operands)?;
    let elements = |v: u32| small.shape(ValueId(v)).iter().product();
    let count = (0..small.values() as u32).map(elements).fold(0, usize::saturating_add);
    let left = budget.checked_sub(count).filter(|_| count <= MOST_AT_ONCE);
    let Some(left) = left else { return Ok(None) };
    *budget = left;
    for (i, v) in made.into_iter().enumerate() {
        small.output(&i.to_string(), v)?;
    }
    small.reference(&[]).map(Some)
}
