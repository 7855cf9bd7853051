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

    /// An [`Error::Type`].
    pub(crate) fn dtype(op: impl Into<String>, dtype: Dtype, hint: impl Into<String>) -> Error {
        Error::Type { op: op.into(), dtype, hint: hint.into() }
    }
}
