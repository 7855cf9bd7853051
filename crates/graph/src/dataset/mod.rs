//! Data sets: a graph with features, labels and splits, from a name, a folder, a file or the spec of a generator. Start
//! with [`load`].
//!
//! One file per kind of source, one line in [`ALL`]. Loading checks everything and repairs what has one meaning (CRLF,
//! repeated edges, a missing direction), saying so in [`GraphData::warnings`]; what has none is an error with file and
//! line. Reading draws no random number and never renumbers a node.

mod believable;
mod compressed;
#[cfg(feature = "debian")]
mod debian;
pub(crate) mod files;
mod generated;
mod lines;
mod npz;
mod ogb;
mod place;
mod planetoid;
mod sparse;
mod split;
mod tsv;
mod write;

pub use files::FileFact;
pub use place::{Listed, folders, list};
pub(crate) use split::PUBLIC;
pub use split::{Split, TrainingSplit};
pub use write::{Written, convert};

use crate::features::Features;
use crate::graph::{Graph, Merged, NodeId};
use crate::{Result, structure};
use place::Place;

/// Every kind of source, in the order in which they are asked.
pub static ALL: &[Entry] = &[
    #[cfg(feature = "debian")]
    debian::ENTRY,
    generated::ENTRY,
    tsv::ENTRY,
    planetoid::ENTRY,
    ogb::ENTRY,
    npz::ENTRY,
    sparse::ENTRY,
];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name of the kind, as `data list` prints it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Data sets inside the program, by name.
    pub embedded: &'static [&'static str],
    /// The word before the colon that asks for this kind, as in `planetoid:DIR/cora`; most kinds need none.
    pub prefix: Option<&'static str>,
    /// Whether a folder or file is of this kind, from its name and, for a folder, the names in it.
    claims: fn(&Place) -> bool,
    load: fn(&Place, &LoadOptions) -> Result<GraphData>,
}

/// How to read a data set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Keep the direction of arcs; reads `arcs.tsv` where there is one.
    pub directed: bool,
    /// Which weights the edges get.
    pub weights: Weights,
}

/// Which weights the edges get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// Those of the edge file, if it has any.
    #[default]
    Stored,
    /// Those of `edges_weighted.tsv` where there is one (`--weighted`).
    Asked,
    /// None (`--unweighted`).
    Ignored,
}

/// A loaded data set. The graph is never changed after loading.
#[derive(Debug, Clone)]
pub struct GraphData {
    /// Name: of the embedded set, the last part of the path, or the full spec of a generated graph.
    pub name: String,
    /// Kind of source: [`Entry::name`].
    pub kind: &'static str,
    /// The graph.
    pub graph: Graph,
    /// Features as stored; [`crate::features::make`] turns them into what a network gets.
    pub features: Features,
    /// The vocabulary, one word per feature column, if it is known.
    pub words: Vec<String>,
    /// Class of each node; −1 = none.
    pub labels: Vec<i32>,
    /// Number of classes, those without a node included.
    pub classes: usize,
    /// Names of the classes; empty, or one for each.
    pub class_names: Vec<String>,
    /// Splits, the set's own first.
    pub splits: Vec<Split>,
    /// Files read.
    pub files: Vec<FileFact>,
    /// What was repaired or looks odd, one line each.
    pub warnings: Vec<String>,
}

impl GraphData {
    /// A graph without features, labels and splits.
    pub fn of_graph(name: impl Into<String>, kind: &'static str, graph: Graph) -> GraphData {
        GraphData {
            name: name.into(),
            kind,
            labels: vec![-1; graph.nodes()],
            graph,
            features: Features::Absent,
            words: Vec::new(),
            classes: 0,
            class_names: Vec::new(),
            splits: Vec::new(),
            files: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Nodes of each class.
    pub fn class_sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.classes];
        for &label in &self.labels {
            if let Some(size) = usize::try_from(label).ok().and_then(|c| sizes.get_mut(c)) {
                *size += 1;
            }
        }
        sizes
    }

    /// Nodes without a class.
    pub fn unlabelled(&self) -> u64 {
        self.labels.iter().filter(|&&l| l < 0).count() as u64
    }

    /// Whether `node` has a class.
    pub fn labelled(&self, node: NodeId) -> bool {
        self.labels[node.index()] >= 0
    }

    /// Share of equal labels among the pairs whose two ends have one.
    pub fn homophily(&self) -> Option<f64> {
        structure::homophily(&self.graph, &self.labels)
    }

    /// One digest over the digests of all files: two sets with the same one hold the same bytes. Of a generated graph,
    /// which has no files, the digest of its spec, from which all of it follows.
    pub fn digest(&self) -> String {
        let mut sha = sapwood_files::digest::Sha256::new();
        if self.kind == crate::generator::KIND {
            sha.update(self.name.as_bytes());
        }
        for file in &self.files {
            sha.update(format!("{}\t{}\n", file.path, file.sha256).as_bytes());
        }
        sha.hex()
    }
}

/// Loads the data set that `spec` names: one inside the program, a folder, a file, the name of a folder or file below
/// `$SAPWOOD_DATA` (a list like `PATH`) or `./data`; or makes the graph of a generator's spec ([`crate::generator`]).
///
/// # Errors
/// [`crate::Error::NotFound`] with the places tried, [`crate::Error::NotBuilt`] for a kind of source that this version
/// does not read, [`crate::Error::NoNodes`], or what is wrong with the files.
pub fn load(spec: &str, options: &LoadOptions) -> Result<GraphData> {
    let (entry, place) = place::find(spec)?;
    let mut data = (entry.load)(&place, options)?;
    if data.graph.nodes() == 0 {
        return Err(crate::Error::NoNodes);
    }
    if data.graph.arcs() == 0 {
        data.warnings.push(format!("{}: the graph has no edges", data.name));
    }
    Ok(data)
}

/// One line for each thing that building a graph from `file` changed.
fn merge_warnings(file: &str, merged: Merged) -> Vec<String> {
    let mut lines = Vec::new();
    if merged.duplicates > 0 {
        lines.push(format!("{file}: {} repeated edges merged", merged.duplicates));
    }
    if merged.one_way > 0 {
        let count = merged.one_way;
        lines.push(format!(
            "{file} is not symmetric: the other direction of {count} edges was added (--directed keeps arcs)"
        ));
    }
    lines
}
