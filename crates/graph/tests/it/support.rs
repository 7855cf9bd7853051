//! Graphs, runtimes and folders that the tests share.

use sapwood_graph::{Edge, Graph, GraphData, GraphOptions, LoadOptions, load};
use sapwood_skeleton::Runtime;
use sapwood_testkit::scratch::{TempDir, folder_with};

/// An unweighted undirected graph.
pub(crate) fn graph(nodes: usize, ends: &[(u32, u32)]) -> Graph {
    build(nodes, ends, GraphOptions::default())
}

/// A graph whose edge i weighs 1 + i/4 if it has weights.
pub(crate) fn build(nodes: usize, ends: &[(u32, u32)], options: GraphOptions) -> Graph {
    let edges = (0u16..).zip(ends).map(|(i, &(from, to))| {
        let weight = if options.weighted { 1.0 + f32::from(i) / 4.0 } else { 1.0 };
        Edge { from, to, weight }
    });
    Graph::build(nodes, edges.collect(), options).unwrap().0
}

/// A wheel with a tail, a triangle apart and one isolated node; 12 nodes.
pub(crate) fn small_ends() -> Vec<(u32, u32)> {
    let mut ends = vec![(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4), (4, 1)];
    ends.extend([(4, 5), (5, 6), (6, 7), (8, 9), (9, 10), (8, 10)]);
    ends
}

/// A pseudo-random simple graph.
pub(crate) fn random_ends(nodes: u32, count: u32) -> Vec<(u32, u32)> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below)) as u32
    };
    let pairs = (0..count).map(|_| (next(nodes), next(nodes))).filter(|(u, v)| u != v);
    pairs.map(|(u, v)| (u.min(v), u.max(v))).collect()
}

pub(crate) fn runtime(threads: usize) -> Runtime {
    Runtime::threads(threads).unwrap()
}

/// A TSV folder, loaded.
pub(crate) fn read(files: &[(&str, &str)]) -> sapwood_graph::Result<GraphData> {
    read_as(files, &LoadOptions::default())
}

pub(crate) fn read_as(files: &[(&str, &str)], options: &LoadOptions) -> sapwood_graph::Result<GraphData> {
    let folder = folder(files);
    load(folder.path().to_str().unwrap(), options)
}

pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    folder_with(files).unwrap()
}

/// The message of an error.
pub(crate) fn message<T: std::fmt::Debug>(result: sapwood_graph::Result<T>) -> String {
    let error = result.unwrap_err();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
