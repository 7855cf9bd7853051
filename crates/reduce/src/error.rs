//! What can go wrong between a program and its result: facts in fields, one variant per kind of fault.

use crate::dtype::Dtype;

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A fault of a program, of its inputs, or of its execution.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text of a program is wrong.
    #[error("{origin}:{line}:{column}: {message}")]
    Text {
        /// File, or another name of the text.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong, and what is expected.
        message: String,
    },
    /// An axis that the tensor does not have, or that is named twice.
    #[error("{op}: axis {axis} {why} (the rank is {rank})")]
    Axis {
        /// The operation.
        op: String,
        /// The axis as given.
        axis: i64,
        /// Rank of the operand.
        rank: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Shapes that do not fit each other.
    #[error("{op}: {message}")]
    Shape {
        /// The operation.
        op: String,
        /// What does not fit.
        message: String,
    },
    /// A type that an operation does not take.
    #[error("{op} does not take {dtype}{hint}")]
    Type {
        /// The operation.
        op: String,
        /// The type.
        dtype: Dtype,
        /// What it takes, beginning with a comma or a colon; or nothing.
        hint: String,
    },
    /// A value that is not allowed.
    #[error("{op}: {message}")]
    Value {
        /// The operation.
        op: String,
        /// What is wrong.
        message: String,
    },
    /// A size beyond what can be counted.
    #[error("{what}: the number of elements of shape {shape:?} passes 2^63")]
    Size {
        /// The tensor.
        what: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// An input of a run differs from what the program declares.
    #[error("input {name}: {message}")]
    Input {
        /// Name of the input.
        name: String,
        /// How it differs.
        message: String,
    },
    /// A size that only a binding can give.
    #[error("input {input}: dimension {dim} has no value; give it one with --bind {dim}=N")]
    Unbound {
        /// Name of the input.
        input: String,
        /// Name of the dimension.
        dim: String,
    },
    /// A graph input of an ONNX model whose elements give axes or sizes.
    #[error("input {input} gives axes or sizes; its value has to be known when the program is made")]
    Unknown {
        /// Name of the input.
        input: String,
    },
    /// An ONNX model, or a part of it, is wrong.
    #[error("{what}: {message}")]
    Onnx {
        /// The model, tensor, value or function.
        what: String,
        /// What is wrong.
        message: String,
    },
    /// A node of an ONNX model is wrong.
    #[error("node {node} ({op}, opset {opset})")]
    Node {
        /// Name of the node, or of its first output.
        node: String,
        /// Its operation.
        op: String,
        /// Version of the operation's set.
        opset: i64,
        /// Why.
        source: Box<Error>,
    },
    /// A file cannot be read.
    #[error("{path}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The executor failed: memory, or a worker.
    #[error("{what}")]
    Run {
        /// What was running.
        what: String,
        /// Why it failed.
        source: sapwood_skeleton::Error,
    },
}

impl Error {
    /// An [`Error::Shape`].
    pub(crate) fn shape(op: impl Into<String>, message: impl Into<String>) -> Error {
        Error::Shape { op: op.into(), message: message.into() }
    }

    /// An [`Error::Value`].
    pub(crate) fn value(op: impl Into<String>, message: impl Into<String>) -> Error {
        Error::Value { op: op.into(), message: message.into() }
    }

    /// An [`Error::Onnx`].
    pub(crate) fn onnx(what: impl Into<String>, message: impl Into<String>) -> Error {
        Error::Onnx { what: what.into(), message: message.into() }
    }

    /// An [`Error::Type`].
    pub(crate) fn dtype(op: impl Into<String>, dtype: Dtype, hint: impl Into<String>) -> Error {
        Error::Type { op: op.into(), dtype, hint: hint.into() }
    }
}
