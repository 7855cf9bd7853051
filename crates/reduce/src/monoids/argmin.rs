//! Index of the smallest element.

use super::arg::Arg;
use super::greatest;
use crate::scalar::Compare;

/// Index of the smallest element.
pub(super) static ARGMIN: Arg =
    Arg { name: "argmin", summary: "the index of the smallest element", better: Compare::Lt, worst: greatest };
