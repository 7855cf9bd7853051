//! Scores of units and centralities of nodes: golden values, laws, bad input.

use crate::support::{build, graph, message, random_ends, runtime};
use sapwood_graph::calibrate::mid_ranks;
use sapwood_graph::centrality::{self, CentralityCx};
use sapwood_graph::score::{self, ScoreCx, ScoreOptions};
use sapwood_graph::{Graph, GraphOptions, LoadOptions, NodeId, TrainLabels, load};
use sapwood_sparse::algorithms::PageRankOptions;

pub(crate) fn triangle_with_tail() -> Graph {
    graph(4, &[(0, 1), (1, 2), (2, 0), (2, 3)])
}

pub(crate) fn karate() -> Option<Graph> {
    let path = sapwood_testkit::data::public("karate")?;
    Some(load(path.to_str().unwrap(), &LoadOptions::default()).unwrap().graph.unweighted())
}

pub(crate) fn scores_by(name: &str, graph: &Graph, options: &ScoreOptions) -> sapwood_graph::Result<Vec<f64>> {
    let (runtime, train) = (runtime(2), TrainLabels::none(graph.nodes()));
    score::of(score::find(name)?, graph, &ScoreCx { exec: runtime.exec(), options, train: &train })
}

pub(crate) fn scores(name: &str, graph: &Graph) -> Vec<f64> {
    scores_by(name, graph, &ScoreOptions::default()).unwrap()
}

fn central(name: &str, graph: &Graph, tol: f64) -> Vec<f64> {
    let runtime = runtime(2);
    let pagerank = PageRankOptions { tol, ..PageRankOptions::default() };
    let cx = CentralityCx { exec: runtime.exec(), pagerank, weighted: false, seed: 0 };
    (centrality::find(name).unwrap().rank)(graph, &cx).unwrap().scores
}

pub(crate) fn unit(graph: &Graph, u: u32, v: u32) -> usize {
    graph.pair_ends().position(|ends| ends == (NodeId(u), NodeId(v))).unwrap()
}

pub(crate) fn near(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "{got}, not {expected}");
}

#[test]
fn golden_two_stage_scores() {
    let s = scores("two_stage", &triangle_with_tail()); // pairs (0,1), (0,2), (1,2), (2,3)
    let expected = [0.196_742_254_871, 0.294_251_038_007, 0.294_251_038_007, 0.214_755_669_115];
    s.iter().zip(expected).for_each(|(&s, e)| near(s, e, 1e-10));
    near(s.iter().sum(), 1.0, 1e-12);
    let Some(karate) = karate() else { return };
    let s = scores("two_stage", &karate);
    near(s[unit(&karate, 0, 1)], 0.028_921_642_621, 1e-10);
    near(s[unit(&karate, 32, 33)], 0.038_611_313_040, 1e-10);
    assert_eq!(s.iter().copied().fold(0.0, f64::max), s[unit(&karate, 32, 33)]);
}

#[test]
fn golden_pagerank_of_data_sets() {
    for name in ["cora", "citeseer", "pubmed", "karate"] {
        let Some(path) = sapwood_testkit::data::public(name) else { return };
        let Ok(text) = std::fs::read_to_string(path.join("pagerank_085.tsv")) else { continue };
        let data = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap();
        // the listed values leave self-loops out
        let ends: Vec<(u32, u32)> = data.graph.pair_ends().map(|(u, v)| (u.0, v.0)).collect();
        let pi = central("pagerank", &graph(data.graph.nodes(), &ends), 1e-14);
        let lines = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
        let fields = lines.filter_map(|l| l.split_once('\t'));
        let listed: Vec<(usize, f64)> = fields.filter_map(|(i, x)| Some((i.parse().ok()?, x.parse().ok()?))).collect();
        assert_eq!(listed.len(), data.graph.nodes(), "{name}");
        listed.iter().for_each(|&(i, x)| near(pi[i], x, 1e-12));
    }
}

/// Every score gives every unit of a graph whose edges are all alike the same rank.
#[test]
fn edges_that_are_alike_tie() {
    let star = graph(6, &[(0, 3), (3, 1), (3, 2), (4, 3), (3, 5)]);
    let cycle = graph(7, &[(0, 3), (3, 6), (6, 2), (2, 5), (5, 1), (1, 4), (4, 0)]);
    let all: Vec<(u32, u32)> = (0..6).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
    for entry in score::ALL.iter().filter(|e| e.name != "file") {
        for g in [&star, &cycle, &graph(6, &all)] {
            let options = ScoreOptions { gamma: 0.7, delta: -1.3, ..ScoreOptions::default() };
            let z = mid_ranks(&scores_by(entry.name, g, &options).unwrap()).unwrap();
            assert!(z.iter().all(|&z| z == 0.0), "{}: {z:?}", entry.name);
        }
    }
}

/// Renumbering the nodes renumbers the scores; their ranks do not change by a bit.
#[test]
fn scores_follow_a_renumbering() {
    let n = 60u32;
    let ends = random_ends(n, 150);
    let renamed = |i: u32| (i * 23 + 11) % n;
    let others: Vec<(u32, u32)> = ends.iter().map(|&(u, v)| (renamed(u), renamed(v))).collect();
    for directed in [false, true] {
        let options = GraphOptions { directed, weighted: false };
        let (g, h) = (build(n as usize, &ends, options), build(n as usize, &others, options));
        for entry in score::ALL.iter().filter(|e| !["file", "resistance"].contains(&e.name)) {
            let options = ScoreOptions { gamma: 1.5, delta: 0.5, ..ScoreOptions::default() };
            let of = |g: &Graph| mid_ranks(&scores_by(entry.name, g, &options).unwrap()).unwrap();
            let (a, b) = (of(&g), of(&h));
            for (e, (u, v)) in g.pair_ends().enumerate() {
                let (u, v) = (renamed(u.0), renamed(v.0));
                let (u, v) = if directed { (u, v) } else { (u.min(v), u.max(v)) };
                assert_eq!(a[e], b[unit(&h, u, v)], "{} of {u} - {v}", entry.name);
            }
        }
    }
}

#[test]
fn scores_have_the_same_bits_at_any_number_of_threads() {
    let g = graph(1500, &random_ends(1500, 6000));
    let (options, train) = (ScoreOptions::default(), TrainLabels::none(1500));
    for entry in score::ALL.iter().filter(|e| e.name != "file") {
        let at = |threads| {
            let runtime = runtime(threads);
            score::of(entry, &g, &ScoreCx { exec: runtime.exec(), options: &options, train: &train }).unwrap()
        };
        let one = at(1);
        assert!([2, 3, 8].iter().all(|&t| at(t) == one), "{}", entry.name);
    }
}

#[test]
fn plain_scores_of_the_triangle_with_a_tail() {
    let g = triangle_with_tail(); // degrees 2, 2, 3, 1
    assert_eq!(scores("degree", &g), [4.0, 5.0, 5.0, 4.0]);
    assert_eq!(scores("inv_degree", &g), [1.0, 0.5 + 1.0 / 3.0, 0.5 + 1.0 / 3.0, 1.0 / 3.0 + 1.0]);
    let (a, c, d) = (0.245_927_818_588, 0.366_735_867_135, 0.141_408_495_688);
    let expect = |name: &str, e: [f64; 4]| scores(name, &g).iter().zip(e).for_each(|(&s, e)| near(s, e, 1e-9));
    expect("pr_mean", [a, (a + c) / 2.0, (a + c) / 2.0, (c + d) / 2.0]);
    expect("pr_min", [a, a, a, d]);
    expect("pr_max", [a, c, c, c]);
    expect("pr_prod", [a * a, a * c, a * c, c * d].map(f64::ln));
    expect("flow", [a, a / 2.0 + c / 3.0, a / 2.0 + c / 3.0, c / 3.0 + d]);
}

#[test]
fn other_scores_of_the_triangle_with_a_tail() {
    let g = triangle_with_tail();
    assert_eq!(scores("core", &g), [2.0, 2.0, 2.0, 1.0]);
    assert_eq!(scores("betweenness", &g), [1.0, 2.0, 2.0, 3.0]);
    assert_eq!(central("core", &g, 1e-10), [2.0, 2.0, 2.0, 1.0]);
    assert_eq!(central("betweenness", &g, 1e-10), [0.0, 0.0, 2.0, 0.0]);
    assert_eq!(central("degree", &g, 1e-10), [2.0, 2.0, 3.0, 1.0]);
    let halved: Vec<f64> = scores("pr_prod", &g).iter().map(|s| s / 2.0).collect();
    assert_eq!(scores("gca", &g), halved);
    let third = 1.0 / 3.0;
    // ranks by PageRank sums: 0.49, 0.61, 0.61, 0.51; by degree sums: 4, 5, 5, 4
    let expected = [-5.0 / 6.0, 2.0 * third, 2.0 * third, -0.5];
    scores("pr_degree", &g).iter().zip(expected).for_each(|(&s, e)| near(s, e, 1e-15));
}

/// Core numbers by their definition: what is left when nodes of too small a degree are taken away again and again.
#[test]
fn core_numbers_equal_their_slow_twin() {
    for (n, m) in [(1u32, 0u32), (30, 60), (200, 900), (300, 3000)] {
        for directed in [false, true] {
            let g = build(n as usize, &random_ends(n, m), GraphOptions { directed, weighted: false });
            let ends: Vec<(usize, usize)> = g.pair_ends().map(|(u, v)| (u.index(), v.index())).collect();
            let fast = central("core", &g, 1e-10);
            let mut alive = vec![true; n as usize];
            for k in 0..=n {
                loop {
                    let mut degree = vec![0u32; n as usize];
                    for &(u, v) in ends.iter().filter(|&&(u, v)| alive[u] && alive[v]) {
                        let twice = directed && ends.contains(&(v, u)) && u > v;
                        degree[u] += u32::from(!twice);
                        degree[v] += u32::from(!twice);
                    }
                    let fallen: Vec<usize> = (0..n as usize).filter(|&i| alive[i] && degree[i] <= k).collect();
                    if fallen.is_empty() {
                        break;
                    }
                    for i in fallen {
                        alive[i] = false;
                        assert_eq!(fast[i], f64::from(k), "node {i} of {n}");
                    }
                }
            }
        }
    }
}

/// Betweenness by its definition: over all pairs s, t and all nodes (arcs) the share of shortest paths, from matrices of
/// distances and path counts.
#[test]
fn betweenness_equals_its_slow_twin() {
    for directed in [false, true] {
        let n = 40;
        let g = build(n, &random_ends(n as u32, 90), GraphOptions { directed, weighted: false });
        let (mut d, mut c) = (vec![vec![u32::MAX; n]; n], vec![vec![0.0; n]; n]);
        for s in 0..n {
            (d[s][s], c[s][s]) = (0, 1.0);
            for step in 0..n as u32 {
                for i in (0..n).filter(|&i| d[s][i] == u32::MAX || d[s][i] == step + 1).collect::<Vec<_>>() {
                    let before = g.neighbours(NodeId(i as u32)).iter().filter(|&&j| d[s][j as usize] == step);
                    let ways: f64 = before.map(|&j| c[s][j as usize]).sum();
                    if ways > 0.0 {
                        (d[s][i], c[s][i]) = (step + 1, ways);
                    }
                }
            }
        }
        let met = |s: usize, t: usize| s != t && d[s][t] != u32::MAX;
        let half = if directed { 1.0 } else { 0.5 };
        let pairs: Vec<(usize, usize)> =
            (0..n).flat_map(|s| (0..n).map(move |t| (s, t))).filter(|&(s, t)| met(s, t)).collect();
        let on = |s: usize, t: usize, i: usize, j: usize, length: u32| {
            let there = d[s][i] != u32::MAX && d[j][t] != u32::MAX && d[s][i] + length + d[j][t] == d[s][t];
            if there { c[s][i] * c[j][t] / c[s][t] } else { 0.0 }
        };
        let nodes = central("betweenness", &g, 1e-10);
        for i in 0..n {
            let inner = pairs.iter().filter(|&&(s, t)| s != i && t != i);
            near(nodes[i], half * inner.map(|&(s, t)| on(s, t, i, i, 0)).sum::<f64>(), 1e-9);
        }
        for (score, (head, tail)) in scores("betweenness", &g).into_iter().zip(g.pair_ends()) {
            let (head, tail) = (head.index(), tail.index());
            let back = |s, t| if directed { 0.0 } else { on(s, t, head, tail, 1) };
            near(score, half * pairs.iter().map(|&(s, t)| on(s, t, tail, head, 1) + back(s, t)).sum::<f64>(), 1e-9);
        }
    }
}

/// Resistances by Gaussian elimination: ground one node of the component and put 1 ampere through the edge.
fn resistance_twin(n: usize, ends: &[(usize, usize)], (s, t): (usize, usize)) -> f64 {
    let mut a = vec![vec![0.0; n + 1]; n];
    for &(u, v) in ends {
        a[u][u] += 1.0;
        a[v][v] += 1.0;
        a[u][v] -= 1.0;
        a[v][u] -= 1.0;
    }
    a.iter_mut().enumerate().for_each(|(i, row)| row[i] += 1e-9); // a weak ground everywhere
    (a[s][n], a[t][n]) = (1.0, -1.0);
    for k in 0..n {
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            (k..=n).for_each(|j| a[i][j] -= f * a[k][j]);
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        x[i] = (a[i][n] - (i + 1..n).map(|j| a[i][j] * x[j]).sum::<f64>()) / a[i][i];
    }
    x[s] - x[t]
}

#[test]
fn resistances_equal_their_slow_twin() {
    let g = triangle_with_tail();
    scores("resistance", &g).iter().zip([2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 1.0]).for_each(|(&r, e)| near(r, e, 1e-9));
    central("resistance", &g, 1e-10)
        .iter()
        .zip([4.0 / 3.0, 4.0 / 3.0, 7.0 / 3.0, 1.0])
        .for_each(|(&r, e)| near(r, e, 1e-8));
    for directed in [false, true] {
        let g = build(40, &random_ends(38, 70), GraphOptions { directed, weighted: false });
        let mut ends: Vec<(usize, usize)> =
            g.pair_ends().map(|(u, v)| (u.index().min(v.index()), u.index().max(v.index()))).collect();
        let units = ends.clone();
        ends.sort_unstable();
        ends.dedup();
        for (r, pair) in scores("resistance", &g).into_iter().zip(units) {
            near(r, resistance_twin(40, &ends, pair), 1e-6);
        }
    }
}

#[test]
fn resistances_sum_as_foster_says() {
    for (n, m) in [(300u32, 500u32), (2000, 6000)] {
        let g = graph(n as usize, &random_ends(n, m));
        let components = sapwood_graph::structure::summary(&g, &sapwood_graph::Sampled::All).components;
        let rank = f64::from(n) - components as f64;
        let tolerance = if n <= 1000 { 1e-6 } else { 0.02 * rank };
        near(scores("resistance", &g).iter().sum(), rank, tolerance);
        near(central("resistance", &g, 1e-10).iter().sum(), 2.0 * rank, 2.0 * tolerance);
    }
    let path: Vec<(u32, u32)> = (0..1500).map(|i| (i, i + 1)).collect();
    let r = scores("resistance", &graph(1501, &path));
    assert!(r.iter().all(|r| (r - 1.0).abs() < 1e-3), "bridges are 1 in a sketch too");
}

#[test]
fn betweenness_of_a_large_graph_is_refused() {
    let e = message(scores_by("betweenness", &graph(5001, &[(0, 1)]), &ScoreOptions::default()));
    assert!(e.contains("5001 is more than 5000"), "{e}");
}

#[test]
fn personalised_pagerank_wants_nodes_to_restart_at() {
    let (g, runtime) = (graph(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]), runtime(1));
    let at = |teleport: Option<&[f64]>| {
        let pagerank = PageRankOptions { tol: 1e-13, teleport, ..PageRankOptions::default() };
        let cx = CentralityCx { exec: runtime.exec(), pagerank, weighted: false, seed: 0 };
        (centrality::find("personalised").unwrap().rank)(&g, &cx)
    };
    assert!(message(at(None)).starts_with("--reset must be"));
    let pi = at(Some(&[0.0, 0.0, 0.0, 1.0])).unwrap();
    pi.scores
        .iter()
        .zip([0.220_779_220_779, 0.220_779_220_779, 0.220_779_220_779, 0.337_662_337_662])
        .for_each(|(&x, e)| near(x, e, 1e-12));
    assert!(pi.walk.unwrap().converged);
}

#[test]
fn scores_from_a_file() {
    let g = triangle_with_tail();
    let of = |g: &Graph, text: &str| {
        let folder = crate::support::folder(&[("s.tsv", text)]);
        let options = ScoreOptions { file: Some(folder.path().join("s.tsv")), ..ScoreOptions::default() };
        scores_by("file", g, &options)
    };
    assert_eq!(
        of(&g, "# u v s\n2\t3\t-4e2\n1\t0\t1\n2\t1\t0.5\r\n\n0\t1\t1.0\n0\t2\t7").unwrap(),
        [1.0, 7.0, 0.5, -400.0]
    );
    for (text, expected) in [
        ("0\t1\t1\n0\t2\t2\n1\t2\t3\n", "s.tsv: pair 2 - 3 has no score"),
        ("0\t1\t1\n0\t1\t1\n", "s.tsv:2: pair 0 - 1 stands already in line 1"),
        ("0\t1\t1\n1\t0\t2\n", "s.tsv:2: pair 0 - 1 has 2 here and 1 in line 1"),
        ("0\t3\t1\n", "s.tsv:1: the graph has no pair 0 - 3"),
        ("0\t1\tNaN\n", "s.tsv:1: NaN is not a finite number"),
        ("0\t1\tinf\n", "s.tsv:1: inf is not a finite number"),
        ("0\t1\tx\n", "s.tsv:1: 'x' is no number"),
        ("0\t1\n", "s.tsv:1: 2 columns"),
    ] {
        let e = message(of(&g, text));
        assert!(e.contains(expected), "{e}");
    }
    let arcs = build(3, &[(0, 1), (1, 0), (1, 2)], GraphOptions { directed: true, weighted: false });
    // arcs by head: 1 -> 0, 0 -> 1, 1 -> 2
    assert_eq!(of(&arcs, "0\t1\t5\n1\t0\t6\n1\t2\t7\n").unwrap(), [6.0, 5.0, 7.0]);
    assert!(message(of(&arcs, "2\t1\t5\n")).contains("no arc 2 -> 1"));
    assert!(message(scores_by("file", &g, &ScoreOptions::default())).starts_with("--score must be file:PATH"));
}

#[test]
fn weighted_pagerank_follows_weights() {
    let options = GraphOptions { directed: false, weighted: true };
    let g = build(4, &[(0, 1), (1, 2), (2, 0), (2, 3), (1, 1)], options);
    let by = |weighted| scores_by("pr_mean", &g, &ScoreOptions { weighted, ..ScoreOptions::default() }).unwrap();
    let weights = g.rows().weights().unwrap();
    let (n, alpha) = (4, 0.85);
    let mut x = vec![0.25; n];
    for _ in 0..400 {
        let mut next = vec![(1.0 - alpha) / n as f64; n];
        let mut out = vec![0.0; n];
        g.self_loops().iter().for_each(|&(i, w)| out[i.index()] += f64::from(w));
        (0..n).for_each(|i| {
            out[i] += weights[g.rows().pattern().row_range(i)].iter().map(|&w| f64::from(w)).sum::<f64>()
        });
        for i in 0..n {
            for arc in g.rows().pattern().row_range(i) {
                let j = g.rows().pattern().columns()[arc] as usize;
                next[i] += alpha * x[j] * f64::from(weights[arc]) / out[j];
            }
        }
        g.self_loops()
            .iter()
            .for_each(|&(i, w)| next[i.index()] += alpha * x[i.index()] * f64::from(w) / out[i.index()]);
        x = next;
    }
    for (score, (u, v)) in by(true).into_iter().zip(g.pair_ends()) {
        near(score, (x[u.index()] + x[v.index()]) / 2.0, 1e-9);
    }
    assert!(by(false) != by(true));
}

#[test]
fn arcs_of_a_directed_graph_have_their_own_scores() {
    let g = build(4, &[(0, 1), (1, 2), (2, 1), (2, 3)], GraphOptions { directed: true, weighted: false });
    let pi = central("pagerank", &g, 1e-12);
    let out = [1.0, 1.0, 2.0, 0.0];
    let arcs: Vec<(usize, usize)> = g.pair_ends().map(|(head, tail)| (head.index(), tail.index())).collect();
    assert_eq!(arcs, [(1, 0), (1, 2), (2, 1), (3, 2)]);
    for (flow, &(_, tail)) in scores("flow", &g).iter().zip(&arcs) {
        near(*flow, pi[tail] / out[tail], 1e-9);
    }
    assert_eq!(scores("degree", &g), [3.0, 4.0, 2.0, 3.0]);
    let leaving: f64 = pi[0] + pi[1] + pi[2];
    let s = scores("two_stage", &g);
    [pi[0] / leaving, pi[2] / leaving * 2.0 / 3.0, pi[1] / leaving, pi[2] / leaving / 3.0]
        .iter()
        .zip(&s)
        .for_each(|(e, s)| near(*s, *e, 1e-9));
}

#[test]
fn options_out_of_range_name_their_flag() {
    let g = triangle_with_tail();
    let fail = |options: ScoreOptions| message(scores_by("two_stage", &g, &options));
    let base = ScoreOptions::default;
    for alpha in [1.0, -0.1, f64::NAN] {
        assert!(fail(ScoreOptions { alpha, ..base() }).starts_with("--alpha must be"));
    }
    assert!(fail(ScoreOptions { gamma: f64::NAN, ..base() }).starts_with("--gamma must be"));
    assert!(fail(ScoreOptions { delta: f64::INFINITY, ..base() }).starts_with("--delta must be"));
    assert!(fail(ScoreOptions { lambda: 1.5, ..base() }).starts_with("--rank-lambda must be"));
    let e = message(scores_by("two-stage", &g, &base()));
    assert!(e.starts_with("unknown score 'two-stage', did you mean 'two_stage'?"), "{e}");
    // infinite only because of the options: the pair is named
    let e = message(scores_by("two_stage", &g, &ScoreOptions { gamma: 1e6, ..base() }));
    assert!(e.starts_with("the score of pair 0 - 1 is NaN"), "{e}");
}
