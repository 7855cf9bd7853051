//! The errors of this crate.

use std::fmt;

/// One thing that is wrong in a machine file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: usize,
    /// The key it is about, dotted from its section: `level.link.latency`.
    pub key: String,
    /// What is wrong and what to write.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, key, message } = self;
        write!(f, "line {line}: {key}: {message}")
    }
}

/// Everything that can go wrong with a machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] sapwood_files::Error),
    /// The file is not a machine; [`crate::check`] gives the same list.
    #[error("{}", invalid(file, problems))]
    Invalid {
        /// The file's name.
        file: String,
        /// What is wrong, by line; at least one.
        problems: Vec<Problem>,
    },
    /// Levels and overrides that make no tree.
    #[error("{part}: {key}: {message}")]
    Parts {
        /// `level 2` or `override 0`, counted from 0.
        part: String,
        /// The key at fault.
        key: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// A text that is no shape, or a shape too large.
    #[error("shape \"{text}\": {message}")]
    Shape {
        /// The text, shortened.
        text: String,
        /// What is wrong with it.
        message: String,
    },
    /// No preset of this name.
    #[error("no machine preset is called \"{name}\"; {hint}")]
    UnknownPreset {
        /// The name asked for.
        name: String,
        /// What to do.
        hint: String,
    },
    /// A path like `/node[0]` that names no node, or several.
    #[error("\"{path}\": {message}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The system told nothing about its processors.
    #[error("cannot discover the machine: {0}")]
    Discover(String),
    /// Shares cannot be computed from such numbers.
    #[error("cannot split {items} items: {message}")]
    Balance {
        /// How many items were to be split.
        items: u64,
        /// What is wrong with the speeds.
        message: String,
    },
}

fn invalid(file: &str, problems: &[Problem]) -> String {
    match problems {
        [] => format!("{file}: not a machine"),
        [only] => format!("{file}: {only}"),
        [first, rest @ ..] => {
            format!("{file}: {first} (and {} more, see `sapwood machine check {file}`)", rest.len())
        }
    }
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
