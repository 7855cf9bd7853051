//! What every sampler must do, whatever it chooses. The suite takes the registry as an argument, so that a test can hand in
//! a sampler of its own.

use crate::support::{build, graph, random_ends, runtime, small_ends};
use sapwood_graph::sampler::Entry;
use sapwood_graph::{
    After, BitMask, DrawBuffers, DrawKey, Graph, GraphOptions, Normalisation, Operator, Prepared, Sampled,
    SamplerOptions, TrainLabels,
};
use sapwood_skeleton::Runtime;
use std::sync::Arc;

/// Runs the suite over every sampler of `all`.
pub(crate) fn suite(all: &[Entry]) {
    let graphs = graphs();
    for entry in all {
        rates(entry);
        // A diffusion takes its time, and does not look at p.
        let diffuses = entry.name.starts_with("ppr-diffusion");
        for graph in graphs.iter().filter(|g| !diffuses || g.nodes() < 100) {
            for p in [0.0, 0.3, 0.5, 0.9, 1.0] {
                let options = SamplerOptions::with_p(p);
                let sampler = (entry.new)(&options).unwrap();
                let prepared = sampler.prepare(runtime(2).exec(), graph, &TrainLabels::none(graph.nodes())).unwrap();
                let prepared = prepared.as_ref();
                let graph = prepared.graph().unwrap_or(graph);
                facts(entry, graph, prepared);
                same_bits(graph, prepared);
                fresh_and_reusable(graph, prepared);
                operators_work(graph, prepared);
            }
        }
    }
}

fn graphs() -> Vec<Arc<Graph>> {
    let directed = GraphOptions { directed: true, weighted: false };
    let weighted = GraphOptions { directed: false, weighted: true };
    [
        graph(1, &[]),
        graph(5, &[]),
        graph(2, &[(0, 1)]),
        graph(12, &small_ends()),
        build(12, &small_ends(), weighted),
        build(12, &small_ends(), directed),
        graph(300, &random_ends(300, 3000)),
        graph(5000, &random_ends(5000, 60_000)), // several blocks and parts
    ]
    .into_iter()
    .map(Arc::new)
    .collect()
}

/// The mask of one draw, all ones where the whole graph stays.
pub(crate) fn mask(runtime: &Runtime, graph: &Graph, prepared: &dyn Prepared, key: DrawKey) -> BitMask {
    let mut buffers = DrawBuffers::default();
    match prepared.kept(runtime.exec(), key, &mut buffers).unwrap() {
        Sampled::Pairs(mask) | Sampled::Arcs(mask) | Sampled::Rows { mask, .. } => mask.clone(),
        _ => BitMask::new(graph.pairs() as usize, true),
    }
}

/// A drop rate that is none is refused by name; this holds for every sampler that has one.
fn rates(entry: &Entry) {
    for p in [f64::NAN, -0.5, 1.5] {
        if let Err(e) = (entry.new)(&SamplerOptions::with_p(p)) {
            assert!(e.to_string().starts_with("--p must be"), "{}: {e}", entry.name);
        }
    }
}

fn facts(entry: &Entry, graph: &Graph, prepared: &dyn Prepared) {
    let facts = prepared.facts();
    assert_eq!(facts.name, entry.name);
    let units = [graph.pairs(), graph.pairs() + graph.self_loops().len() as u64, graph.nodes() as u64];
    let messages = graph.arcs() + graph.nodes() as u64;
    assert!(units.contains(&facts.units) || facts.units == messages, "{}: {} units", entry.name, facts.units);
    assert!(facts.k <= facts.units);
    let achieved = if facts.units == 0 { 0.0 } else { facts.k as f64 / facts.units as f64 };
    assert_eq!(facts.achieved_p, achieved);
    assert!((0.0..=graph.nodes() as f64 + 1e-9).contains(&facts.isolated_expected));
}

/// Threads do not matter, nor does what was drawn before.
fn same_bits(graph: &Graph, prepared: &dyn Prepared) {
    let key = DrawKey { seed: 7, epoch: 3, layer: 2, micro: 1 };
    let expected = mask(&runtime(1), graph, prepared, key);
    assert!(expected.len() as u64 == graph.pairs() || expected.len() as u64 == prepared.facts().units);
    for threads in [2, 3, 8] {
        assert_eq!(mask(&runtime(threads), graph, prepared, key), expected, "{threads} threads");
    }
}

fn fresh_and_reusable(graph: &Graph, prepared: &dyn Prepared) {
    let runtime = runtime(2);
    let mut buffers = DrawBuffers::default();
    let (mut differing, mut messages) = (false, false);
    let first = mask(&runtime, graph, prepared, DrawKey::of_epoch(1, 0));
    for epoch in 0..5 {
        let key = DrawKey::of_epoch(1, epoch);
        let alone = mask(&runtime, graph, prepared, key);
        let mut exact = true;
        match prepared.kept(runtime.exec(), key, &mut buffers).unwrap() {
            Sampled::Pairs(reused) | Sampled::Arcs(reused) => {
                assert_eq!(*reused, alone, "epoch {epoch} in used buffers")
            }
            Sampled::Rows { mask: reused, scale } => {
                assert!(*reused == alone && scale.is_finite(), "epoch {epoch} in used buffers");
                exact = false;
            }
            Sampled::Messages { .. } => (exact, messages) = (false, true),
            _ => {}
        }
        let gone = alone.len() - alone.count_ones();
        assert!(!exact || gone as u64 == prepared.facts().k, "exactly k units go");
        differing |= alone != first;
    }
    let free = !messages && prepared.facts().k > 0 && prepared.facts().k < prepared.facts().units;
    assert!(differing || !free || graph.pairs() < 20, "five epochs, one draw");
    let bad = DrawKey { layer: 4096, ..DrawKey::of_epoch(1, 0) };
    if let Err(e) = prepared.kept(runtime.exec(), bad, &mut buffers) {
        assert!(e.to_string().contains("4096"), "{e}");
    }
}

/// The operator of a draw is finite, and symmetric where the graph and the form are.
fn operators_work(graph: &Graph, prepared: &dyn Prepared) {
    let runtime = runtime(2);
    for form in sapwood_graph::normalise::ALL {
        let normalisation = Normalisation { form, ..Normalisation::default() };
        let mut operator = Operator::<f32>::full(runtime.exec(), graph, normalisation).unwrap();
        let mut buffers = DrawBuffers::default();
        let sampled = prepared.kept(runtime.exec(), DrawKey::of_epoch(4, 2), &mut buffers).unwrap();
        operator.redraw(runtime.exec(), graph, &sampled, After::Renorm).unwrap();
        let arcs = sampled.kept(graph.pairs()) * if graph.directed() { 1 } else { 2 };
        assert_eq!(operator.arcs() as u64, arcs);
        let entries: Vec<(u32, u32, f32)> =
            (0..graph.nodes()).flat_map(|i| operator.row(i).map(move |(j, x)| (i as u32, j, x))).collect();
        assert!(entries.iter().all(|e| e.2.is_finite()) && operator.diagonal().iter().all(|x| x.is_finite()));
        if form.symmetric && !graph.directed() {
            let mut mirrored: Vec<_> = entries.iter().map(|&(i, j, x)| (j, i, x.to_bits())).collect();
            mirrored.sort_unstable();
            assert!(entries.iter().map(|&(i, j, x)| (i, j, x.to_bits())).eq(mirrored), "{}", form.name);
        }
    }
}
