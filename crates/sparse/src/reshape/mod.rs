//! Making one matrix out of another, one operation per file, and their registry.

mod compact;
pub(crate) mod transpose;

pub use transpose::transpose;

use crate::Fact;

/// The reshaping operations.
pub static ALL: &[Fact] = &[
    Fact {
        name: "compact",
        summary: "keeps some of the entries, in storage that is reused",
        can: &["any value, index and offset type", "new values for kept entries", "no allocation after the first call"],
    },
    Fact {
        name: "transpose",
        summary: "exchanges rows and columns by a parallel counting sort",
        can: &["any value, index and offset type", "the source of every entry"],
    },
];
