//! The registered draws: golden values, fast forms against their twin, edge cases, the same bits at any number of threads.

use crate::support::{build, graph, random_ends, runtime, small_ends};
use proptest::prelude::*;
use sapwood_graph::draw::{
    ALL, Entry, Job, Order, Quotas, Scratch, Strata, exact_count, find, nested, systematic, systematic_in_order,
    systematic_reference,
};
use sapwood_graph::structure::DegreeNoise;
use sapwood_graph::{BitMask, DrawKey, Graph, GraphOptions, Sampled};
use sapwood_skeleton::Runtime;
use sapwood_skeleton::random::{Purpose, Stream, uniform_f64};

/// `count` fixed random numbers of [0, 1).
pub(crate) fn randoms(seed: u64, count: usize) -> Vec<f64> {
    let stream = Stream::new(seed, Purpose::Test);
    let number = |unit| stream.at(0, 0, unit).map(|w| uniform_f64(w[0], w[1])).unwrap();
    (0..count as u64).map(number).collect()
}

/// Makes the numbers between 0 and 1 a little smaller, so that the sum is whole; also gives the sum.
fn whole(mut q: Vec<f64>) -> (Vec<f64>, u64) {
    let ones = q.iter().filter(|&&q| q == 1.0).count() as u64;
    let inner: f64 = q.iter().filter(|&&q| q < 1.0).sum();
    let factor = if inner > 0.0 { inner.floor() / inner } else { 0.0 };
    q.iter_mut().filter(|q| **q < 1.0).for_each(|q| *q *= factor);
    (q, ones + inner.floor() as u64)
}

/// Fixed random quotas, one in eight of them 0 and one in eight 1.
pub(crate) fn random_quotas(seed: u64, units: u64) -> Quotas {
    let q = randoms(seed, units as usize).into_iter().map(|x| (1.25 * x - 0.125).clamp(0.0, 1.0)).collect();
    let (q, k) = whole(q);
    Quotas::from_probabilities(&q, k).unwrap()
}

/// Strata of fixed random scores with ties: ranks are cut to multiples of a half.
fn random_strata(units: u64) -> Strata {
    let last = units.saturating_sub(1) as f64;
    Strata::new(&randoms(3, units as usize).iter().map(|x| (x * last * 2.0).floor() / 2.0).collect::<Vec<_>>()).unwrap()
}

pub(crate) fn orders(graph: &Graph) -> [Order; 3] {
    [Order::Hash, Order::Node, Order::Score(random_strata(graph.pairs()))]
}

/// One draw in fresh storage.
fn mask(entry: &Entry, runtime: &Runtime, graph: &Graph, quotas: &Quotas, order: &Order, key: DrawKey) -> BitMask {
    let mut mask = BitMask::default();
    let job = Job { exec: runtime.exec(), graph, quotas, order, key };
    (entry.draw)(&job, &mut Scratch::default(), &mut mask).unwrap();
    assert_eq!(mask.len() as u64, graph.pairs());
    mask
}

fn gone(mask: &BitMask) -> Vec<usize> {
    (0..mask.len()).filter(|&e| !mask.get(e)).collect()
}

/// A random graph both ways: undirected, and directed with arcs up and down and some pairs of opposite arcs.
fn both_kinds(nodes: u32, count: u32) -> [Graph; 2] {
    let ends = random_ends(nodes.max(1), count);
    let mut arcs = ends.clone();
    arcs.iter_mut().filter(|(u, v)| (u * 31 + v) % 2 == 0).for_each(|(u, v)| (*u, *v) = (*v, *u));
    arcs.extend(ends.iter().step_by(5).map(|&(u, v)| if (u * 31 + v) % 2 == 0 { (u, v) } else { (v, u) }));
    let directed = GraphOptions { directed: true, weighted: false };
    [graph(nodes as usize, &ends), build(nodes as usize, &arcs, directed)]
}

/// No units, one, few, many.
fn graphs() -> Vec<Graph> {
    let sizes = [(0, 0), (1, 0), (2, 0), (2, 5), (300, 3000), (5000, 50_000)];
    sizes.into_iter().flat_map(|(nodes, count)| both_kinds(nodes, count)).collect()
}

fn quotas_of(graph: &Graph) -> [Quotas; 2] {
    let m = graph.pairs();
    [Quotas::uniform(m, exact_count(0.3, m)).unwrap(), random_quotas(1, m)]
}

#[test]
fn golden_quotas_and_drops_of_the_triangle_with_a_tail() {
    // two_stage scores, beta 2, k = 2; pairs (0,1), (0,2), (1,2), (2,3)
    let q = [0.887196089721, 0.219100093292, 0.219100093292, 0.674603723696];
    let quotas = Quotas::from_probabilities(&q, 2).unwrap();
    let each: Vec<u64> = (0..4).map(|e| quotas.get(e)).collect();
    assert_eq!(each, [3_810_478_191, 941_027_735, 941_027_735, 2_897_400_931]);
    for (u, expected) in [(0u32, [1, 3]), (1 << 31, [0, 3]), (4_000_000_000, [0, 1])] {
        let mut mask = BitMask::default();
        systematic_in_order(&quotas, 0..4, u, &mut mask);
        assert_eq!(gone(&mask), expected, "u = {u}");
    }
}

#[test]
fn fast_orders_equal_their_twin() {
    let (entry, runtime) = (find("systematic").unwrap(), runtime(2));
    let key = DrawKey { seed: 9, epoch: 4, layer: 3, micro: 2 };
    for graph in graphs() {
        for quotas in quotas_of(&graph) {
            for order in &orders(&graph) {
                let job = Job { exec: runtime.exec(), graph: &graph, quotas: &quotas, order, key };
                let expected = systematic_reference(&job).unwrap();
                let got = mask(entry, &runtime, &graph, &quotas, order, key);
                let about = format!("{} nodes, directed {}, {quotas:.40?}", graph.nodes(), graph.directed());
                assert!(got == expected, "{about}");
                assert_eq!(gone(&got).len() as u64, quotas.k(), "{about}");
                if *order == Order::Hash {
                    let mut alone = BitMask::default();
                    systematic(runtime.exec(), &quotas, key, &mut Scratch::default(), &mut alone).unwrap();
                    assert!(alone == expected, "{about}");
                }
            }
        }
    }
}

#[test]
fn every_draw_has_the_same_bits_at_any_number_of_threads() {
    let key = DrawKey { seed: 2, epoch: 1, layer: 0, micro: 7 };
    for graph in graphs().into_iter().skip(8) {
        let quotas = random_quotas(5, graph.pairs());
        let tilt: Vec<f64> = randoms(8, graph.pairs() as usize);
        let of = |threads| {
            let runtime = runtime(threads);
            let mut masks: Vec<BitMask> = vec![BitMask::default()];
            nested(runtime.exec(), &tilt, quotas.k(), key, &mut Scratch::default(), &mut masks[0]).unwrap();
            for order in &orders(&graph) {
                masks.extend(ALL.iter().map(|entry| mask(entry, &runtime, &graph, &quotas, order, key)));
            }
            masks
        };
        let expected = of(1);
        assert!([2, 3, 8].into_iter().all(|threads| of(threads) == expected), "directed {}", graph.directed());
    }
}

#[test]
fn none_all_and_single_units_in_every_draw() {
    let runtime = runtime(1);
    for graph in [graph(0, &[]), graph(3, &[]), graph(2, &[(0, 1)]), graph(12, &small_ends())] {
        let m = graph.pairs();
        for (entry, order) in ALL.iter().flat_map(|e| orders(&graph).map(|order| (e, order))) {
            for k in [0, m] {
                let quotas = Quotas::uniform(m, k).unwrap();
                let left = mask(entry, &runtime, &graph, &quotas, &order, DrawKey::of_epoch(1, 1)).count_ones();
                assert_eq!(left as u64, m - k, "{} {order:?}: {k} of {m}", entry.name);
            }
        }
    }
}

#[test]
fn sure_units_are_sure_in_every_draw() {
    let (g, runtime) = (graph(12, &small_ends()), runtime(1));
    let q = [0.0, 1.0, 0.3, 0.7, 1.0, 0.0, 0.5, 0.5, 0.2, 0.8, 0.25, 0.75, 1.0, 0.0];
    let quotas = Quotas::from_probabilities(&q, 7).unwrap();
    for (entry, order) in ALL.iter().flat_map(|e| orders(&g).map(|order| (e, order))) {
        for epoch in 0..100 {
            let mask = mask(entry, &runtime, &g, &quotas, &order, DrawKey::of_epoch(1, epoch));
            assert!([0, 5, 13].iter().all(|&e| mask.get(e)), "{} {order:?}", entry.name);
            assert!([1, 4, 12].iter().all(|&e| !mask.get(e)), "{} {order:?}", entry.name);
            assert!(!entry.exact || gone(&mask).len() == 7, "{} {order:?}", entry.name);
        }
    }
}

#[test]
fn nested_draws_are_nested_and_exact() {
    let runtime = runtime(2);
    let mut tilt: Vec<f64> = randoms(4, 5000).iter().map(|x| 4.0 * x - 2.0).collect();
    (tilt[17], tilt[18]) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut scratch, mut before) = (Scratch::default(), BitMask::new(5000, true));
    for (layer, k) in (0..).zip([0, 1, 2, 700, 700, 2500, 4998, 4999]) {
        let (key, mut mask) = (DrawKey { seed: 1, epoch: 2, layer, micro: 3 }, BitMask::default());
        nested(runtime.exec(), &tilt, k, key, &mut scratch, &mut mask).unwrap();
        assert_eq!(gone(&mask).len() as u64, k);
        assert!(gone(&before).iter().all(|&e| !mask.get(e)), "layer {layer} keeps what the one before dropped");
        assert!(mask.get(18) && (k == 0 || !mask.get(17)));
        before = mask;
    }
    let key = DrawKey::of_epoch(1, 2);
    let e = nested(runtime.exec(), &tilt, 5000, key, &mut scratch, &mut before).unwrap_err().to_string();
    assert!(e.contains("4999"), "{e}");
    for (tilt, k) in [(&[][..], 0), (&[0.5], 0), (&[0.5], 1)] {
        nested(runtime.exec(), tilt, k, key, &mut scratch, &mut before).unwrap();
        assert_eq!((before.len(), gone(&before).len() as u64), (tilt.len(), k));
    }
}

#[test]
fn degrees_vary_less_with_the_units_of_a_node_together() {
    let (g, runtime, entry) = (graph(300, &random_ends(300, 1500)), runtime(1), find("systematic").unwrap());
    let quotas = Quotas::uniform(g.pairs(), exact_count(0.5, g.pairs())).unwrap();
    let sd = |order| {
        let mut noise = DegreeNoise::new(&g);
        for epoch in 0..60 {
            let mask = mask(entry, &runtime, &g, &quotas, &order, DrawKey::of_epoch(1, epoch));
            noise.add(&g, &Sampled::Pairs(&mask)).unwrap();
        }
        noise.mean_sd().unwrap()
    };
    let (by_node, by_hash) = (sd(Order::Node), sd(Order::Hash));
    assert!(by_node < 0.9 * by_hash, "{by_node} {by_hash}");
}

#[test]
fn a_second_draw_of_a_graph_allocates_nothing() {
    let runtime = runtime(1); // with more, a worker's arena grows when it first gets a chunk
    for graph in both_kinds(5000, 50_000) {
        let quotas = random_quotas(6, graph.pairs());
        for (entry, order) in ALL.iter().flat_map(|e| orders(&graph).map(|order| (e, order))) {
            let (mut scratch, mut mask) = (Scratch::default(), BitMask::default());
            let mut held = Vec::new();
            for epoch in 0..3 {
                let key = DrawKey::of_epoch(1, epoch);
                let job = Job { exec: runtime.exec(), graph: &graph, quotas: &quotas, order: &order, key };
                (entry.draw)(&job, &mut scratch, &mut mask).unwrap();
                held.push((scratch.bytes(), runtime.arena_bytes(), mask.words().as_ptr()));
            }
            assert!(held[1..].iter().all(|h| *h == held[0]), "{} {order:.20?} {held:?}", entry.name);
        }
    }
}

proptest! {
    #[test]
    fn quotas_sum_to_k(raw in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64, 0.0..1e-9f64], 0..200)) {
        let (q, k) = whole(raw);
        let quotas = Quotas::from_probabilities(&q, k).unwrap();
        prop_assert_eq!(quotas.k(), k);
        prop_assert_eq!((0..q.len() as u32).map(|e| quotas.get(e)).sum::<u64>(), k << 32);
        for (e, &q) in (0..).zip(&q) {
            prop_assert!((quotas.probability(e) - q).abs() <= 2f64.powi(-31), "unit {}: {}", e, q);
            prop_assert!((q != 0.0 && q != 1.0) || quotas.probability(e) == q);
        }
    }
}
