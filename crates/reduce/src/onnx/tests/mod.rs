//! Models made by hand: what the node tests do not hold.

mod import;
mod ops;
mod tensors;

use super::proto::attribute_proto::AttributeType;
use super::proto::tensor_shape_proto::{Dimension, dimension};
use super::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TypeProto,
    ValueInfoProto, type_proto,
};
use super::*;
use crate::dtype::Dtype;
use crate::tensor::{TensorView, element, set_element};
use prost::Message;

/// A tensor of one type from numbers.
pub(super) fn numbers(dtype: Dtype, shape: &[usize], values: &[f64]) -> Tensor {
    let mut t = Tensor::zeros(dtype, shape).unwrap();
    assert_eq!(t.len(), values.len());
    values.iter().enumerate().for_each(|(i, &v)| set_element(dtype, t.bytes_mut(), i, v, v as i128));
    t
}

/// A list of whole numbers.
pub(super) fn ints(values: &[i64]) -> Tensor {
    Tensor::from_slice(Dtype::I64, &[values.len()], values).unwrap()
}

/// The elements of a tensor.
pub(super) fn values(t: &Tensor) -> Vec<f64> {
    (0..t.len()).map(|i| element(t.dtype(), t.bytes(), i).0).collect()
}

/// The number of a type in ONNX.
pub(super) fn code(dtype: Dtype) -> i32 {
    (1..17).find(|&code| super::tensors::dtype("", code).is_ok_and(|d| d == dtype)).unwrap()
}

pub(super) fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: kind as i32, ..AttributeProto::default() }
}

pub(super) fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { i, ..attribute(name, AttributeType::Int) }
}

pub(super) fn list(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { ints: ints.to_vec(), ..attribute(name, AttributeType::Ints) }
}

pub(super) fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto { f, ..attribute(name, AttributeType::Float) }
}

pub(super) fn message(name: &str, t: &Tensor) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: t.shape().iter().map(|&e| e as i64).collect(),
        data_type: code(t.dtype()),
        raw_data: t.bytes().to_vec(),
        ..TensorProto::default()
    }
}

/// A node; inputs and outputs are cut at spaces, `_` is one that is left out.
pub(super) fn node(op: &str, inputs: &str, outputs: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    let names = |list: &str| list.split_whitespace().map(|n| n.replace('_', "")).collect();
    NodeProto { op_type: op.into(), input: names(inputs), output: names(outputs), attribute, ..NodeProto::default() }
}

/// A model that is being made.
#[derive(Clone)]
pub(super) struct Model(pub(super) ModelProto);

impl Model {
    pub(super) fn new(opset: i64) -> Model {
        let graph = Some(GraphProto { name: "g".into(), ..GraphProto::default() });
        let opset_import = vec![OperatorSetIdProto { domain: String::new(), version: opset }];
        Model(ModelProto { ir_version: 8, graph, opset_import, functions: vec![] })
    }

    pub(super) fn graph(&mut self) -> &mut GraphProto {
        self.0.graph.as_mut().unwrap()
    }

    /// What is declared of a value; dimensions are numbers or names.
    fn info(name: &str, dtype: Dtype, dims: &str) -> ValueInfoProto {
        let dim = dims.split_whitespace().map(|d| Dimension {
            value: Some(match d.parse() {
                Ok(n) => dimension::Value::DimValue(n),
                Err(_) => dimension::Value::DimParam(d.replace('?', "")),
            }),
        });
        let shape = Some(TensorShapeProto { dim: dim.collect() });
        let kind = type_proto::Tensor { elem_type: code(dtype), shape };
        let kind = TypeProto { value: Some(type_proto::Value::TensorType(kind)) };
        ValueInfoProto { name: name.into(), r#type: Some(kind) }
    }

    pub(super) fn input(mut self, name: &str, dtype: Dtype, dims: &str) -> Model {
        self.graph().input.push(Model::info(name, dtype, dims));
        self
    }

    pub(super) fn value(mut self, name: &str, dtype: Dtype, dims: &str) -> Model {
        self.graph().value_info.push(Model::info(name, dtype, dims));
        self
    }

    pub(super) fn output(mut self, name: &str) -> Model {
        self.graph().output.push(ValueInfoProto { name: name.into(), r#type: None });
        self
    }

    pub(super) fn initialiser(mut self, name: &str, t: &Tensor) -> Model {
        self.graph().initializer.push(message(name, t));
        self
    }

    pub(super) fn node(mut self, op: &str, inputs: &str, outputs: &str, attributes: Vec<AttributeProto>) -> Model {
        self.graph().node.push(node(op, inputs, outputs, attributes));
        self
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.encode_to_vec()
    }

    pub(super) fn import(&self, bind: &Bindings) -> Result<Imported> {
        Program::from_onnx(&self.bytes(), bind)
    }

    /// Why it is not imported.
    pub(super) fn refused(&self) -> String {
        chain(&self.import(&Bindings::default()).unwrap_err())
    }

    /// The outputs for inputs in the order of the graph.
    pub(super) fn run(&self, inputs: &[Tensor]) -> Vec<Tensor> {
        let p = self.import(&Bindings::default()).unwrap().program;
        let views: Vec<TensorView<'_>> = inputs.iter().map(Tensor::view).collect();
        p.reference(&views).unwrap()
    }
}

/// An error with its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let cause = error.source().map_or(String::new(), |cause| format!(": {}", chain(cause)));
    format!("{error}{cause}")
}
