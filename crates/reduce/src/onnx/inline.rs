//! One list of nodes: calls of local functions are replaced by the functions' nodes.
//!
//! Values are numbers from here on, so that a function's own names never meet those of its callers.

use super::attributes::Attributes;
use super::ops::{self, OnnxOp};
use super::proto::{AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto};
use crate::error::{Error, Result};
use prost::Message;
use std::collections::BTreeMap;

/// Number of a value.
pub(super) type Id = usize;
/// Names that are visible in one place; none for an input of a function that its caller leaves out.
pub(super) type Scope<'a> = BTreeMap<&'a str, Option<Id>>;

/// Functions that call each other deeper than this are taken for a circle.
const DEEPEST: usize = 64;
/// Most bytes of functions, each counted as often as it is called.
const MOST_BYTES: usize = 1 << 24;
/// Versions of the operator set whose definitions are known.
const OPSETS: std::ops::RangeInclusive<i64> = 7..=27;

/// A node that is no call of a local function.
#[derive(Debug)]
pub(super) struct Flat<'a> {
    pub(super) proto: &'a NodeProto,
    /// How it is lowered; none if it is not supported.
    pub(super) op: Option<&'static OnnxOp>,
    pub(super) opset: i64,
    pub(super) attributes: Attributes<'a>,
    /// None for an optional input that is left out.
    pub(super) inputs: Vec<Option<Id>>,
    pub(super) outputs: Vec<Option<Id>>,
    /// What its subgraphs read.
    pub(super) captured: Vec<Id>,
}

impl Flat<'_> {
    /// Name of the node, or of its first output.
    pub(super) fn name(&self) -> String {
        let output = || self.proto.output.iter().find(|o| !o.is_empty()).cloned().unwrap_or_default();
        if self.proto.name.is_empty() { output() } else { self.proto.name.clone() }
    }
}

/// All nodes so far, and the names of all values.
pub(super) struct Inliner<'a> {
    functions: BTreeMap<(&'a str, &'a str, &'a str), &'a FunctionProto>,
    pub(super) nodes: Vec<Flat<'a>>,
    pub(super) names: Vec<&'a str>,
    /// Bytes of the functions that have been called.
    inlined: usize,
}

/// Where a node stands.
struct Place<'a, 'p> {
    opsets: &'a [OperatorSetIdProto],
    /// The attributes of the call, in a function.
    call: Option<&'p Attributes<'a>>,
    function: Option<&'a FunctionProto>,
    depth: usize,
}

impl<'a> Inliner<'a> {
    pub(super) fn new(model: &'a ModelProto) -> Inliner<'a> {
        let key = |f: &'a FunctionProto| (domain(&f.domain), &f.name[..], &f.overload[..]);
        let functions = model.functions.iter().map(|f| (key(f), f)).collect();
        Inliner { functions, nodes: vec![], names: vec![], inlined: 0 }
    }

    /// A value that is new.
    pub(super) fn fresh(&mut self, name: &'a str) -> Id {
        self.names.push(name);
        self.names.len() - 1
    }

    /// The value of that name; a new one if there is none. No name is no value.
    pub(super) fn id(&mut self, scope: &mut Scope<'a>, name: &'a str) -> Option<Id> {
        if name.is_empty() {
            return None;
        }
        *scope.entry(name).or_insert_with(|| Some(self.fresh(name)))
    }

    /// Adds the nodes of the model's graph.
    pub(super) fn graph(&mut self, model: &'a ModelProto, graph: &'a GraphProto, scope: &mut Scope<'a>) -> Result<()> {
        let place = Place { opsets: &model.opset_import, call: None, function: None, depth: 0 };
        graph.node.iter().try_for_each(|node| self.node(node, scope, &place))
    }

    fn node(&mut self, node: &'a NodeProto, scope: &mut Scope<'a>, place: &Place<'a, '_>) -> Result<()> {
        let attributes = attributes(node, place);
        let inputs: Vec<Option<Id>> = node.input.iter().map(|name| self.id(scope, name)).collect();
        let captured = captured(&node.attribute, scope);
        let outputs: Vec<Option<Id>> = node.output.iter().map(|name| self.id(scope, name)).collect();
        if let Some(&function) = self.functions.get(&(domain(&node.domain), &node.op_type[..], &node.overload[..])) {
            return self.call(function, &inputs, &outputs, &attributes, place);
        }
        let known = domain(&node.domain).is_empty();
        let opset = opset(place.opsets, &node.domain);
        if known && !OPSETS.contains(&opset) {
            let message = format!("operator set {opset}; versions {} to {} are known", OPSETS.start(), OPSETS.end());
            return Err(Error::onnx("the model", message));
        }
        let op = if known { ops::find(&node.op_type) } else { None };
        self.nodes.push(Flat { proto: node, op, opset, attributes, inputs, outputs, captured });
        Ok(())
    }

    fn call(
        &mut self,
        function: &'a FunctionProto,
        inputs: &[Option<Id>],
        outputs: &[Option<Id>],
        attributes: &Attributes<'a>,
        place: &Place<'a, '_>,
    ) -> Result<()> {
        let what = || format!("function {}", function.name);
        let mut scope = Scope::new();
        for (i, name) in function.input.iter().enumerate() {
            scope.insert(name, inputs.get(i).copied().flatten());
        }
        for (name, &id) in function.output.iter().zip(outputs) {
            if function.input.contains(name) {
                return Err(Error::onnx(what(), format!("{name} is both an input and an output")));
            }
            if id.is_some() {
                scope.insert(name, id);
            }
        }
        let depth = place.depth + 1;
        self.inlined = self.inlined.saturating_add(function.encoded_len());
        if depth > DEEPEST || self.inlined > MOST_BYTES {
            return Err(Error::onnx(what(), "calls itself, or its calls become too many nodes"));
        }
        let opsets = if function.opset_import.is_empty() { place.opsets } else { &function.opset_import };
        let inner = Place { opsets, call: Some(attributes), function: Some(function), depth };
        function.node.iter().try_for_each(|node| self.node(node, &mut scope, &inner))
    }
}

/// The empty domain has another name.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

/// Version of an operator set; 1 if it is not imported.
fn opset(imports: &[OperatorSetIdProto], name: &str) -> i64 {
    imports.iter().find(|o| domain(&o.domain) == domain(name)).map_or(1, |o| o.version)
}

/// The node's attributes; in a function those that refer to the call's are the call's, or the function's defaults.
fn attributes<'a>(node: &'a NodeProto, place: &Place<'a, '_>) -> Attributes<'a> {
    let resolve = |a: &'a AttributeProto| {
        if a.ref_attr_name.is_empty() {
            return Some((&a.name[..], a));
        }
        let given = place.call.and_then(|c| c.0.iter().find(|g| g.0 == a.ref_attr_name).map(|g| g.1));
        let default = || place.function.and_then(|f| f.attribute_proto.iter().find(|d| d.name == a.ref_attr_name));
        given.or_else(default).map(|found| (&a.name[..], found))
    };
    Attributes(node.attribute.iter().filter_map(resolve).collect())
}

/// Values of `scope` that subgraphs in the attributes read.
fn captured(attributes: &[AttributeProto], scope: &Scope<'_>) -> Vec<Id> {
    let nodes = attributes.iter().flat_map(|a| a.g.iter().chain(&a.graphs)).flat_map(|g| &g.node);
    let read = |node: &NodeProto| {
        let own = node.input.iter().filter_map(|name| scope.get(&name[..]).copied().flatten());
        own.chain(captured(&node.attribute, scope)).collect::<Vec<Id>>()
    };
    nodes.flat_map(read).collect()
}
