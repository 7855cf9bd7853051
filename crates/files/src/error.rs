//! The errors of this crate: each names the file; the cause is the error's source.

use std::io;
use std::path::{Path, PathBuf};

/// Everything that can go wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system, or a decompressor, refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: `open`, `read`, `write`, ...
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The bytes are not the array they claim to be.
    #[error("{}: not a readable .npy file: {message}", path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The file is not the archive of arrays that it claims to be.
    #[error("{}: not a readable .npz file: {message}", path.display())]
    Npz {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and with which member.
        message: String,
    },
    /// An array whose shape and data disagree was to be written.
    #[error("{}: an array of shape {shape:?} has {expected} items, {found} were given", path.display())]
    Shape {
        /// The file that was not written.
        path: PathBuf,
        /// The shape asked for.
        shape: Vec<usize>,
        /// The product of the shape, or "too many".
        expected: String,
        /// The number of items.
        found: usize,
    },
    /// Signals could not be caught.
    #[error("cannot catch SIGINT and SIGTERM")]
    Signals(#[source] io::Error),
}

impl Error {
    /// An [`Error::Io`] about `path` while doing `action` (an infinitive: `read`).
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), action, source }
    }
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
