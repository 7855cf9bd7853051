//! What can go wrong while work runs in chunks.

use std::ops::Range;

/// A result whose error is [`enum@Error`] unless said otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the executor, or one that a chunk's own code handed up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A chunk panicked. The remaining chunks were skipped; the pool stays usable.
    #[error("panic in items {}..{}: {message}", range.start, range.end)]
    Panicked {
        /// The items of the chunk that panicked.
        range: Range<usize>,
        /// What the panic said.
        message: String,
    },
    /// A chunk's own code returned an error of another crate. See [`Error::other`].
    #[error(transparent)]
    Chunk(Box<dyn std::error::Error + Send + Sync>),
    /// The arena of a worker would pass its limit, or the system has no more memory.
    #[error("no memory for {needed} bytes of scratch space in a worker")]
    Memory {
        /// Bytes asked for.
        needed: usize,
    },
    /// A plan does not fit the data it is used with.
    #[error("the chunk plan covers {plan} items but {what} has {got}")]
    Shape {
        /// Items of the plan.
        plan: usize,
        /// Items found.
        got: usize,
        /// Which operand.
        what: &'static str,
    },
    /// Borders or weights that do not ascend.
    #[error("chunk borders must ascend from 0: border {index} is {value} after {before}")]
    Borders {
        /// Position of the first offender.
        index: usize,
        /// Its value.
        value: u64,
        /// The value before it.
        before: u64,
    },
    /// A thread count of zero, or above the limit.
    #[error("cannot run on {asked} threads: use 1 to {limit}")]
    Threads {
        /// Threads asked for.
        asked: usize,
        /// Largest count allowed.
        limit: usize,
    },
    /// The system refused to start a thread.
    #[error("cannot start worker thread {index}")]
    Spawn {
        /// Number of the worker.
        index: usize,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The second key of a random number is too large.
    #[error("random stream: second key {b} does not fit 24 bits")]
    StreamKey {
        /// The key given.
        b: u32,
    },
    /// `SAPWOOD_ISA` holds a word that names no level, or one that this processor lacks.
    #[error("SAPWOOD_ISA={value}: {why}; use portable, avx2 or avx512")]
    Isa {
        /// Value of the variable.
        value: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A launcher started several ranks, but this build has no MPI.
    #[error(
        "{variable}={ranks}: started as one of {ranks} ranks, but this build has no MPI; start it without mpirun or srun"
    )]
    LaunchedWithoutMpi {
        /// The launcher's variable.
        variable: &'static str,
        /// Number of ranks.
        ranks: usize,
    },
    /// The sum of counts passes 2^64 − 1.
    #[error("the sum of the counts passes 2^64 - 1 at item {index}")]
    CountOverflow {
        /// First item whose prefix sum does not fit.
        index: usize,
    },
}

impl Error {
    /// Wraps an error of another crate so that it can leave a chunk; [`std::error::Error::source`] and `downcast` reach it.
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Chunk(error.into())
    }
}
