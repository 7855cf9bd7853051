//! Memory of training, counted by the allocator itself: nothing grows after the first epoch, what an epoch allocates does
//! not depend on the number of nodes, and the estimate before the start is right.
#![cfg(test)]

use sapwood_graph::{
    DrawKey, Edge, FeatureMatrix, Graph, GraphData, GraphOptions, NodeId, Normalisation, Operator, SelfLoops, Split,
};
use sapwood_skeleton::Runtime;
use sapwood_sparse::Csr;
use sapwood_train::layer::loss::{Targets, softmax_cross_entropy};
use sapwood_train::layer::{Cx, Drawn, Mode};
use sapwood_train::model::{self, Aggregator, Jump, ModelOptions, NormLayer, Shape};
use sapwood_train::network::Pass;
use sapwood_train::{
    Arena, Estimate, Features, Partials, Problem, Registries, Request, Settings, Trainer, experiment, init,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A multiple of the vector width: the `gemm` crate packs the last columns of other widths for each block of rows, in
/// memory that it takes and gives back at once.
const CLASSES: usize = 16;

/// A ring with chords of `n` nodes and a sparse X of 200 columns.
fn ring(n: usize) -> (GraphData, FeatureMatrix, Split) {
    let chord = |i: usize, step: usize| Edge { from: i as u32, to: ((i + step) % n) as u32, weight: 1.0 };
    let edges = (0..n).flat_map(|i| [chord(i, 1), chord(i, 7), chord(i, 31)]).collect();
    let graph = Graph::build(n, edges, GraphOptions::default()).unwrap().0;
    let mut data = GraphData::of_graph("ring", "test", graph);
    (data.labels, data.classes) = ((0..n).map(|i| (i % 16) as i32).collect(), CLASSES);
    let columns: Vec<u32> = (0..n).flat_map(|i| (0..10).map(move |j| (j * 20 + (i * 7 + j) % 20) as u32)).collect();
    let offsets = (0..=n as u64).map(|i| i * 10).collect();
    let values = vec![0.3; columns.len()];
    let features = FeatureMatrix::Sparse(Csr::try_new(n, 200, offsets, columns, values).unwrap());
    let part = |at: usize| (0..n).filter(|i| i % 3 == at).map(|i| NodeId(i as u32)).collect();
    (data, features, Split { name: "public".into(), train: part(0), val: part(1), test: part(2) })
}

fn settings() -> Settings {
    let request = Request { layers: Some(3), hidden: Some(64), epochs: Some(6), seeds: Some(1), ..Request::default() };
    Settings::resolve(&request, "ring", Registries::default()).unwrap()
}

/// Bytes that each of six epochs allocates; the arena must not grow after the first, evaluations (every third epoch)
/// included, and what is held at the end must be what was estimated.
///
/// One thread: with more, the worker that needs its scratch for the first time may do so in any epoch.
fn epochs(n: usize) -> Vec<usize> {
    let mut settings = settings();
    let runtime = Runtime::threads(1).unwrap();
    let (data, features, split) = ring(n);
    let estimate = Estimate::fit::<f32>(&data.graph, &features, CLASSES, &mut settings, None).unwrap();
    let loaded = features_and_graph(&data, &features);
    let before = Region::new(COUNTED);
    let problem = Problem::<f32>::new(runtime.exec(), data, features, &split, &settings).unwrap();
    let methods = experiment::methods(runtime.exec(), &problem, &settings, Registries::default()).unwrap();
    let mut trainer = Trainer::new(runtime.exec(), &problem, &settings);
    let mut run = trainer.start(&methods[1], 0).unwrap();
    let mut allocated = Vec::new();
    let mut held = Vec::new();
    for epoch in 1..=6 {
        let region = Region::new(COUNTED);
        run.train_epoch().unwrap();
        if epoch % 3 == 0 {
            run.evaluate().unwrap();
        }
        allocated.push(region.change().bytes_allocated);
        held.push(run.arena_bytes().held);
    }
    assert!(held.iter().all(|&bytes| bytes == estimate.activation_bytes), "{held:?}");
    let change = before.change();
    let live = loaded + change.bytes_allocated as u64 - change.bytes_deallocated as u64;
    let ratio = estimate.total_bytes as f64 / live as f64;
    assert!(n < 10_000 || (0.9..1.1).contains(&ratio), "estimated {} of {live}: {ratio}", estimate.total_bytes);
    allocated
}

/// Bytes that the problem takes over from the data set.
fn features_and_graph(data: &GraphData, features: &FeatureMatrix) -> u64 {
    let FeatureMatrix::Sparse(x) = features else { return 0 };
    let graph = data.graph.arcs() * 8 + 8 * data.graph.nodes() as u64;
    graph + x.entries() as u64 * 8 + 8 * x.rows() as u64
}

/// Bytes that the third training pass of a network with batch norms, or with neighbour maxima, allocates.
fn passes(n: usize, name: &str, options: ModelOptions) -> usize {
    let runtime = Runtime::threads(1).unwrap();
    let (data, features, _) = ring(n);
    let entry = model::find(model::ALL, name).unwrap();
    let features = Features::<f32>::new(runtime.exec(), features).unwrap();
    let shape = Shape { features: features.input(), layers: 4, hidden: 32, classes: CLASSES, dropout: 0.5, options };
    let mut network = model::build::<f32>(entry, &shape).unwrap();
    init::fill(&mut network, &init::ALL[0], 1).unwrap();
    let operator = Operator::full(runtime.exec(), &data.graph, Normalisation::new("rw", SelfLoops::Add).unwrap());
    let (operator, targets) = (operator.unwrap(), Targets::new(n, |i| Some((i % CLASSES) as u32)));
    let (mut partials, mut chosen, mut losses) = (Partials::default(), Vec::new(), Vec::new());
    let (mut arena, mut pass, mut gradients) = (Arena::new(), Pass::default(), network.like_parameters().unwrap());
    let mut allocated = Vec::new();
    for epoch in 1..=3 {
        let region = Region::new(COUNTED);
        let mut cx = Cx {
            exec: runtime.exec(),
            features: &features,
            drawn: Drawn::shared(&operator),
            mode: Mode::Train,
            key: DrawKey::of_epoch(1, epoch),
            partials: &mut partials,
            chosen: &mut chosen,
        };
        let mut grad = network.forward(&mut pass, &mut arena, &mut cx, true).unwrap();
        softmax_cross_entropy(runtime.exec(), &mut grad, &targets, &mut losses).unwrap();
        network.backward(grad, &mut pass, &mut arena, &mut cx, &mut gradients).unwrap();
        allocated.push(region.change().bytes_allocated);
    }
    allocated[2]
}

/// Every model, and every norm and choice.
fn all_models() {
    let norms = [NormLayer::None, NormLayer::Batch, NormLayer::Layer, NormLayer::Pair];
    let base = ModelOptions { jk: Jump::Max, aggregator: Aggregator::Max, ..ModelOptions::default() };
    for (entry, norm_layer) in model::ALL.iter().flat_map(|entry| norms.map(|norm| (entry, norm))) {
        let options = ModelOptions { norm_layer, ..base };
        let (small, large) = (passes(1000, entry.name, options), passes(9000, entry.name, options));
        // Less than five bytes a node in all, where one block of a hidden layer has 128: what `gemm` takes for its blocks.
        assert!(large < small + 40_000, "{} {norm_layer:?}: {small} {large}", entry.name);
    }
}

#[test]
fn an_epoch_allocates_the_same_few_bytes_whatever_the_size_of_the_graph() {
    // One after the other, since the allocator counts for all threads.
    all_models();
    let (small, large) = (epochs(4000), epochs(40_000));
    // The first epoch fills the arena and the storage of draws, the third has the first evaluation.
    assert!(small[0] > 1 << 20 && large[0] > 10 << 20);
    let later = [1, 3, 4, 5].map(|epoch| (small[epoch], large[epoch]));
    // The `gemm` crate takes some 30 bytes for each block of 256 rows; one byte per node would be more than this allows.
    assert!(later.iter().all(|(small, large)| *small < 10_000 && *large < small + 36_000), "{small:?} {large:?}");
}
