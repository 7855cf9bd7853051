//! A graph in one file that `sapwood-sparse` reads: an edge list or a Matrix Market file. No features, labels or splits.
//!
//! A line `u v`, or an entry in row u and column v, is an edge from u to v; without `--directed` it stands for both.

use super::files::{fact_of, file_name};
use super::place::Place;
use super::{Entry, GraphData, LoadOptions, Weights, merge_warnings};
use crate::graph::{Edge, Graph, GraphOptions};
use crate::{Error, Result};
use sapwood_sparse::io::{self, ReadOptions, Values};
use sapwood_sparse::{Csr, Index, Real, Scalar, with_matrix};
use std::path::Path;

pub(super) const ENTRY: Entry = Entry {
    name: "sparse",
    summary: "an edge list or a Matrix Market file",
    embedded: &[],
    prefix: None,
    claims: |place| matches!(place, Place::File(path) if has_ending(path)),
    load: |place, options| match place {
        Place::File(path) => load(path, options),
        Place::Folder(path, _) => Err(Error::file(path.display().to_string(), "a folder, not a file")),
        Place::Embedded(spec) | Place::Generated(spec) | Place::Asked { spec, .. } => {
            Err(Error::file(spec, "not a file"))
        }
    },
};

fn has_ending(path: &Path) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    io::ALL
        .iter()
        .flat_map(|format| format.extensions)
        .any(|ending| plain.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.') && rest.len() > 1))
}

fn load(path: &Path, options: &LoadOptions) -> Result<GraphData> {
    let ignored = options.weights == Weights::Ignored;
    let values = if ignored { Values::Pattern } else { Values::StoredF32 };
    let read = ReadOptions { values, ..ReadOptions::default() };
    let loaded = io::read(path, &read)?;
    let shown = path.display().to_string();
    let (rows, columns) = loaded.matrix.shape();
    if rows != columns {
        return Err(Error::file(shown, format!("a matrix of {rows} x {columns}; a graph needs a square one")));
    }
    let (list, weighted) = with_matrix!(&loaded.matrix, m => edges(m))?;
    if let Some(bad) = list.iter().find(|e| !(e.weight >= 0.0 && e.weight.is_finite())) {
        return Err(bad_weight(&shown, path, loaded.facts.format, bad));
    }
    let (graph, mut merged) = Graph::build(rows, list, GraphOptions { directed: options.directed, weighted })?;
    merged.duplicates += loaded.facts.duplicates;
    let name = file_name(path);
    let mut data = GraphData::of_graph(name.split('.').next().unwrap_or(&name), ENTRY.name, graph);
    data.warnings = merge_warnings(&shown, merged);
    data.files = vec![fact_of(path)?];
    Ok(data)
}

/// The entries as edges, and whether they have weights.
fn edges<V: Scalar, I: Index, P: Index>(m: &Csr<V, I, P>) -> Result<(Vec<Edge>, bool)> {
    let limit = u64::from(u32::MAX);
    if m.rows() as u64 >= limit {
        return Err(Error::TooLarge { what: "nodes", count: m.rows() as u64, limit });
    }
    let mut list = Vec::with_capacity(m.entries());
    for row in 0..m.rows() {
        for (column, value) in m.row(row).iter().zip(m.row_values(row)) {
            let weight = if V::PATTERN { 1.0 } else { value.widen().to_f64() as f32 };
            list.push(Edge { from: row as u32, to: column.to_usize() as u32, weight });
        }
    }
    Ok((list, !V::PATTERN))
}

/// The error for a weight that no edge may have, with its line where the format has one line per edge.
fn bad_weight(shown: &str, path: &Path, format: &str, bad: &Edge) -> Error {
    let what =
        format!("edge {} - {} has weight {}; weights must be finite and not negative", bad.from, bad.to, bad.weight);
    let text = || {
        let edges = io::snap::edges(io::Source::open(path).ok()?, &ReadOptions::default()).ok()?;
        let here = (u64::from(bad.from), u64::from(bad.to));
        edges.iter().position(|ends| ends == here).map(|e| edges.line(e))
    };
    match (format == "snap").then(text).flatten() {
        Some(line) => Error::line(shown, line, what),
        None => Error::file(shown, what),
    }
}
