//! The sampler `ranked`: probabilities, facts, guards, directions.

use crate::scores::{karate, near, unit};
use crate::support::{graph, message, runtime, small_ends};
use sapwood_graph::sampler::{self, Direction};
use sapwood_graph::{
    DrawBuffers, DrawKey, Graph, GraphData, LoadOptions, Prepared, Rates, Result, SamplerOptions, TrainLabels, load,
};
use std::sync::Arc;

pub(crate) fn prepare(name: &str, graph: &Graph, options: &SamplerOptions) -> Result<Box<dyn Prepared>> {
    let train = TrainLabels::none(graph.nodes());
    let new = sampler::find(sampler::ALL, name)?.new;
    new(options)?.prepare(runtime(2).exec(), &Arc::new(graph.clone()), &train)
}

pub(crate) fn cora() -> Option<GraphData> {
    let path = sapwood_testkit::data::public("cora")?;
    Some(load(path.to_str().unwrap(), &LoadOptions::default()).unwrap())
}

fn q(prepared: &dyn Prepared) -> Vec<f64> {
    let quotas = prepared.quotas(runtime(1).exec(), DrawKey::of_epoch(0, 1)).unwrap().unwrap();
    (0..quotas.units() as u32).map(|e| quotas.probability(e)).collect()
}

#[test]
fn golden_probabilities_of_karate() {
    let Some(karate) = karate() else { return };
    let prepared = prepare("ranked", &karate, &SamplerOptions::with_p(0.3)).unwrap();
    let facts = prepared.facts();
    assert_eq!((facts.k, facts.units, facts.beta, facts.direction), (23, 78, Some(2.0), Some(Direction::Keep)));
    let (q, f) = (q(prepared.as_ref()), facts.q.unwrap());
    near(f.offset.unwrap(), -1.132_509_900_899, 1e-10);
    near(q[unit(&karate, 0, 1)], 0.043_916_218_670, 1e-9);
    near(f.min, 0.041_785_995_154, 1e-9);
    near(f.max, 0.704_223_171_581, 1e-9);
    assert_eq!(f.max, q[unit(&karate, 26, 29)]);
    assert!(facts.notes.is_empty(), "{:?}", facts.notes);
}

#[test]
fn golden_expected_isolated_nodes_of_cora() {
    let Some(cora) = cora() else { return };
    let at = |name: &str, score: &str| {
        let options = SamplerOptions { score: score.into(), ..SamplerOptions::with_p(0.3) };
        prepare(name, &cora.graph, &options).unwrap().facts()
    };
    for (name, score, expected) in
        [("dropedge", "two_stage", 216.77), ("ranked", "pr_mean", 387.62), ("ranked", "two_stage", 168.07)]
    {
        let isolated = at(name, score).isolated_expected;
        near(isolated, expected, 0.01 * expected);
    }
    assert!(at("ranked", "two_stage").notes.is_empty());
    let notes = at("ranked", "pr_mean").notes;
    assert!(notes.len() == 1 && notes[0].contains("216.8 by chance"), "{notes:?}");
}

#[test]
fn golden_automatic_rates_of_cora() {
    let Some(cora) = cora() else { return };
    let at = |name: &str| {
        let options = SamplerOptions { rates: Rates::Auto, ..SamplerOptions::default() };
        prepare(name, &cora.graph, &options).unwrap().facts().p
    };
    assert_eq!([at("ranked"), at("dropedge")], [0.15, 0.09]);
}

#[test]
fn beta_0_is_dropedge() {
    let g = graph(12, &small_ends());
    for p in [0.0, 0.2, 0.5, 1.0] {
        let options = SamplerOptions { beta: 0.0, ..SamplerOptions::with_p(p) };
        let (ranked, plain) = (prepare("ranked", &g, &options).unwrap(), prepare("dropedge", &g, &options).unwrap());
        assert_eq!(q(ranked.as_ref()), q(plain.as_ref()), "p = {p}");
    }
}

#[test]
fn degree_is_ranked_by_degree() {
    let g = graph(12, &small_ends());
    let by = SamplerOptions { score: "degree".into(), ..SamplerOptions::default() };
    let (degree, ranked) =
        (prepare("degree", &g, &SamplerOptions::default()).unwrap(), prepare("ranked", &g, &by).unwrap());
    assert_eq!(q(degree.as_ref()), q(ranked.as_ref()));
    assert_eq!(degree.ranking(), ranked.ranking());
    assert_eq!(degree.facts().name, "degree");
}

#[test]
fn drop_mirrors_keep() {
    let g = graph(12, &small_ends());
    let of = |direction| {
        let options = SamplerOptions { direction, ..SamplerOptions::with_p(0.5) };
        prepare("ranked", &g, &options).unwrap()
    };
    let (keep, drop) = (of(Direction::Keep), of(Direction::Drop));
    let z = &keep.ranking().unwrap().z;
    let (a, b) = (q(keep.as_ref()), q(drop.as_ref()));
    for e in 0..z.len() {
        for f in 0..z.len() {
            assert!(z[e] <= z[f] || (a[e] < a[f] && b[e] > b[f]), "units {e} and {f}");
        }
    }
    assert_eq!(drop.facts().direction, Some(Direction::Drop));
    assert_eq!(drop.facts().beta, Some(2.0));
}

#[test]
fn options_out_of_range_name_their_flag() {
    let g = graph(12, &small_ends());
    let fail = |options: SamplerOptions| message(prepare("ranked", &g, &options).map(|_| ()));
    let base = SamplerOptions::default;
    for beta in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(fail(SamplerOptions { beta, ..base() }).starts_with("--beta must be"));
    }
    let mut options = base();
    options.clip.min = 0.5;
    assert!(fail(options).starts_with("--q-min 0.5 cannot hold"));
    assert!(fail(SamplerOptions { score: "x".into(), ..base() }).starts_with("unknown score 'x'"));
}

#[test]
fn draws_follow_the_probabilities() {
    let g = graph(12, &small_ends());
    let prepared = prepare("ranked", &g, &SamplerOptions::with_p(0.4)).unwrap();
    let (q, runtime, mut buffers) = (q(prepared.as_ref()), runtime(1), DrawBuffers::default());
    let (mut gone, epochs) = (vec![0u32; q.len()], 10_000);
    for epoch in 1..=epochs {
        let sampled = prepared.kept(runtime.exec(), DrawKey::of_epoch(3, epoch), &mut buffers).unwrap();
        (0..q.len()).for_each(|e| gone[e] += u32::from(!sampled.keeps(e as u32)));
    }
    for (&q, &count) in q.iter().zip(&gone) {
        let n = f64::from(epochs);
        let z = (f64::from(count) - n * q) / (n * q * (1.0 - q)).sqrt();
        assert!(z.abs() < 4.5, "q = {q}: {count}, z = {z}");
    }
}
