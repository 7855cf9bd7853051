//! Generated graphs: the same for every thread count, with the densities and degrees of their models; refusals of specs.

use crate::support::{message, runtime};
use sapwood_graph::dataset::{Weights, convert};
use sapwood_graph::generator::{ALL, Entry, Generator, Listed, Parameter, Recipe, SEED, Size};
use sapwood_graph::{Edge, Facts, GraphData, LoadOptions, load};
use sapwood_skeleton::Exec;
use sapwood_skeleton::random::{Purpose, Stream};
use std::collections::BTreeSet;

fn made(spec: &str) -> GraphData {
    load(spec, &LoadOptions::default()).unwrap()
}

fn refused(spec: &str) -> String {
    message(load(spec, &LoadOptions::default()))
}

fn ends(data: &GraphData) -> Vec<[u32; 2]> {
    data.graph.pair_ends().map(|(u, v)| [u.0, v.0]).collect()
}

/// What identifies a graph: its pairs and labels.
fn digest(data: &GraphData) -> String {
    let numbers = ends(data).concat().into_iter().chain(data.labels.iter().map(|&l| l as u32));
    sapwood_files::digest::short_of(&numbers.collect::<Vec<u32>>())
}

/// `hits` of `tries` is within five standard deviations of what probability `p` gives.
fn five_sigma(hits: u64, tries: u64, p: f64) {
    let (mean, sd) = (tries as f64 * p, (tries as f64 * p * (1.0 - p)).sqrt());
    assert!((hits as f64 - mean).abs() <= 5.0 * sd, "{hits} of {tries}, {mean} ± {sd} expected");
}

#[test]
fn small_graphs_are_pinned() {
    assert_eq!(digest(&made("sbm:n=30,k=2,in=0.5,out=0.05")), "6deeaa2f4efe49c8");
    assert_eq!(digest(&made("rmat:scale=6,edge=4")), "e7c37df01b8a9ae5");
    let specs = ["ba:n=30,m=3", "erdos:n=30,p=0.2", "erdos:n=30,m=80", "erdos:n=30,m=300", "grid:rows=4,cols=5"];
    let digests = specs.map(|spec| digest(&made(spec)));
    assert_eq!(
        digests,
        ["8f3fa1e716aff8df", "e1c0e52cbe7a01ed", "1d1c7f9b12aa6e34", "41e88f822f9111ec", "6b858cc5a1fc94cd"]
    );
}

#[test]
fn every_generator_makes_the_same_graph_on_any_number_of_threads() {
    for spec in [
        "sbm:n=5000,k=7,in=0.01,out=0.001,seed=3",
        "rmat:scale=13,edge=7,seed=3",
        "ba:n=5000,m=5,seed=3",
        "erdos:n=5000,p=0.002,seed=3",
        "erdos:n=5000,m=25000,seed=3",
    ] {
        let recipe = Recipe::parse(spec).unwrap().unwrap();
        let one = recipe.make(runtime(1).exec()).unwrap();
        for threads in [2, 8] {
            let other = recipe.make(runtime(threads).exec()).unwrap();
            assert_eq!(digest(&one), digest(&other), "{spec} on {threads} threads");
        }
        assert_eq!(digest(&one), digest(&made(spec)));
        assert_ne!(digest(&one), digest(&made(&spec.replace("seed=3", "seed=4"))));
        assert_eq!((one.graph.self_loops().len(), one.graph.weighted(), one.kind), (0, false, "generated"));
    }
    for entry in ALL {
        assert!(made(entry.example).graph.pairs() > 0, "{}", entry.example);
    }
}

#[test]
fn blocks_have_their_densities() {
    let data = made("sbm:n=1200,k=5,in=0.05,out=0.005");
    assert_eq!((data.graph.nodes(), data.classes, data.unlabelled()), (1200, 5, 0));
    assert!(data.labels.iter().enumerate().all(|(i, &l)| l as usize == i * 5 / 1200));
    let mut hits = [[0u64; 5]; 5];
    for [u, v] in ends(&data) {
        hits[data.labels[u as usize] as usize][data.labels[v as usize] as usize] += 1;
    }
    for (b, row) in hits.iter().enumerate() {
        assert!(row[..b].iter().all(|&h| h == 0));
        five_sigma(row[b], 240 * 239 / 2, 0.05);
        row[b + 1..].iter().for_each(|&h| five_sigma(h, 240 * 240, 0.005));
    }
    let split = data.split(None).unwrap();
    assert_eq!((split.train.len(), split.val.len(), split.test.len()), (300, 300, 600));
    assert!(split.train.iter().all(|n| n.0 % 4 == 0) && split.val.iter().all(|n| n.0 % 4 == 1));
}

/// Over many seeds, every pair of a small graph is there as often as its probability says, and pairs next to each
/// other are independent: what skipping by gaps must share with tossing a coin for each pair.
#[test]
fn every_pair_has_its_probability() {
    let (n, rounds) = (9u32, 4000u64);
    let mut hits = vec![0u64; (n * n) as usize];
    let mut both = 0;
    for seed in 0..rounds {
        let data = made(&format!("sbm:n={n},k=2,in=0.6,out=0.1,seed={seed}"));
        let pairs: BTreeSet<[u32; 2]> = ends(&data).into_iter().collect();
        pairs.iter().for_each(|&[u, v]| hits[(u * n + v) as usize] += 1);
        both += u64::from(pairs.contains(&[0, 1]) && pairs.contains(&[0, 2]));
    }
    let block = |i: u32| i * 2 / n;
    for (u, v) in (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))) {
        five_sigma(hits[(u * n + v) as usize], rounds, if block(u) == block(v) { 0.6 } else { 0.1 });
    }
    five_sigma(both, rounds, 0.36);
}

#[test]
fn probabilities_of_zero_and_one_are_certain() {
    assert_eq!(made("sbm:n=7,k=7,in=1,out=0").graph.pairs(), 0);
    assert_eq!(made("sbm:n=7,k=2,in=0,out=1").graph.pairs(), 12);
    let full = made("sbm:n=40,k=3,in=1,out=1");
    assert_eq!(full.graph.pairs(), 780);
    assert_eq!(made("sbm:n=1,k=1,in=1,out=1").graph.nodes(), 1);
    assert_eq!(made("sbm:n=50,k=1,in=1e-300,out=1e-17").graph.pairs(), 0);
    assert_eq!(made("rmat:scale=0,edge=5").graph.nodes(), 1);
    assert_eq!(made("rmat:scale=5,edge=0").graph.pairs(), 0);
    assert_eq!(made("rmat:scale=5,edge=3,a=1,b=0,c=0").graph.pairs(), 0);
    let all_b = made("rmat:scale=5,edge=3,a=0,b=1,c=0");
    assert_eq!(ends(&all_b), [[0, 31]]);
    assert_eq!(ends(&made("rmat:scale=5,edge=3,a=0,b=0,c=1")), ends(&all_b));
}

/// The slow twin: one draw after the other, one level after the other, a set of pairs.
fn rmat_twin(scale: u32, edge: u64, p: [f64; 3], seed: u64) -> Vec<[u32; 2]> {
    let stream = Stream::new(seed, Purpose::Generate);
    let mut pairs = BTreeSet::new();
    for draw in 0..edge << scale {
        let (mut from, mut to) = (0u32, 0u32);
        for level in 0..scale {
            let word = stream.at(0, 512 + level / 4, draw).unwrap()[level as usize % 4];
            let x = f64::from(word) / 4_294_967_296.0;
            let quadrant = [p[0], p[0] + p[1], p[0] + p[1] + p[2]].iter().filter(|&&border| x >= border).count() as u32;
            (from, to) = (2 * from + quadrant / 2, 2 * to + quadrant % 2);
        }
        if from != to {
            pairs.insert([from.min(to), from.max(to)]);
        }
    }
    pairs.into_iter().collect()
}

#[test]
fn rmat_equals_its_slow_twin() {
    // borders that 32 bits hold exactly
    let text = "a=0.5,b=0.25,c=0.125";
    for (scale, edge, seed) in [(1, 3, 0), (4, 9, 1), (6, 40, 2), (11, 20, 3)] {
        let data = made(&format!("rmat:scale={scale},edge={edge},{text},seed={seed}"));
        assert_eq!(ends(&data), rmat_twin(scale, edge, [0.5, 0.25, 0.125], seed), "{scale} {edge}");
    }
}

#[test]
fn rmat_has_hubs_and_loses_few_draws() {
    let data = made("rmat:scale=12,edge=8");
    let (nodes, pairs) = (4096u64, data.graph.pairs());
    assert!(pairs < 8 * nodes && pairs > 6 * nodes, "{pairs}");
    let facts = Facts::of(&data);
    let mean = 2.0 * pairs as f64 / nodes as f64;
    assert!(facts.max_degree as f64 > 20.0 * mean, "{} {mean}", facts.max_degree);
    assert!(facts.isolated > nodes / 10, "{}", facts.isolated);
    let even = Facts::of(&made("rmat:scale=12,edge=8,a=0.25,b=0.25,c=0.25"));
    assert!((even.max_degree as f64) < 3.0 * mean && even.isolated < 10);
    // the first level puts 0.57 + 0.19 of the tails, and of the heads, below the middle
    let low = data.graph.pair_ends().map(|(u, v)| u64::from(u.0 < 2048) + u64::from(v.0 < 2048)).sum::<u64>();
    assert!((low as f64 / (2 * pairs) as f64 - 0.76).abs() < 0.06, "{low} of {pairs}");
    assert_eq!((data.classes, data.splits.len(), data.unlabelled()), (0, 0, nodes));
}

#[test]
fn names_are_full_and_in_one_order() {
    let data = made("sbm: out=5e-2, k=2,in=0.50,n=30");
    assert_eq!(data.name, "sbm:n=30,k=2,in=0.5,out=0.05,seed=0");
    assert_eq!(digest(&data), digest(&made(&data.name)));
    assert_eq!(made("rmat:scale=3,edge=2").name, "rmat:scale=3,edge=2,a=0.57,b=0.19,c=0.19,seed=0");
    assert_eq!(data.digest(), made("sbm:n=30,k=2,in=0.5,out=0.05").digest());
    assert_ne!(data.digest(), made("sbm:n=30,k=2,in=0.5,out=0.05,seed=1").digest());
    let weighted = LoadOptions { weights: Weights::Asked, ..LoadOptions::default() };
    let warnings = load("rmat:scale=3,edge=2", &weighted).unwrap().warnings;
    assert!(warnings[0].contains("has no weights"), "{warnings:?}");
    let directed = LoadOptions { directed: true, ..LoadOptions::default() };
    assert!(message(load("rmat:scale=3,edge=2", &directed)).contains("undirected; leave --directed out"));
}

#[test]
fn bad_specs_name_the_parameter_and_its_range() {
    for (spec, expected) in [
        ("sbm:n=10", "sbm:n=10: k, in, out not set, write it as in sbm:n=1000,k=4,in=0.05,out=0.005"),
        ("sbm:n=10,n=10", "n is set twice"),
        ("sbm:n=10,kk=2", "unknown parameter 'kk', did you mean 'k'?; known: n, k, in, out, seed"),
        ("sbm:n", "'n' sets nothing, write name=value"),
        ("sbm:n=0,k=1,in=0,out=0", "n must be a whole number from 1 to 4294967294, not 0"),
        ("sbm:n=4294967295,k=1,in=0,out=0", "n must be a whole number from 1 to 4294967294"),
        ("sbm:n=1e3,k=1,in=0,out=0", "n must be a whole number from 1 to 4294967294, not 1e3"),
        ("sbm:n=3,k=4,in=0,out=0", "k must be a whole number from 1 to n, here 3, not 4"),
        ("sbm:n=3,k=0,in=0,out=0", "k must be a whole number from 1 to "),
        ("sbm:n=3,k=1,in=1.01,out=0", "in must be a probability from 0 to 1, not 1.01"),
        ("sbm:n=3,k=1,in=0,out=-0.1", "out must be a probability from 0 to 1, not -0.1"),
        ("sbm:n=3,k=1,in=nan,out=0", "in must be a probability from 0 to 1, not nan"),
        ("sbm:n=3,k=1,in=,out=0", "in must be a probability from 0 to 1, not "),
        ("sbm:n=3,k=1,in=0,out=0,seed=-1", "seed must be a whole number from 0 to 18446744073709551615"),
        ("sbm:n=1000000,k=1,in=1,out=0", "499999500000 edges are more than 4294967295"),
        ("rmat:scale=32,edge=1", "scale must be a whole number from 0 to 31, not 32"),
        (
            "rmat:scale=31,edge=2",
            "4294967296 edges are more than 4294967295, which a graph can number; change scale, edge",
        ),
        ("rmat:scale=3,edge=2,a=0.9", "a + b + c must be at most 1"),
        ("ba:n=3,m=3", "m must be a whole number from 1 to n - 1, here 2, not 3"),
        ("ba:n=1,m=1", "n must be a whole number from 2 to 4294967294, not 1"),
        ("ba:n=4000000000,m=2", "7999999996 edges are more than 4294967295, which a graph can number; change n, m"),
        ("erdos:n=3", "neither p nor m is set"),
        ("erdos:n=3,p=0.5,m=1", "p and m are both set, set one of them"),
        ("erdos:n=3,m=4", "m must be at most 3, the pairs of 3 nodes, not 4"),
        ("erdos:n=1,m=1", "m must be at most 0"),
        ("erdos:n=4000000000,p=1", "edges are more than 4294967295"),
        ("erdos:n=3,p=", "p must be a probability from 0 to 1"),
        ("grid:n=3", "unknown parameter 'n'"),
        ("grid:rows=3", "cols not set, write it as in grid:rows=100,cols=100"),
        ("grid:rows=100000,cols=100000", "100000 x 100000 x 1 is more than 4294967294 nodes"),
        ("grid:rows=4294967294,cols=4294967294,layers=4294967294", "is more than 4294967294 nodes"),
        ("grid:rows=60000,cols=60000", "7199880000 edges are more than 4294967295"),
        ("grid:rows=2,cols=2,periodic=2", "periodic must be a whole number from 0 to 1, not 2"),
        ("sbm", "no data set 'sbm': looked at"),
    ] {
        let text = refused(spec);
        assert!(text.contains(expected), "{spec}: {text}");
    }
    assert!(refused("rmat").contains("rmat is a generator: write its parameters, as in rmat:scale=16,edge=16"));
    assert!(made("rmat:scale=3,edge=1,a=0.6,b=0.3,c=0.1").graph.nodes() == 8); // 0.6 + 0.3 + 0.1 > 1 in binary, perhaps
}

#[test]
fn a_written_graph_is_the_same_data_set() {
    for spec in
        ["sbm:n=50,k=3,in=0.3,out=0.02", "rmat:scale=5,edge=3", "ba:n=40,m=2", "erdos:n=40,m=9", "grid:rows=4,cols=5"]
    {
        let data = made(spec);
        let folder = sapwood_testkit::scratch::folder().unwrap();
        convert(&data, folder.path()).unwrap();
        let read = load(folder.path().to_str().unwrap(), &LoadOptions::default()).unwrap();
        let facts = |data: &GraphData| Facts { name: String::new(), files: Vec::new(), ..Facts::of(data) };
        assert_eq!((facts(&read), digest(&read)), (facts(&data), digest(&data)));
        assert_eq!((&read.splits, &read.warnings), (&data.splits, &data.warnings));
    }
}

/// The slow twin: a list in which every node stands as often as its degree says, and a set of what is chosen.
fn ba_twin(n: u32, m: u32, seed: u64) -> Vec<[u32; 2]> {
    let stream = Stream::new(seed, Purpose::Generate);
    let mut ends: Vec<u32> = (1..=m).flat_map(|leaf| [0, leaf]).collect();
    for node in m + 1..n {
        let (degrees, mut unit, mut chosen) = (ends.clone(), 0, Vec::new());
        while chosen.len() < m as usize {
            let word = stream.hash64(node, 768, unit).unwrap();
            let target = degrees[((u128::from(word) * degrees.len() as u128) >> 64) as usize];
            unit += 1;
            if !chosen.contains(&target) {
                chosen.push(target);
            }
        }
        ends.extend(chosen.iter().flat_map(|&target| [target, node]));
    }
    let mut pairs: Vec<[u32; 2]> = ends.as_chunks::<2>().0.iter().map(|&[u, v]| [u.min(v), u.max(v)]).collect();
    pairs.sort();
    pairs
}

#[test]
fn preferential_attachment_equals_its_slow_twin() {
    for (n, m, seed) in [(2, 1, 0), (9, 8, 1), (30, 3, 2), (200, 1, 3), (150, 20, 4)] {
        assert_eq!(ends(&made(&format!("ba:n={n},m={m},seed={seed}"))), ba_twin(n, m, seed), "{n} {m}");
    }
}

#[test]
fn preferential_attachment_has_exact_counts_and_a_heavy_tail() {
    for (n, m) in [(10, 9), (100, 1), (1000, 7), (20_000, 3)] {
        let data = made(&format!("ba:n={n},m={m}"));
        assert_eq!((data.graph.nodes() as u64, data.graph.pairs()), (n, m * (n - m)));
        // every node behind the start brings m edges
        let degree = |i: u64| data.graph.degree(sapwood_graph::NodeId(i as u32)) as u64;
        assert!((m + 1..n).all(|i| degree(i) >= m), "{n} {m}");
        assert_eq!(Facts::of(&data).components, 1);
    }
    // P(degree > k) = m(m + 1) / ((k + 1)(k + 2)) in the limit (Bollobas and others, 2001)
    let (n, m) = (50_000u64, 3u64);
    let data = made(&format!("ba:n={n},m={m}"));
    let degrees: Vec<u64> = (0..n).map(|i| data.graph.degree(sapwood_graph::NodeId(i as u32)) as u64).collect();
    for k in [3, 5, 10, 20, 50] {
        let beyond = degrees.iter().filter(|&&d| d > k).count() as f64 / n as f64;
        let law = (m * (m + 1)) as f64 / ((k + 1) * (k + 2)) as f64;
        // five standard deviations, and what a finite start adds
        let tolerance = 5.0 * (law / n as f64).sqrt() + 0.02 * law;
        assert!((beyond - law).abs() < tolerance, "{k}: {beyond} {law}");
    }
    assert!(*degrees.iter().max().unwrap() > 200);
}

/// Over many seeds, the third node of `m = 1` joins each end of the first pair equally often, and the fourth by degree.
#[test]
fn attachment_goes_by_degree() {
    let rounds = 4000;
    let (mut to_middle, mut to_twice) = (0, 0);
    for seed in 0..rounds {
        let pairs = ends(&made(&format!("ba:n=4,m=1,seed={seed}")));
        let target = |node: u32| pairs.iter().find(|p| p[1] == node).unwrap()[0];
        to_middle += u64::from(target(2) == 0);
        // node 3 finds degrees 2, 1, 1 at the node that 2 chose, the other and 2 itself
        to_twice += u64::from(target(3) == target(2));
    }
    five_sigma(to_middle, rounds, 0.5);
    five_sigma(to_twice, rounds, 0.5);
}

#[test]
fn random_graphs_have_their_counts() {
    let pairs = |n: u64| n * (n - 1) / 2;
    for (n, p) in [(2000, 0.01), (500, 0.3), (300, 0.97), (40_000, 1e-4)] {
        five_sigma(made(&format!("erdos:n={n},p={p}")).graph.pairs(), pairs(n), p);
    }
    for (n, m) in [(1, 0), (2, 1), (50, 0), (50, 612), (50, 613), (50, 1224), (50, 1225), (3000, 40_000)] {
        assert_eq!(made(&format!("erdos:n={n},m={m}")).graph.pairs(), m, "{n} {m}");
    }
    assert_eq!(made("erdos:n=60,p=1").graph.pairs(), pairs(60));
    assert_eq!(made("erdos:n=60,p=0").graph.pairs(), 0);
    assert_eq!(made("erdos:n=60,p=0.1").name, "erdos:n=60,p=0.1,seed=0");
    assert_eq!(made("erdos:m=7,n=60,seed=2").name, "erdos:n=60,m=7,seed=2");
}

/// Every pair is there as often as any other, drawn or left over.
#[test]
fn sets_of_pairs_are_uniform() {
    let (n, rounds) = (6u32, 6000u64);
    for (m, both) in [(4u64, 4.0 * 3.0 / (15.0 * 14.0)), (11, 11.0 * 10.0 / (15.0 * 14.0))] {
        let (mut hits, mut together) = (vec![0u64; (n * n) as usize], 0);
        for seed in 0..rounds {
            let pairs: BTreeSet<[u32; 2]> =
                ends(&made(&format!("erdos:n={n},m={m},seed={seed}"))).into_iter().collect();
            assert_eq!(pairs.len() as u64, m);
            pairs.iter().for_each(|&[u, v]| hits[(u * n + v) as usize] += 1);
            together += u64::from(pairs.contains(&[0, 1]) && pairs.contains(&[2, 5]));
        }
        for (u, v) in (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))) {
            five_sigma(hits[(u * n + v) as usize], rounds, m as f64 / 15.0);
        }
        five_sigma(together, rounds, both);
    }
}

#[test]
fn lattices_have_their_edges() {
    let text = |spec: &str| ends(&made(spec));
    assert_eq!(text("grid:rows=2,cols=3"), [[0, 1], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [4, 5]]);
    assert_eq!(text("grid:rows=1,cols=4,periodic=1"), [[0, 1], [0, 3], [1, 2], [2, 3]]);
    assert_eq!(text("grid:rows=2,cols=1,periodic=1"), [[0, 1]]);
    assert_eq!(text("grid:rows=1,cols=1,periodic=1"), [[0u32; 2]; 0]);
    for (rows, cols, layers) in [(1, 1, 1), (1, 7, 1), (5, 2, 1), (6, 4, 3), (2, 2, 2), (3, 3, 3)] {
        let open = made(&format!("grid:rows={rows},cols={cols},layers={layers}"));
        let along = |a: u64, b: u64, c: u64| (a - 1) * b * c;
        let expected = along(rows, cols, layers) + along(cols, rows, layers) + along(layers, rows, cols);
        assert_eq!((open.graph.nodes() as u64, open.graph.pairs()), (rows * cols * layers, expected));
        let torus = made(&format!("grid:rows={rows},cols={cols},layers={layers},periodic=1"));
        let closed = |a: u64, b: u64, c: u64| if a > 2 { a * b * c } else { along(a, b, c) };
        let expected = closed(rows, cols, layers) + closed(cols, rows, layers) + closed(layers, rows, cols);
        assert_eq!(torus.graph.pairs(), expected, "{rows} {cols} {layers}");
        assert_eq!((Facts::of(&open).components, Facts::of(&torus).components), (1, 1));
    }
    let torus = made("grid:rows=5,cols=4,layers=3,periodic=1");
    assert!((0..60).all(|i| torus.graph.degree(sapwood_graph::NodeId(i)) == 6));
    assert_eq!(made("grid:cols=3,rows=2").name, "grid:rows=2,cols=3,layers=1,periodic=0");
}

#[derive(Debug)]
struct Ring(u64);

impl Generator for Ring {
    fn size(&self) -> Size {
        Size { nodes: self.0, edges: self.0 as f64 }
    }

    fn list(&self, _: Exec<'_>) -> sapwood_graph::Result<Listed> {
        let n = self.0 as u32;
        let edge = |i| Edge { from: i, to: (i + 1) % n, weight: 1.0 };
        Ok(Listed { edges: (0..n).map(edge).collect(), ..Listed::default() })
    }
}

#[test]
fn a_new_generator_is_an_entry() {
    let n = Parameter { name: "n", ..SEED };
    let parameters = Box::leak(Box::new([n, SEED]));
    let new = |values: &_| -> sapwood_graph::Result<Box<dyn Generator>> { Ok(Box::new(Ring(whole(values, "n")))) };
    let ring = Entry { name: "ring", summary: "a ring", example: "ring:n=3", parameters, new };
    let recipe = Recipe::parse_among(&[ring], "ring:n=6").unwrap().unwrap();
    let data = recipe.make(runtime(1).exec()).unwrap();
    assert_eq!((recipe.name(), data.graph.pairs()), ("ring:n=6,seed=0", 6));
    assert!(Recipe::parse("ring:n=6").unwrap().is_none());
}

fn whole(values: &sapwood_graph::generator::Values, name: &str) -> u64 {
    values.whole(name)
}
