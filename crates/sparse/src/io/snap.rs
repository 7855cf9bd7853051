//! Edge lists as SNAP, KONECT and others write them: `from to [weight]` on a line, `#` and `%` lines are comments.
//!
//! Fields are separated by blanks, tabs or a comma. `# Nodes: N` gives the number of nodes, else it is one more than the
//! largest id. [`edges`] gives the edges as they stand in the file, with their lines; [`read`] gives the matrix.

mod edges;
mod labels;
mod parse;
mod write;

pub use edges::Edges;

use super::build::{Mirror, Triplets};
use super::{Entry, Loaded, ReadOptions, Result, Source, Values};
use crate::any::Stored;
use crate::scalar::One;
use edges::Weights;
use parse::{Parser, parse};

/// This format.
pub(super) const ENTRY: Entry = Entry {
    name: "snap",
    summary: "edge list: `from to [weight]` on a line, ids from 0",
    extensions: &["txt", "tsv", "csv", "el", "edges"],
    sniff: |_| false, // any text of numbers may be one: it takes what nothing else claims
    read,
    write: write::write,
};

/// The edges of an edge list, in its order; repeated edges and self loops stay. Of `options` apply `values`, `nodes`,
/// `one_based` and `relabel`. Time is linear in the text; memory is 8 bytes an edge (16 from 2^32 nodes on) and the
/// weights.
///
/// # Errors
/// `file:line` for an id that is negative, above 2^63 − 1, not a whole number or beyond the stated number of nodes; for
/// missing, surplus and bad fields; and when the ids ask for more nodes than the text makes believable.
pub fn edges(source: Source<'_>, options: &ReadOptions) -> Result<Edges> {
    match options.values {
        Values::Pattern => Ok(parse::<One>(source.blocks(), options)?.edges(|_| Weights::None)),
        Values::F32 | Values::StoredF32 => Ok(parse::<f32>(source.blocks(), options)?.edges(Weights::F32)),
        Values::F64 | Values::StoredF64 => Ok(parse::<f64>(source.blocks(), options)?.edges(Weights::F64)),
    }
}

/// Reads an edge list as a matrix: row u has an entry in column v for an edge `u v`.
///
/// # Errors
/// As [`edges`], and the errors of [`super::read`].
pub fn read(source: Source<'_>, options: &ReadOptions) -> Result<Loaded> {
    if options.assume.is_some() {
        return Err(source.refuses("--assume", "Matrix Market files", ENTRY.name));
    }
    match options.values {
        Values::Pattern => matrix::<One>(source, options),
        Values::F32 | Values::StoredF32 => matrix::<f32>(source, options),
        Values::F64 | Values::StoredF64 => matrix::<f64>(source, options),
    }
}

fn matrix<V: Stored>(source: Source<'_>, options: &ReadOptions) -> Result<Loaded> {
    let name = source.name.clone();
    let mut parsed = parse::<V>(source.blocks(), options)?;
    let originals = parsed.originals();
    let Parser { nodes, from, to, values, .. } = parsed;
    let (rows, cols) = (nodes, nodes);
    let mirror = if options.undirected { Mirror::Same } else { Mirror::No };
    let read = Triplets { format: ENTRY.name, rows, cols, from, to, values, mirror, originals };
    super::finish(read, &name, options)
}
