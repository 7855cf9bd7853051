//! The sampler `ranked`: probabilities, facts, guards, directions.

use crate::scores::{karate, near, unit};
use crate::support::{graph, message, runtime, small_ends};
use sapwood_graph::sampler::{self, Direction};
use sapwood_graph::{
    DrawBuffers, DrawKey, Graph, GraphData, LoadOptions, Prepared, Rates, Result, Sampled, SamplerFacts,
    SamplerOptions, TrainLabels, load, structure,
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
    assert!(notes.len() == 1 && notes[0].contains("216.8 with one probability for all"), "{notes:?}");
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

#[test]
fn golden_cover_of_cora() {
    let Some(cora) = cora() else { return };
    let mut options = SamplerOptions::with_p(1.0);
    options.guards.min_degree = 1;
    let prepared = prepare("ranked", &cora.graph, &options).unwrap();
    let facts = prepared.facts();
    let cover = facts.units - facts.k;
    assert!((1536..=1546).contains(&cover), "{cover} pairs cover all nodes");
    assert!((facts.achieved_p - 0.708).abs() < 0.001);
    assert!(facts.notes.len() == 1 && facts.notes[0].starts_with("guards leave 37"), "{:?}", facts.notes);
    assert_eq!(facts.isolated_expected, 0.0);
    options.rates = Rates::Const(0.7);
    assert!(prepare("ranked", &cora.graph, &options).unwrap().facts().notes.is_empty());
}

#[test]
fn guards_hold_in_every_draw() {
    let g = graph(12, &small_ends());
    let runtime = runtime(1);
    let mut options = SamplerOptions::with_p(0.5);
    let all = structure::summary(&g, &Sampled::All);
    for (min_degree, keep_forest) in [(1, false), (2, false), (0, true), (3, true)] {
        (options.guards.min_degree, options.guards.keep_forest) = (min_degree, keep_forest);
        let prepared = prepare("ranked", &g, &options).unwrap();
        let (facts, mut buffers) = (prepared.facts(), DrawBuffers::default());
        for epoch in 1..200 {
            let sampled = prepared.kept(runtime.exec(), DrawKey::of_epoch(8, epoch), &mut buffers).unwrap();
            assert_eq!(g.pairs() - sampled.kept(g.pairs()), facts.k);
            let left = structure::summary(&g, &sampled);
            assert!(!keep_forest || left.components == all.components);
            let rows = g.rows();
            for i in 0..g.nodes() {
                let units = &rows.unit()[rows.pattern().row_range(i)];
                let kept = units.iter().filter(|&&e| sampled.keeps(e)).count();
                assert!(kept >= units.len().min(min_degree as usize), "node {i} keeps {kept}");
            }
        }
    }
}

/// The labels of `split` of Cora, and of the other nodes others if `shuffled`.
fn auto(cora: &GraphData, split: &str, score: &str, shuffled: bool) -> SamplerFacts {
    let mut data = cora.clone();
    let split = data.splits.iter().find(|s| s.name == split).unwrap().clone();
    if shuffled {
        let inside: Vec<usize> = split.train.iter().map(|node| node.index()).collect();
        let outside = (0..data.labels.len()).filter(|i| !inside.contains(i)).collect::<Vec<_>>();
        outside.into_iter().for_each(|i| data.labels[i] = (i * i % 7) as i32);
    }
    let options = SamplerOptions { score: score.into(), direction: Direction::Auto, ..SamplerOptions::with_p(0.3) };
    let sampler = (sampler::find(sampler::ALL, "ranked").unwrap().new)(&options).unwrap();
    let (graph, train) = (Arc::new(data.graph.clone()), TrainLabels::new(&data, &split));
    sampler.prepare(runtime(2).exec(), &graph, &train).unwrap().facts()
}

#[test]
fn golden_directions_of_cora() {
    let Some(cora) = cora() else { return };
    let full = auto(&cora, "full", "two_stage", false);
    let decided = full.auto.clone().unwrap();
    near(decided.hi.unwrap(), 0.771, 5e-4);
    near(decided.lo.unwrap(), 0.842, 5e-4);
    assert_eq!((decided.decision, full.direction), ("drop", Some(Direction::Drop)));
    let decided = auto(&cora, "full", "inv_degree", false).auto.unwrap();
    near(decided.hi.unwrap(), 0.866, 5e-4);
    near(decided.lo.unwrap(), 0.755, 5e-4);
    assert_eq!(decided.decision, "keep");
    let public = auto(&cora, "public", "two_stage", false);
    let decided = public.auto.clone().unwrap();
    assert_eq!(
        (decided.decision, decided.hi, public.direction),
        ("too few labelled pairs", None, Some(Direction::Keep))
    );
    assert!(decided.pairs.0 + decided.pairs.1 <= 21);
    assert_eq!(auto(&cora, "full", "two_stage", true), full, "labels outside train are not seen");
}

#[test]
fn given_probabilities() {
    let g = crate::scores::triangle_with_tail();
    let of = |text: &str, min_degree: u32| {
        let folder = crate::support::folder(&[("q.tsv", text)]);
        let probabilities = Some(folder.path().join("q.tsv"));
        let mut options = SamplerOptions { probabilities, ..SamplerOptions::default() };
        options.guards.min_degree = min_degree;
        prepare("ranked", &g, &options)
    };
    let whole = of("0\t1\t0.5\n2\t0\t1\n1\t2\t0\n2\t3\t0.5\n", 0).unwrap();
    let facts = whole.facts();
    assert_eq!(q(whole.as_ref()), [0.5, 1.0, 0.0, 0.5]);
    assert_eq!((facts.k, facts.p, facts.achieved_p, facts.beta, facts.direction), (2, 0.5, 0.5, None, None));
    assert!(facts.notes.iter().all(|n| !n.contains("sum")), "{:?}", facts.notes);
    let moved = of("0\t1\t0.5\n2\t0\t1\n1\t2\t0\n2\t3\t0.25\n", 0).unwrap();
    let (q, facts) = (q(moved.as_ref()), moved.facts());
    assert_eq!((facts.k, q[1], q[2]), (2, 1.0, 0.0));
    // both odds grow by the same factor f: f/(1 + f) + f/(3 + f) = 1, so f = sqrt 3
    let f = 3f64.sqrt();
    near(q[0], f / (1.0 + f), 1e-9);
    near(q[3], f / (3.0 + f), 1e-9);
    assert!(facts.notes.iter().any(|n| n.contains("sum to 1.75; moved together to 2")), "{:?}", facts.notes);
    let guarded = of("0\t1\t0.5\n2\t0\t1\n1\t2\t0\n2\t3\t0.5\n", 1).unwrap();
    assert_eq!(guarded.facts().k, 1, "the cover (0,1), (2,3) stays");
    let e = message(of("0\t1\t1.5\n2\t0\t1\n1\t2\t0\n2\t3\t0.5\n", 0).map(|_| ()));
    assert!(e.contains("q.tsv: pair 0 - 1 has probability 1.5"), "{e}");
}
