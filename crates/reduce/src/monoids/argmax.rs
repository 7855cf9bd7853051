//! Index of the largest element.

use super::arg::Arg;
use super::least;
use crate::scalar::Compare;

/// Index of the largest element.
pub(crate) static ARGMAX: Arg =
    Arg { name: "argmax", summary: "the index of the largest element", better: Compare::Gt, worst: least };
