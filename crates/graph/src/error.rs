//! What can go wrong with a data set, a graph or a draw. Every message names the file and line, or the flag and its
//! range, and what to do.

/// `Result` with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of a text file that cannot be used.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The file.
        file: String,
        /// Line number from 1.
        line: u64,
        /// What is wrong and what to write.
        what: String,
    },
    /// A file, or a set of files, that cannot be used as a whole.
    #[error("{file}: {what}")]
    File {
        /// The file or folder.
        file: String,
        /// What is wrong and what to do.
        what: String,
    },
    /// A data set of this name is nowhere.
    #[error("no data set '{name}': looked at {}; {hint}", tried.join(", "))]
    NotFound {
        /// The name asked for.
        name: String,
        /// The places looked at, in order.
        tried: Vec<String>,
        /// How to make it.
        hint: String,
    },
    /// A graph needs a node.
    #[error("graph has no nodes")]
    NoNodes,
    /// A name that no registry knows.
    #[error("unknown {kind} '{name}'{}; known: {}", nearest.as_ref().map_or(String::new(), |n| format!(", did you mean '{n}'?")), known.join(", "))]
    Unknown {
        /// What kind of thing: `sampler`, `normalisation`, ...
        kind: &'static str,
        /// The name given.
        name: String,
        /// The known name most like it, if one is near.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// A value outside its range.
    #[error("{flag} must be {range}, not {value}")]
    Range {
        /// The flag that sets it.
        flag: &'static str,
        /// The range allowed, in words.
        range: &'static str,
        /// The value given.
        value: String,
    },
    /// A spec of a generator that makes no graph.
    #[error("{spec}: {what}")]
    Generator {
        /// The spec as given.
        spec: String,
        /// Which parameter is wrong, its range, and what to write.
        what: String,
    },
    /// A score that is no finite number.
    #[error("the score of {unit} is {value}; scores must be finite")]
    Score {
        /// Which unit or pair.
        unit: String,
        /// The score.
        value: f64,
    },
    /// Bounds of the drop probabilities that cannot have the sum asked for.
    #[error("{flag} {bound} cannot hold: {units} units with this probability make {}, {} the {sum} to drop", *bound * *units as f64, if *flag == "--q-min" { "more than" } else { "fewer than" })]
    Infeasible {
        /// `--q-min` or `--q-max`.
        flag: &'static str,
        /// Its value.
        bound: f64,
        /// Units that may go.
        units: u64,
        /// The sum asked for.
        sum: f64,
    },
    /// An iteration that did not reach its tolerance.
    #[error("{what}: the iteration ended with a relative residual of {residual:.1e}")]
    NotConverged {
        /// What was sought.
        what: &'static str,
        /// How far it came.
        residual: f64,
    },
    /// Something that this version names but does not do.
    #[error("{what} is not built yet; {instead}")]
    NotBuilt {
        /// What was asked for.
        what: String,
        /// What there is instead.
        instead: String,
    },
    /// A count beyond what the storage of a graph can number.
    #[error("{what}: {count} is more than {limit}")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// Two operands of different sizes.
    #[error("{what}: {got}, but the graph has {expected}")]
    Size {
        /// What is counted.
        what: &'static str,
        /// The count found.
        got: u64,
        /// The graph's.
        expected: u64,
    },
    /// A pair of an undirected graph listed in both directions with two weights.
    #[error(
        "edge {from} - {to} has weight {forth} one way and {back} the other; read the list as directed, or give one weight"
    )]
    Directions {
        /// The smaller end.
        from: u32,
        /// The larger end.
        to: u32,
        /// Weight of smaller → larger.
        forth: f64,
        /// Weight of larger → smaller.
        back: f64,
    },
    /// No node to train on.
    #[error("split '{split}' of {name}: {what}")]
    Split {
        /// The data set.
        name: String,
        /// The split.
        split: String,
        /// What is wrong.
        what: String,
    },
    /// The features asked for cannot be made.
    #[error("{name}: {what}")]
    Features {
        /// The data set.
        name: String,
        /// What is wrong and what to do.
        what: String,
    },
    /// A sampler that drops no units has nothing to list.
    #[error("sampler {sampler} {why}: there is nothing to write as {form}")]
    NothingToWrite {
        /// Registry name.
        sampler: &'static str,
        /// What it does instead.
        why: &'static str,
        /// What was to be written.
        form: &'static str,
    },
    /// A redraw of the operator failed and left it without a matrix.
    #[error("the operator has no matrix because its last redraw failed; redraw it")]
    Interrupted,
    /// An error of the file layer.
    #[error(transparent)]
    Files(#[from] sapwood_files::Error),
    /// An error of the sparse layer.
    #[error(transparent)]
    Sparse(#[from] sapwood_sparse::Error),
    /// A file that the sparse layer cannot read or write.
    #[error(transparent)]
    Matrix(#[from] sapwood_sparse::io::Error),
    /// An error of the executor or of a random stream.
    #[error(transparent)]
    Skeleton(#[from] sapwood_skeleton::Error),
}

impl Error {
    /// An [`Error::Line`].
    pub(crate) fn line(file: &str, line: u64, what: impl Into<String>) -> Error {
        Error::Line { file: file.into(), line, what: what.into() }
    }

    /// An [`Error::File`].
    pub(crate) fn file(file: impl AsRef<str>, what: impl Into<String>) -> Error {
        Error::File { file: file.as_ref().into(), what: what.into() }
    }

    /// An [`Error::Unknown`] that proposes the known name most like `name`.
    pub fn unknown<'a>(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
        let known: Vec<String> = known.into_iter().map(String::from).collect();
        let nearest = sapwood_machine::nearest(name, known.iter().map(String::as_str)).map(String::from);
        Error::Unknown { kind, name: name.into(), nearest, known }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_the_nearest_and_all() {
        let e = Error::unknown("sampler", "dropege", ["none", "dropedge"]);
        assert_eq!(e.to_string(), "unknown sampler 'dropege', did you mean 'dropedge'?; known: none, dropedge");
        let e = Error::unknown("sampler", "metropolis", ["none", "dropedge"]);
        assert_eq!(e.to_string(), "unknown sampler 'metropolis'; known: none, dropedge");
    }
}
