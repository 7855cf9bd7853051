//! What can go wrong while a network is described, built or trained.

/// A result whose error is [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the training crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number outside the range of its flag.
    #[error("{flag} must be {range}, not {value}")]
    Range {
        /// The flag, with its dashes.
        flag: &'static str,
        /// What was given.
        value: String,
        /// What is allowed, as words that follow "must be".
        range: &'static str,
    },
    /// Arguments that a schedule of the learning rate cannot have.
    #[error("--lr-schedule {text}: must be {form}: {summary}")]
    Schedule {
        /// What was given.
        text: String,
        /// The form of that schedule.
        form: &'static str,
        /// What it does, with the ranges of its arguments.
        summary: &'static str,
    },
    /// A file of a preset that is none: a mistake of the file.
    #[error("preset {name}: {what}")]
    Preset {
        /// Name of the preset.
        name: String,
        /// What is wrong, with the place.
        what: String,
    },
    /// Something that a later step of the project brings.
    #[error("{flag}{}: not built yet", .value.as_deref().map(|v| format!(" {v}")).unwrap_or_default())]
    NotBuilt {
        /// The flag, with its dashes.
        flag: String,
        /// The value that needs it, when the flag itself exists.
        value: Option<String>,
    },
    /// Two settings that exclude each other, or one that the data cannot serve.
    #[error("{0}")]
    Settings(String),
    /// The split has no training node with a label.
    #[error("split `{split}` has no labelled training node; choose another with --split")]
    EmptyTrain {
        /// Name of the split.
        split: String,
    },
    /// A selection rule reads validation results but the split has no labelled validation node.
    #[error("split `{split}` has no labelled validation node, which --select {select} needs; use --select last")]
    EmptyValidation {
        /// Name of the split.
        split: String,
        /// Name of the rule.
        select: &'static str,
    },
    /// The data set has no node.
    #[error("graph has no nodes")]
    NoNodes,
    /// More memory than the machine has free.
    #[error(
        "this run needs {needed} bytes of memory but {available} are available; use --recompute auto, fewer --layers or a smaller --hidden"
    )]
    Memory {
        /// Bytes the run would hold at its peak.
        needed: u64,
        /// Bytes available to the process.
        available: u64,
    },
    /// A description of a model that cannot be built: a mistake of the model's file.
    #[error("model {model}: {what}")]
    Model {
        /// Name of the model.
        model: String,
        /// What is wrong, naming the layer.
        what: String,
    },
    /// A layer given inputs that it cannot work with: a mistake of the model's file.
    #[error("{kind} layer: {what}")]
    Layer {
        /// Kind of the layer.
        kind: &'static str,
        /// What is wrong.
        what: String,
    },
    /// The system has no memory for an activation.
    #[error("no memory for a {rows} x {cols} activation")]
    Activation {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        cols: usize,
        /// What the allocation said.
        #[source]
        source: sapwood_sparse::Error,
    },
    /// The file of `--log` cannot be written.
    #[error("cannot write the log {}", .path.display())]
    Log {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A checkpoint cannot be written, read or used.
    #[error("checkpoint {} {what}", .path.display())]
    Checkpoint {
        /// The file or folder.
        path: std::path::PathBuf,
        /// What is wrong with it.
        what: String,
        /// Why, if the system said so.
        #[source]
        source: Option<std::io::Error>,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Files(#[from] sapwood_files::Error),
    /// The statistics over seeds failed.
    #[error("cannot compare the methods")]
    Compare(#[from] crate::compare::Error),
    /// The executor failed.
    #[error(transparent)]
    Exec(#[from] sapwood_skeleton::Error),
    /// A sparse or dense product failed.
    #[error(transparent)]
    Sparse(#[from] sapwood_sparse::Error),
    /// The graph, its sampler or its operator failed.
    #[error(transparent)]
    Graph(#[from] sapwood_graph::Error),
}

impl Error {
    pub(crate) fn checkpoint(path: &std::path::Path, what: impl Into<String>) -> Error {
        Error::Checkpoint { path: path.into(), what: what.into(), source: None }
    }

    pub(crate) fn checkpoint_io(path: &std::path::Path, what: &str, source: std::io::Error) -> Error {
        Error::Checkpoint { path: path.into(), what: what.into(), source: Some(source) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_flag_range_and_sizes() {
        let e = Error::Range { flag: "--p", value: "1.5".into(), range: "from 0 to 1" };
        assert_eq!(e.to_string(), "--p must be from 0 to 1, not 1.5");
        let e = Error::Memory { needed: 3000, available: 1000 };
        assert!(e.to_string().starts_with("this run needs 3000 bytes of memory but 1000 are available"));
    }
}
