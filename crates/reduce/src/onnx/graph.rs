//! A model's nodes, values and where each value comes from; which nodes are needed, which inputs have to be known.

use super::Bindings;
use super::inline::{Flat, Id, Inliner, Scope};
use super::proto::{GraphProto, ModelProto, TensorProto, ValueInfoProto, tensor_shape_proto::dimension, type_proto};
use super::tensors;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// See the module.
pub(super) struct Graph<'a> {
    pub(super) proto: &'a GraphProto,
    pub(super) nodes: Vec<Flat<'a>>,
    pub(super) names: Vec<&'a str>,
    scope: Scope<'a>,
    /// The node that makes each value.
    makers: Vec<Option<usize>>,
    /// What is declared of values.
    infos: BTreeMap<Id, &'a ValueInfoProto>,
    inputs: BTreeMap<Id, &'a ValueInfoProto>,
    initialisers: BTreeMap<Id, &'a TensorProto>,
}

impl<'a> Graph<'a> {
    /// The graph of a model.
    pub(super) fn of(model: &'a ModelProto) -> Result<Graph<'a>> {
        let proto = model.graph.as_ref().ok_or_else(|| Error::onnx("the model", "it has no graph"))?;
        let (mut all, mut scope) = (Inliner::new(model), Scope::new());
        let mut infos = BTreeMap::new();
        let declared = proto.value_info.iter().chain(&proto.output).chain(&proto.input);
        for info in declared.filter(|info| info.r#type.is_some()) {
            infos.extend(all.id(&mut scope, &info.name).map(|id| (id, info)));
        }
        let inputs = proto.input.iter().filter_map(|i| Some((all.id(&mut scope, &i.name)?, i))).collect();
        let initialisers = proto.initializer.iter().filter_map(|t| Some((all.id(&mut scope, &t.name)?, t))).collect();
        all.graph(model, proto, &mut scope)?;
        let Inliner { nodes, names, .. } = all;
        let makers = vec![None; names.len()];
        let mut graph = Graph { proto, nodes, names, scope, makers, infos, inputs, initialisers };
        graph.find_makers()?;
        Ok(graph)
    }

    fn find_makers(&mut self) -> Result<()> {
        for (i, node) in self.nodes.iter().enumerate() {
            for &id in node.outputs.iter().flatten() {
                let is_given = self.inputs.contains_key(&id) || self.initialisers.contains_key(&id);
                if is_given || self.makers[id].replace(i).is_some() {
                    return Err(Error::onnx(format!("value {}", self.names[id]), "it is made twice"));
                }
            }
        }
        Ok(())
    }

    /// The value of a name of the graph itself.
    pub(super) fn id(&self, name: &str) -> Result<Id> {
        let found = self.scope.get(name).copied().flatten();
        found.ok_or_else(|| Error::onnx(format!("value {name}"), "the graph has none of that name"))
    }

    pub(super) fn maker(&self, id: Id) -> Option<&Flat<'a>> {
        self.makers[id].map(|i| &self.nodes[i])
    }

    pub(super) fn initialiser(&self, id: Id) -> Option<&'a TensorProto> {
        self.initialisers.get(&id).copied()
    }

    /// Whether a value is an input of the graph that has no value of its own.
    pub(super) fn is_input(&self, id: Id) -> bool {
        self.inputs.contains_key(&id) && !self.initialisers.contains_key(&id)
    }

    /// Whether a value is an input of the graph, with or without a value of its own.
    pub(super) fn is_declared(&self, id: Id) -> bool {
        self.inputs.contains_key(&id)
    }

    /// Which nodes the values called `only` need, up to nodes that are not supported; all, if there are no names.
    pub(super) fn needed(&self, only: &[String]) -> Result<Vec<bool>> {
        let mut needed = vec![only.is_empty(); self.nodes.len()];
        let mut todo: Vec<Id> = only.iter().map(|name| self.id(name)).collect::<Result<_>>()?;
        while let Some(id) = todo.pop() {
            let Some(i) = self.makers[id] else { continue };
            if !std::mem::replace(&mut needed[i], true) && self.nodes[i].op.is_some() {
                todo.extend(self.nodes[i].inputs.iter().flatten());
            }
        }
        Ok(needed)
    }

    /// The graph inputs whose elements decide axes, sizes or the like of needed nodes, in the order of the graph.
    pub(super) fn to_know(&self, needed: &[bool]) -> Vec<String> {
        let nodes = self.nodes.iter().zip(needed).filter(|(_, needed)| **needed).map(|(node, _)| node);
        let slots = nodes.flat_map(|node| {
            let known = node.op.map_or(&[][..], |op| op.known);
            known.iter().filter_map(|&slot| node.inputs.get(slot).copied().flatten())
        });
        let mut todo: Vec<Id> = slots.collect();
        let mut seen = vec![false; self.names.len()];
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut seen[id], true) {
                continue;
            }
            if let Some(node) = self.maker(id).filter(|node| node.op.is_some_and(|op| !op.of_shapes)) {
                todo.extend(node.inputs.iter().flatten());
            }
        }
        let all = self.proto.input.iter().filter_map(|i| self.scope.get(&i.name[..]).copied().flatten());
        all.filter(|&id| seen[id] && self.is_input(id)).map(|id| self.names[id].to_string()).collect()
    }

    /// Type and shape that the file declares of a value.
    pub(super) fn declared(&self, id: Id, bind: &Bindings) -> Result<(Dtype, Vec<usize>)> {
        let name = self.names[id];
        let (what, info) = (format!("value {name}"), self.infos.get(&id));
        let kind = info.and_then(|info| info.r#type.as_ref()?.value.as_ref());
        let Some(type_proto::Value::TensorType(kind)) = kind else {
            return Err(Error::onnx(what, "the model does not say that it is a tensor"));
        };
        let dtype = tensors::dtype(&what, kind.elem_type)?;
        let shape = kind.shape.as_ref().ok_or_else(|| Error::onnx(&what, "the model does not give its rank"))?;
        let extent = |(axis, dim): (usize, &super::proto::tensor_shape_proto::Dimension)| match &dim.value {
            Some(dimension::Value::DimValue(n)) => {
                usize::try_from(*n).map_err(|_| Error::onnx(&what, format!("axis {axis} has a length of {n}")))
            }
            Some(dimension::Value::DimParam(symbol)) if !symbol.is_empty() => bound(name, symbol.clone(), bind),
            _ => bound(name, format!("{name}.{axis}"), bind),
        };
        Ok((dtype, shape.dim.iter().enumerate().map(extent).collect::<Result<_>>()?))
    }
}

fn bound(input: &str, dim: String, bind: &Bindings) -> Result<usize> {
    bind.dims.get(&dim).copied().ok_or_else(|| Error::Unbound { input: input.into(), dim })
}
