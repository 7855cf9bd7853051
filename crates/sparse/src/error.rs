//! What can go wrong in a sparse operation: facts in fields, one variant per kind of fault.

/// The result of a sparse operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A fault of a sparse operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An array has the wrong number of elements.
    #[error("{array} has {found} elements, {expected} are needed")]
    Length {
        /// Name of the array.
        array: &'static str,
        /// Elements needed.
        expected: usize,
        /// Elements found.
        found: usize,
    },
    /// The first offset is not zero.
    #[error("offsets[0] is {value}, it must be 0")]
    FirstOffset {
        /// The value found.
        value: usize,
    },
    /// Offsets descend.
    #[error("offsets descend at row {row}: {value} follows {before}")]
    Descending {
        /// The row whose end lies before its start.
        row: usize,
        /// End of the row.
        value: usize,
        /// Start of the row.
        before: usize,
    },
    /// The last offset is not the number of entries.
    #[error("the last offset (row {row}) is {value}, but there are {entries} columns")]
    LastOffset {
        /// The last row.
        row: usize,
        /// The value found.
        value: usize,
        /// Entries stored.
        entries: usize,
    },
    /// A column number is not below the number of columns.
    #[error("columns[{entry}] (row {row}) is {column}, the matrix has {cols} columns")]
    Column {
        /// Row of the entry.
        row: usize,
        /// Entry number.
        entry: usize,
        /// The value found.
        column: usize,
        /// Columns of the matrix.
        cols: usize,
    },
    /// The columns of a row do not ascend.
    #[error("columns[{entry}] (row {row}) is {column}, after {before}: sort the columns of each row first")]
    Unsorted {
        /// Row of the entry.
        row: usize,
        /// Entry number.
        entry: usize,
        /// The value found.
        column: usize,
        /// The column before it.
        before: usize,
    },
    /// A number does not fit its type.
    #[error("{what} {value} does not fit {type_name}; use {wider}")]
    TooLarge {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: usize,
        /// The type too small for it.
        type_name: &'static str,
        /// A type that would do.
        wider: &'static str,
    },
    /// Two operands do not fit together.
    #[error("{what} must be {expected}, found {found}")]
    Shape {
        /// Which dimension of which operand.
        what: &'static str,
        /// Size needed.
        expected: usize,
        /// Size found.
        found: usize,
    },
    /// A work plan was made for another matrix.
    #[error(
        "the work plan was made for {plan_rows} rows and {plan_entries} entries, the matrix has {rows} and {entries}: rebuild it"
    )]
    Plan {
        /// Rows of the plan.
        plan_rows: usize,
        /// Entries of the plan.
        plan_entries: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Entries of the matrix.
        entries: usize,
    },
    /// An option is out of its range.
    #[error("{name} is {value}, it must be {range}")]
    Option {
        /// Name of the option.
        name: &'static str,
        /// The value found.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// An element of an array is out of its range.
    #[error("{array}[{index}] is {value}, it must be {range}")]
    Element {
        /// Name of the array.
        array: &'static str,
        /// Place in the array.
        index: usize,
        /// The value found.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// Weights that shares are made of are all zero.
    #[error("{array} is all zero: it needs at least one positive weight")]
    AllZero {
        /// Name of the array.
        array: &'static str,
    },
    /// The weights of the arcs that leave the nodes are not those of the matrix.
    #[error(
        "out_weight does not belong to the matrix: {found} of the mass was found after a sweep, {expected} was expected; \
         it must be the column sums, self-loops counted once"
    )]
    OutWeight {
        /// Mass that was found.
        found: f64,
        /// Mass that was to be there.
        expected: f64,
    },
    /// A graph that was to be symmetric is not.
    #[error(
        "Chebyshev needs a symmetric graph: the weights into node {node} sum to {incoming}, those out of it to {outgoing}; \
         use power or gauss-seidel"
    )]
    Asymmetric {
        /// The first such node.
        node: usize,
        /// Sum of its row, its own weight with it.
        incoming: f64,
        /// Its `out_weight`.
        outgoing: f64,
    },
    /// The mass of sinks is to go elsewhere than restarts, and the method cannot do that.
    #[error(
        "Chebyshev sends the mass of sinks where the teleport goes: leave dangling out, or use power or gauss-seidel"
    )]
    Dangling,
    /// A name that is not known.
    #[error("unknown {kind} '{name}'{}; known: {}", nearest.map_or(String::new(), |n| format!(", did you mean '{n}'?")), known.join(", "))]
    Unknown {
        /// What kind of thing.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The known name most like it, if one is near.
        nearest: Option<&'static str>,
        /// All known names.
        known: Vec<&'static str>,
    },
    /// A size beyond what a machine can address.
    #[error("{what} of {rows} x {cols} is beyond 2^63 bytes")]
    Overflow {
        /// What was to be made.
        what: &'static str,
        /// First dimension.
        rows: usize,
        /// Second dimension.
        cols: usize,
    },
    /// The system refused the memory.
    #[error("{what} needs {bytes} bytes of memory, which the system refused")]
    Memory {
        /// What was to be made.
        what: &'static str,
        /// Bytes asked for.
        bytes: usize,
    },
    /// The executor failed, or a chunk of the work did.
    #[error(transparent)]
    Run(sapwood_skeleton::Error),
}

impl Error {
    /// An [`Error::Unknown`] that proposes the known name most like `name`.
    pub(crate) fn unknown(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'static str>) -> Error {
        let known: Vec<&'static str> = known.into_iter().collect();
        let nearest = sapwood_machine::nearest(name, known.iter().copied());
        let nearest = nearest.and_then(|near| known.iter().copied().find(|&k| k == near));
        Error::Unknown { kind, name: name.into(), nearest, known }
    }
}

impl From<sapwood_skeleton::Error> for Error {
    /// An error of this crate that travelled through the executor comes out as itself.
    fn from(e: sapwood_skeleton::Error) -> Error {
        match e {
            sapwood_skeleton::Error::Chunk(inner) => match inner.downcast::<Error>() {
                Ok(own) => *own,
                Err(inner) => Error::Run(sapwood_skeleton::Error::Chunk(inner)),
            },
            other => Error::Run(other),
        }
    }
}

/// Makes `vec` at least `len` long in capacity, or says what was refused.
pub(crate) fn reserve<T>(vec: &mut Vec<T>, len: usize, what: &'static str) -> Result<()> {
    let more = len.saturating_sub(vec.len());
    let bytes = len.saturating_mul(size_of::<T>().max(1));
    vec.try_reserve_exact(more).map_err(|_| Error::Memory { what, bytes })
}
