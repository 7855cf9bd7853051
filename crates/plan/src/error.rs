//! What can go wrong.

use sapwood_machine::nearest;

/// A failure of the planner.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that is none of its kind.
    #[error("unknown {what} '{name}'{hint}; one of {known}")]
    Unknown {
        /// What was named.
        what: &'static str,
        /// The name.
        name: String,
        /// The nearest name, as advice.
        hint: String,
        /// All names.
        known: String,
    },
    /// Sizes that a schedule does not run.
    #[error("{schedule} does not run {stages} stages of {chunks} chunks with {micro_batches} micro-batches: {why}")]
    Refused {
        /// Name of the schedule.
        schedule: &'static str,
        /// Stages.
        stages: usize,
        /// Chunks of a stage.
        chunks: usize,
        /// Micro-batches.
        micro_batches: usize,
        /// The rule.
        why: String,
    },
    /// Lists of operations that are no schedule.
    #[error("{schedule}: {what}")]
    Order {
        /// Name of the schedule.
        schedule: String,
        /// What is wrong.
        what: String,
    },
    /// No stage can go on.
    #[error("{schedule} deadlocks, blocked at {}", heads.join(", "))]
    Deadlock {
        /// Name of the schedule.
        schedule: String,
        /// What each stage waits to run: `stage 0: B(0,3)`.
        heads: Vec<String>,
    },
    /// A model description that cannot be used.
    #[error("{file}: {what}")]
    Model {
        /// The file.
        file: String,
        /// What is wrong, with its place.
        what: String,
    },
    /// Measurements that cannot be used.
    #[error("{file}: {what}")]
    Measured {
        /// The file.
        file: String,
        /// What is wrong, with its place.
        what: String,
    },
    /// A problem that has no plan of the wanted form.
    #[error("{what}")]
    Problem {
        /// What does not fit.
        what: String,
    },
    /// No partition that fits the caps was found.
    #[error("no partition that fits was found: in the nearest one stage {stage} takes {need}, and its cap is {cap}")]
    Infeasible {
        /// The stage that is furthest beyond its cap.
        stage: usize,
        /// Its peak in the partition that comes nearest, in the model's unit of memory.
        need: f64,
        /// Its cap.
        cap: f64,
    },
    /// A text that states no plan for the model.
    #[error("{format}: {what}")]
    Import {
        /// Its format.
        format: &'static str,
        /// What is wrong, with its place.
        what: String,
    },
    /// A plan that a format cannot state.
    #[error("{format} cannot state this plan: {what}")]
    Inexpressible {
        /// The format.
        format: &'static str,
        /// What it has no words for, with its place.
        what: String,
    },
    /// A cost that has no value.
    #[error(transparent)]
    Cost(#[from] crate::cost_expr::CostError),
    /// A file that cannot be read or written.
    #[error(transparent)]
    Files(#[from] sapwood_files::Error),
    /// The executor failed.
    #[error(transparent)]
    Skeleton(#[from] sapwood_skeleton::Error),
    /// Beyond what is representable.
    #[error("{what}")]
    TooLarge {
        /// What is too large, and what to do.
        what: String,
    },
}

/// A result of the planner.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An unknown name, with the nearest of `known`.
    pub fn unknown<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
        let known: Vec<&str> = known.collect();
        let hint =
            nearest(name, known.iter().copied()).map_or_else(String::new, |near| format!(", did you mean {near}?"));
        Error::Unknown { what, name: name.to_owned(), hint, known: known.join(", ") }
    }
}
