//! The facts of a data set that `sapwood data show` prints and the READMEs of the shipped sets state.

use crate::dataset::FileFact;
use crate::features::Features;
use crate::structure::{Summary, summary};
use crate::{GraphData, Sampled};
use serde::Serialize;

/// Counts of a data set; the members of the JSON object, in its order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// Name of the data set.
    pub name: String,
    /// Number of nodes.
    pub nodes: u64,
    /// Undirected pairs, or arcs of a directed graph; self-loops not counted.
    pub pairs: u64,
    /// Whether the graph is directed.
    pub directed: bool,
    /// Whether its edges have weights.
    pub weighted: bool,
    /// Nodes with a self-loop.
    pub self_loops: u64,
    /// Nodes without an edge to another node.
    pub isolated: u64,
    /// Connected components, directions ignored.
    pub components: u64,
    /// Nodes of the largest component.
    pub largest: u64,
    /// Largest degree (in-degree of a directed graph).
    pub max_degree: u64,
    /// Number of classes.
    pub classes: u64,
    /// Nodes of each class.
    pub class_sizes: Vec<u64>,
    /// Nodes without a class.
    pub unlabelled: u64,
    /// Feature columns; 0 if no features are stored.
    pub features: u64,
    /// Stored feature entries; of a dense matrix those that are not zero.
    pub feature_entries: u64,
    /// Nodes whose features are all zero; 0 if no features are stored.
    pub empty_rows: u64,
    /// Share of equal labels among the pairs whose two ends have one; none if there is no such pair.
    pub homophily: Option<f64>,
    /// Sizes of the splits.
    pub splits: Vec<SplitFact>,
    /// Files read, or written.
    pub files: Vec<FileFact>,
}

/// Sizes of a split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SplitFact {
    /// Its name.
    pub name: String,
    /// Training nodes.
    pub train: u64,
    /// Validation nodes.
    pub val: u64,
    /// Test nodes.
    pub test: u64,
}

impl Facts {
    /// The facts of `data`. O(nodes + arcs + feature entries).
    pub fn of(data: &GraphData) -> Facts {
        let Summary { isolated, components, largest, max_degree } = summary(&data.graph, &Sampled::All);
        let (features, feature_entries, empty_rows) = match &data.features {
            Features::Stored(m) => (m.cols() as u64, m.entries(), m.empty_rows()),
            Features::Absent | Features::Elsewhere { .. } => (0, 0, 0),
        };
        let splits = data.splits.iter().map(|s| SplitFact {
            name: s.name.clone(),
            train: s.train.len() as u64,
            val: s.val.len() as u64,
            test: s.test.len() as u64,
        });
        Facts {
            name: data.name.clone(),
            nodes: data.graph.nodes() as u64,
            pairs: data.graph.pairs(),
            directed: data.graph.directed(),
            weighted: data.graph.weighted(),
            self_loops: data.graph.self_loops().len() as u64,
            isolated,
            components,
            largest,
            max_degree,
            classes: data.classes as u64,
            class_sizes: data.class_sizes(),
            unlabelled: data.unlabelled(),
            features,
            feature_entries,
            empty_rows,
            homophily: data.homophily(),
            splits: splits.collect(),
            files: data.files.clone(),
        }
    }
}
