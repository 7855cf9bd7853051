//! Laws of the samplers of units, whatever the graph: what scaling and renumbering change, guards in every draw, nested
//! layers, and the probabilities of the rivals against their formulas.

use crate::ranked::prepare;
use crate::support::{graph, random_ends, runtime, small_ends};
use sapwood_graph::calibrate::{Clip, Curve, mid_ranks};
use sapwood_graph::guard::Guards;
use sapwood_graph::sampler::Per;
use sapwood_graph::score::ScoreOptions;
use sapwood_graph::{BitMask, DrawBuffers, DrawKey, Graph, NodeId, Prepared, Rates, Sampled, SamplerOptions};
use sapwood_testkit::scratch::folder_with;

/// Probability of each unit in the first draw.
fn q(prepared: &dyn Prepared) -> Vec<f64> {
    let quotas = prepared.quotas(runtime(1).exec(), DrawKey::of_epoch(0, 1)).unwrap().unwrap();
    (0..quotas.units() as u32).map(|unit| quotas.probability(unit)).collect()
}

fn kept(prepared: &dyn Prepared, units: u64, key: DrawKey) -> BitMask {
    let mut buffers = DrawBuffers::default();
    match prepared.kept(runtime(2).exec(), key, &mut buffers).unwrap() {
        Sampled::Pairs(mask) => mask.clone(),
        _ => BitMask::new(units as usize, true),
    }
}

fn world() -> Graph {
    graph(60, &random_ends(60, 220))
}

#[test]
fn scaling_scores_changes_no_rank() {
    let scores: Vec<f64> = (0..500u32).map(|i| f64::from(i.wrapping_mul(2_654_435_761) % 97) / 7.0).collect();
    let ranks = mid_ranks(&scores).unwrap();
    for c in [1e-200, 0.1, 3.7, 1024.0, 1e200] {
        let scaled: Vec<f64> = scores.iter().map(|s| c * s).collect();
        assert_eq!(mid_ranks(&scaled).unwrap(), ranks, "{c}");
    }
    assert_ne!(mid_ranks(&scores.iter().map(|s| -s).collect::<Vec<_>>()).unwrap(), ranks);
}

#[test]
fn renumbering_nodes_permutes_probabilities() {
    let n = 60u32;
    let ends: Vec<(u32, u32)> = world().pair_ends().map(|(u, v)| (u.0, v.0)).collect();
    let moved = |node: u32| (7 * node + 11) % n; // 7 and 60 have no common factor
    let other = graph(n as usize, &ends.iter().map(|&(u, v)| (moved(u), moved(v))).collect::<Vec<_>>());
    let place = |u: u32, v: u32| {
        let pair = (NodeId(moved(u).min(moved(v))), NodeId(moved(u).max(moved(v))));
        other.pair_ends().position(|ends| ends == pair).unwrap()
    };
    for name in ["ranked", "degree", "dropsens", "gca-pagerank"] {
        let options = SamplerOptions::with_p(0.4);
        let (here, there) = (prepare(name, &world(), &options).unwrap(), prepare(name, &other, &options).unwrap());
        let (here, there) = (q(here.as_ref()), q(there.as_ref()));
        for (unit, &(u, v)) in ends.iter().enumerate() {
            assert!((here[unit] - there[place(u, v)]).abs() < 2e-9, "{name}: pair {u} - {v}");
        }
        assert!(here.iter().any(|&x| (x - here[0]).abs() > 1e-3), "{name} treats all pairs alike");
    }
}

#[test]
fn guards_hold_in_every_kind_of_draw() {
    let g = world();
    let kept_edges = [(0u32, g.neighbours(NodeId(0))[0]), (1, g.neighbours(NodeId(1))[0])];
    let text: String = kept_edges.iter().map(|(u, v)| format!("{u}\t{v}\n")).collect();
    let folder = folder_with(&[("keep.tsv", &text)]).unwrap();
    let always_keep = Some(folder.path().join("keep.tsv"));
    let guards = Guards { min_degree: 2, keep_forest: true, always_keep };
    let whole = sapwood_graph::structure::summary(&g, &Sampled::All).components;
    for (draw, per) in
        [("systematic", Per::Epoch), ("pivotal", Per::Epoch), ("bernoulli", Per::Layer), ("gumbel", Per::Epoch)]
            .into_iter()
            .chain([("systematic", Per::LayerNested)])
    {
        let options =
            SamplerOptions { draw: draw.into(), per, layers: 2, guards: guards.clone(), ..SamplerOptions::with_p(0.5) };
        let prepared = prepare("ranked", &g, &options).unwrap();
        for epoch in 1..100 {
            let key = DrawKey { layer: u16::from(per != Per::Epoch), ..DrawKey::of_epoch(3, epoch) };
            let mask = kept(prepared.as_ref(), g.pairs(), key);
            let (mut degree, mut unit) = (vec![0usize; 60], 0);
            for (u, v) in g.pair_ends() {
                if mask.get(unit) {
                    degree[u.index()] += 1;
                    degree[v.index()] += 1;
                } else {
                    let pair = [(u.0, v.0), (v.0, u.0)];
                    assert!(!kept_edges.iter().any(|edge| pair.contains(edge)), "{draw} {per:?}: {u} - {v} went");
                }
                unit += 1;
            }
            assert!((0..60).all(|i| degree[i] >= g.degree(NodeId(i as u32)).min(2)), "{draw} {per:?}");
            let left = sapwood_graph::structure::summary(&g, &Sampled::Pairs(&mask)).components;
            assert_eq!(left, whole, "{draw} {per:?}");
        }
    }
}

#[test]
fn nested_layers_nest_with_clips_guards_curves_and_given_probabilities() {
    let g = world();
    let given: String =
        g.pair_ends().enumerate().map(|(e, (u, v))| format!("{u}\t{v}\t{}\n", [0.2, 0.6][e % 2])).collect();
    let folder = folder_with(&[("q.tsv", &given)]).unwrap();
    let base = || SamplerOptions {
        per: Per::LayerNested,
        layers: 3,
        rates: Rates::Layers(vec![0.5, 0.3, 0.1]),
        ..SamplerOptions::default()
    };
    let clipped = SamplerOptions { clip: Clip { min: 0.02, max: 0.7 }, ..base() };
    let guarded = SamplerOptions { guards: Guards { min_degree: 1, ..Guards::default() }, ..base() };
    let linear = SamplerOptions { curve: Curve::Linear, beta: 0.8, ..base() };
    let listed = SamplerOptions { probabilities: Some(folder.path().join("q.tsv")), ..base() };
    for (what, options) in [("clips", clipped), ("guards", guarded), ("linear", linear), ("given", listed)] {
        let prepared = prepare("ranked", &g, &options).unwrap();
        for epoch in 1..50 {
            let layers: Vec<BitMask> = (1..=3)
                .map(|layer| kept(prepared.as_ref(), g.pairs(), DrawKey { layer, ..DrawKey::of_epoch(1, epoch) }))
                .collect();
            for pair in layers.windows(2) {
                assert!((0..pair[0].len()).all(|e| !pair[0].get(e) || pair[1].get(e)), "{what}: layers do not nest");
            }
            let gone = |mask: &BitMask| (mask.len() - mask.count_ones()) as f64;
            assert!(what == "given" || gone(&layers[0]) > gone(&layers[2]), "{what}");
        }
    }
}

/// A pair takes the mean of its two ends; the sum is k.
#[test]
fn dropsens_of_a_pair_is_the_mean_of_its_ends() {
    let g = graph(12, &small_ends());
    let prepared = prepare("dropsens", &g, &SamplerOptions::with_p(0.5)).unwrap();
    let q = q(prepared.as_ref());
    assert!((q.iter().sum::<f64>() - 7.0).abs() < 1e-6);
    // c from one pair whose ends are alike (the triangle 8, 9, 10: degree 2), then every other pair from c
    let ends: Vec<(usize, usize)> = g.pair_ends().map(|(u, v)| (g.degree(u), g.degree(v))).collect();
    let alike = g.pair_ends().position(|(u, v)| (u.0, v.0) == (8, 9)).unwrap();
    let c = 1.0 - (q[alike] + q[alike] * q[alike]) / 2.0;
    let rate = |d: usize| {
        let (mut low, mut high) = (0.0f64, 1.0);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            let sum: f64 = (1..=d as i32).map(|e| middle.powi(e)).sum();
            if sum < d as f64 * (1.0 - c) { low = middle } else { high = middle }
        }
        low
    };
    for (unit, &(a, b)) in ends.iter().enumerate() {
        assert!((q[unit] - 0.5 * (rate(a) + rate(b))).abs() < 1e-6, "unit {unit}: {}", q[unit]);
    }
}

/// q is proportional to w̄ where it is below 1, and w̄ falls with ln π of the sinks.
#[test]
fn gca_of_a_pair_is_proportional_to_its_weight() {
    let g = world();
    let prepared = prepare("gca-pagerank", &g, &SamplerOptions::with_p(0.2)).unwrap();
    let q = q(prepared.as_ref());
    let entry = sapwood_graph::score::find("gca").unwrap();
    let (runtime, options) = (runtime(1), ScoreOptions::default());
    let train = sapwood_graph::TrainLabels::none(60);
    let cx = sapwood_graph::score::ScoreCx { exec: runtime.exec(), options: &options, train: &train };
    let s = sapwood_graph::score::of(entry, &g, &cx).unwrap(); // mean of ln π over the two ends
    let pi = sapwood_graph::centrality::pagerank::of(runtime.exec(), &g, false, &Default::default()).unwrap().scores;
    let top = (0..60).filter(|&i| g.degree(NodeId(i)) > 0).map(|i| pi[i as usize].ln()).fold(f64::MIN, f64::max);
    let weight: Vec<f64> = s.iter().map(|s| top - s).collect();
    let total: f64 = weight.iter().sum();
    let k = prepared.facts().k as f64;
    for (q, w) in q.iter().zip(&weight) {
        assert!((q - k * w / total).abs() < 1e-8, "{q} {}", k * w / total);
    }
}
