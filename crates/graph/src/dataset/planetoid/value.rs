//! What a pickle is made of. Objects live in one list and name each other by number, as the memo of a pickle does, so that
//! nothing here is recursive: neither reading nor forgetting a deeply nested file.

use std::ops::Range;

/// A small value, or the number of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Real(f64),
    Global(Global),
    Object(u32),
}

/// The names that a pickle may use; there is no other way to name something outside the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    Ndarray,
    Dtype,
    /// Makes an empty array, to be filled by BUILD.
    Reconstruct,
    /// A number of NumPy.
    Scalar,
    CsrMatrix,
    /// Makes an empty object of a class, in protocols 0 and 1.
    Reconstructor,
    Object,
    DefaultDict,
    List,
    /// How Python 3 writes bytes in protocols 0 to 2.
    Encode,
    Bytes,
}

/// Modules and names that [`Global`] stands for: those of Python 2 and 3, of old and new NumPy and SciPy.
const GLOBALS: &[(&[&str], &str, Global)] = &[
    (&["numpy"], "ndarray", Global::Ndarray),
    (&["numpy"], "dtype", Global::Dtype),
    (&["numpy.core.multiarray", "numpy._core.multiarray"], "_reconstruct", Global::Reconstruct),
    (&["numpy.core.multiarray", "numpy._core.multiarray"], "scalar", Global::Scalar),
    (&["scipy.sparse.csr", "scipy.sparse._csr"], "csr_matrix", Global::CsrMatrix),
    (&["scipy.sparse.csr", "scipy.sparse._csr"], "csr_array", Global::CsrMatrix),
    (&["copy_reg", "copyreg"], "_reconstructor", Global::Reconstructor),
    (&["__builtin__", "builtins"], "object", Global::Object),
    (&["__builtin__", "builtins"], "list", Global::List),
    (&["__builtin__", "builtins"], "bytes", Global::Bytes),
    (&["collections"], "defaultdict", Global::DefaultDict),
    (&["_codecs"], "encode", Global::Encode),
];

impl Global {
    pub(super) fn find(module: &[u8], name: &[u8]) -> Option<Global> {
        let known = |(modules, n, _): &&(&[&str], &str, Global)| {
            n.as_bytes() == name && modules.iter().any(|m| m.as_bytes() == module)
        };
        GLOBALS.iter().find(known).map(|(_, _, global)| *global)
    }
}

/// Bytes of the file, or bytes that stood in it escaped.
#[derive(Debug, Clone)]
pub(super) enum Span {
    File(Range<usize>),
    Owned(Vec<u8>),
}

/// Type of the items of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dtype {
    /// `i`, `u`, `f` or `b`.
    pub(super) kind: u8,
    /// Bytes of an item.
    pub(super) size: usize,
    pub(super) big: bool,
}

/// What BUILD gave an array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filled {
    pub(super) shape: Value,
    pub(super) dtype: Dtype,
    pub(super) fortran: bool,
    pub(super) data: Value,
}

/// An object, and where in the file it began.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Bytes(Span),
    /// UTF-8.
    Text(Span),
    /// The bytes of a text whose characters are below 256.
    Latin1(Value),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    Dtype(Dtype),
    Array(Option<Filled>),
    Scalar(Dtype, Value),
    /// With the dictionary of its parts.
    Csr(Option<Value>),
}

impl Kind {
    /// What messages call it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Kind::Bytes(_) | Kind::Latin1(_) => "a string of bytes",
            Kind::Text(_) => "a text",
            Kind::Tuple(_) => "a tuple",
            Kind::List(_) => "a list",
            Kind::Dict(_) => "a dictionary",
            Kind::Dtype(_) => "a dtype",
            Kind::Array(_) => "an array",
            Kind::Scalar(..) => "a number of NumPy",
            Kind::Csr(_) => "a csr_matrix",
        }
    }
}
