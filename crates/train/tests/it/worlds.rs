//! Small data sets that the tests share, and the shortest way to train on them.

use sapwood_graph::{Edge, FeatureMatrix, Graph, GraphData, GraphOptions, NodeId, Split, features};
use sapwood_skeleton::Runtime;
use sapwood_skeleton::random::{Purpose, Stream, uniform_f64};
use sapwood_sparse::{Block, Csr};
use sapwood_train::experiment::{self, Outcome};
use sapwood_train::{Number, Problem, Registries, Request, Settings};

/// A data set ready to become a problem.
pub(crate) struct World {
    pub(crate) data: GraphData,
    pub(crate) features: FeatureMatrix,
    pub(crate) split: Split,
}

/// Numbers of [0, 1) that depend on `seed` alone.
pub(crate) fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let stream = Stream::new(seed, Purpose::Test);
    let mut unit = 0;
    move || {
        unit += 1;
        let w = stream.at(0, 0, unit).unwrap();
        uniform_f64(w[0], w[1])
    }
}

pub(crate) fn graph(nodes: usize, pairs: &[(u32, u32)]) -> Graph {
    let edges = pairs.iter().map(|&(from, to)| Edge { from, to, weight: 1.0 }).collect();
    Graph::build(nodes, edges, GraphOptions::default()).unwrap().0
}

/// Labels, and a split that takes nodes in turns: 2 of 4 train, 1 val, 1 test.
pub(crate) fn world(graph: Graph, classes: usize, labels: Vec<i32>, features: FeatureMatrix) -> World {
    let part =
        |wanted: &[usize]| (0..labels.len()).filter(|i| wanted.contains(&(i % 4))).map(|i| NodeId(i as u32)).collect();
    let split = Split { name: "public".into(), train: part(&[0, 2]), val: part(&[1]), test: part(&[3]) };
    let mut data = GraphData::of_graph("world", "test", graph);
    (data.labels, data.classes) = (labels, classes);
    World { data, features, split }
}

pub(crate) fn dense(rows: usize, cols: usize, seed: u64) -> FeatureMatrix {
    let mut random = uniform(seed);
    FeatureMatrix::Dense(Block::from_fn(rows, cols, |_, _| random() as f32 - 0.5).unwrap())
}

/// About a third of the entries; row 2 is empty.
pub(crate) fn sparse(rows: usize, cols: usize, seed: u64) -> FeatureMatrix {
    let mut random = uniform(seed);
    let (mut offsets, mut columns, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for i in 0..rows {
        for j in 0..cols {
            if i != 2 && random() < 0.35 {
                columns.push(j as u32);
                values.push(random() as f32 + 0.1);
            }
        }
        offsets.push(columns.len() as u64);
    }
    FeatureMatrix::Sparse(Csr::try_new(rows, cols, offsets, columns, values).unwrap())
}

/// Twelve nodes, the last one isolated, one self-loop, one node without a label.
pub(crate) fn twelve(sparse_features: bool) -> World {
    let pairs = [
        (0, 1),
        (0, 2),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 5),
        (5, 6),
        (6, 7),
        (7, 8),
        (8, 9),
        (9, 10),
        (0, 10),
        (3, 8),
        (5, 5),
    ];
    let labels = vec![0, 1, 2, 0, 1, 2, 0, 1, 2, -1, 1, 2];
    let x = if sparse_features { sparse(12, 6, 5) } else { dense(12, 6, 5) };
    world(graph(12, &pairs), 3, labels, x)
}

/// A planted partition of `n` nodes in `classes` groups with weak features: within a group pairs have probability
/// `inside`, between groups `outside`.
pub(crate) fn planted(n: usize, classes: usize, inside: f64, outside: f64, seed: u64) -> World {
    let mut random = uniform(seed);
    let mut pairs = Vec::new();
    for i in 0..n {
        for j in 0..i {
            if random() < if i % classes == j % classes { inside } else { outside } {
                pairs.push((j as u32, i as u32));
            }
        }
    }
    let x = Block::from_fn(n, 8, |i, j| random() as f32 + if j == i % classes { 0.5 } else { 0.0 }).unwrap();
    // Nodes change group and place in the split independently: i mod classes and i div classes mod 4.
    let part =
        |wanted: &[usize]| (0..n).filter(|i| wanted.contains(&(i / classes % 4))).map(|i| NodeId(i as u32)).collect();
    let split = Split { name: "public".into(), train: part(&[0, 2]), val: part(&[1]), test: part(&[3]) };
    let labels = (0..n).map(|i| (i % classes) as i32).collect();
    World { split, ..world(graph(n, &pairs), classes, labels, FeatureMatrix::Dense(x)) }
}

/// Zachary's karate club with the one-hot degree as features and the split that ships with it.
pub(crate) fn karate() -> World {
    let folder = sapwood_testkit::workspace_root().join("data/karate");
    let data = sapwood_graph::load(folder.to_str().unwrap(), &sapwood_graph::LoadOptions::default()).unwrap();
    let features = features::make(&data, None, 0).unwrap().matrix;
    let split = data.split(None).unwrap().clone();
    World { data, features, split }
}

/// Settings for `world` with changes.
pub(crate) fn settings(change: impl FnOnce(&mut Request)) -> Settings {
    settings_with(Registries::default(), change)
}

pub(crate) fn settings_with(registries: Registries<'_>, change: impl FnOnce(&mut Request)) -> Settings {
    let mut request = Request {
        layers: Some(2),
        hidden: Some(8),
        epochs: Some(3),
        seeds: Some(1),
        sampler: Some("dropedge".into()),
        ..Request::default()
    };
    change(&mut request);
    Settings::resolve(&request, "world", registries).unwrap()
}

pub(crate) fn problem<T: Number>(runtime: &Runtime, world: World, settings: &Settings) -> Problem<T> {
    Problem::new(runtime.exec(), world.data, world.features, &world.split, settings).unwrap()
}

/// Trains `world` on `threads` threads.
pub(crate) fn train<T: Number>(world: World, settings: &Settings, threads: usize) -> Outcome {
    train_with::<T>(world, settings, Registries::default(), threads)
}

pub(crate) fn train_with<T: Number>(
    world: World,
    settings: &Settings,
    registries: Registries<'_>,
    threads: usize,
) -> Outcome {
    let runtime = Runtime::threads(threads).unwrap();
    let problem = problem::<T>(&runtime, world, settings);
    let methods = experiment::methods(runtime.exec(), &problem, settings, registries).unwrap();
    experiment::run(runtime.exec(), &problem, settings, &methods, None, &mut ()).unwrap()
}
