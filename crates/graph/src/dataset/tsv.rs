//! A folder of text files, the project's own format: `edges.tsv` and what belongs to it. See the module's parts for each.
//!
//! `edges.tsv` (`u v [w]`, or `arcs.tsv` with `--directed`), `edges_weighted.tsv`, `selfloops.tsv`, `nodes.tsv` (the
//! number of nodes), one of `features.mtx` `features.npy` `words.tsv`, `words.txt`, `labels.tsv`, `classes.tsv`, `split.tsv`
//! and `split_NAME.tsv`. Every file may end in `.gz` or `.zst`. Ids count from 0.

mod edges;
mod features;
pub(super) mod labels;
mod splits;

use super::files::{Files, Home, file_name};
use super::place::Place;
use super::{Entry, GraphData, LoadOptions, believable, merge_warnings};
use crate::features::Features;
use crate::graph::Graph;
use crate::{Error, Result};

pub(super) const ENTRY: Entry = Entry {
    name: "tsv",
    summary: "a folder with edges.tsv or arcs.tsv, and features, labels and splits beside it",
    embedded: &[],
    prefix: None,
    claims,
    load: |place, options| match place {
        Place::Folder(path, _) => {
            let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            read(&file_name(&resolved), ENTRY.name, Files::new(Home::Folder(path.clone())), options)
        }
        Place::File(path) => Err(Error::file(path.display().to_string(), "not a folder")),
        Place::Embedded(spec) | Place::Generated(spec) | Place::Asked { spec, .. } => {
            Err(Error::file(spec, "not a folder"))
        }
    },
};

fn claims(place: &Place) -> bool {
    let Place::Folder(_, names) = place else { return false };
    ["edges.tsv", "arcs.tsv", "edges_weighted.tsv"].iter().any(|file| {
        names.iter().any(|name| name.strip_prefix(file).is_some_and(|end| ["", ".gz", ".zst"].contains(&end)))
    })
}

/// The number of nodes as the files let it be known: fixed by `nodes.tsv`, else one more than the largest id seen.
#[derive(Debug, Default)]
struct Nodes {
    fixed: Option<usize>,
    /// One more than the largest id, and the line that has it.
    least: usize,
    seen_at: String,
}

impl Nodes {
    /// An id, or a count of rows, asks for `least` nodes.
    fn need(&mut self, least: usize, place: impl FnOnce() -> String) {
        if least > self.least {
            (self.least, self.seen_at) = (least, place());
        }
    }

    fn count(&self) -> usize {
        self.fixed.unwrap_or(self.least)
    }
}

/// Reads a TSV folder.
pub(super) fn read(name: &str, kind: &'static str, mut files: Files, options: &LoadOptions) -> Result<GraphData> {
    let mut nodes = Nodes { fixed: node_count(&mut files)?, ..Nodes::default() };
    let edges = edges::read(&mut files, options, &mut nodes)?;
    let labels = labels::read(&mut files, &mut nodes)?;
    let splits = splits::read(&mut files, &mut nodes)?;
    let features = features::read(&mut files, &mut nodes)?;
    let n = nodes.count();
    check_believable(&nodes, edges.list.len(), || files.stored_name("nodes.tsv"))?;
    if let Features::Stored(matrix) = &features.matrix
        && matrix.rows() != n
    {
        let why = if nodes.fixed.is_some() { "nodes.tsv".into() } else { nodes.seen_at.clone() };
        let what = format!("{} rows of features, but there are {n} nodes (by {why})", matrix.rows());
        return Err(Error::file(features.file, what));
    }
    if n == 0 {
        return Err(Error::NoNodes);
    }
    let (graph, merged) = Graph::build(n, edges.list, edges.options)?;
    let mut data = GraphData::of_graph(name, kind, graph);
    data.warnings = edges.warnings;
    data.warnings.extend(merge_warnings(&edges.file, merged));
    for (node, class) in labels.of {
        data.labels[node.index()] = class;
    }
    data.classes = labels.classes;
    data.class_names = labels.names;
    data.warnings.extend(labels::gaps(&data));
    data.splits = splits;
    data.features = features.matrix;
    data.words = features.words;
    data.files = files.into_facts();
    Ok(data)
}

/// What `nodes.tsv` says.
fn node_count(files: &mut Files) -> Result<Option<usize>> {
    let Some(text) = files.text("nodes.tsv")? else { return Ok(None) };
    let mut lines = text.lines();
    let Some((line, field)) = lines.next() else {
        return Err(Error::file(&text.name, "empty; write the number of nodes"));
    };
    if let Some((line, _)) = lines.next() {
        return Err(text.wrong(line, "one number is expected, the number of nodes"));
    }
    match super::lines::whole(field) {
        Some(n) if n < u64::from(u32::MAX) => Ok(Some(n as usize)),
        _ => Err(text.wrong(line, format!("write the number of nodes, below {}", u32::MAX))),
    }
}

/// A single huge id makes a huge graph of isolated nodes: that is a mistake, or worth a line in `nodes.tsv`. There, only
/// what no machine could hold for so few edges is refused.
fn check_believable(nodes: &Nodes, edges: usize, stated_in: impl Fn() -> String) -> Result<()> {
    let n = nodes.count();
    let beyond = match nodes.fixed {
        Some(n) => believable::too_many_stated(n, edges),
        None => believable::too_many_seen(n, edges),
    };
    if !beyond {
        return Ok(());
    }
    if nodes.fixed.is_some() {
        return Err(Error::file(stated_in(), format!("{n} nodes for {edges} edges; is the number right?")));
    }
    let id = n - 1;
    let what = format!(
        "node {id} would make {n} nodes for {edges} edges; number the nodes from 0, or write their number to nodes.tsv"
    );
    Err(Error::file(&nodes.seen_at, what))
}
