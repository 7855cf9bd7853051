//! PageRank: golden values, the dense twin, laws, and options that are refused.

mod chebyshev;
mod laws;
mod twin;

use crate::make::exec;
use sapwood_sparse::algorithms::{Method, PageRank, PageRankOptions, pagerank};
use sapwood_sparse::{Csr, One, Planned, Result};

/// A graph as its matrix of incoming arcs, ready for [`pagerank`].
pub(crate) struct Walked {
    pub(crate) incoming: Planned<Csr<One>>,
    pub(crate) out: Vec<f64>,
}

/// The arcs j → i of a graph of `n` nodes.
pub(crate) fn arcs(n: usize, arcs: &[(u32, u32)]) -> Walked {
    let mut rows = vec![Vec::new(); n];
    let mut out = vec![0.0; n];
    for &(from, to) in arcs {
        rows[to as usize].push(from);
        out[from as usize] += 1.0;
    }
    rows.iter_mut().for_each(|r| r.sort_unstable());
    let mut offsets = vec![0];
    for r in &rows {
        offsets.push(offsets[offsets.len() - 1] + r.len() as u64);
    }
    let columns = rows.concat();
    let values = vec![One; columns.len()];
    Walked { incoming: Planned::new(Csr::try_new(n, n, offsets, columns, values).unwrap()), out }
}

/// Both arcs of each pair.
pub(crate) fn pairs(n: usize, pairs: &[(u32, u32)]) -> Walked {
    arcs(n, &pairs.iter().flat_map(|&(i, j)| [(i, j), (j, i)]).collect::<Vec<_>>())
}

impl Walked {
    pub(crate) fn rank(&self, options: &PageRankOptions<'_>) -> Result<PageRank> {
        pagerank(exec(2), &self.incoming, &self.out, &[], options)
    }

    /// ‖F(x) − x‖₁ of a step of the power iteration without sinks, t uniform.
    pub(crate) fn step(&self, x: &[f64], alpha: f64) -> f64 {
        let (a, t) = (self.incoming.matrix(), 1.0 / x.len() as f64);
        let term = |&j: &u32| x[j as usize] / self.out[j as usize];
        let next = |i: usize| alpha * a.row(i).iter().map(term).sum::<f64>() + (1.0 - alpha) * t;
        (0..x.len()).map(|i| (next(i) - x[i]).abs()).sum()
    }
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= within, "node {i}: {f}, not {e}");
    }
}

fn scores(graph: &Walked) -> Vec<f64> {
    let result = graph.rank(&PageRankOptions::default()).unwrap();
    assert!(result.converged && result.error_bound <= 1e-9);
    result.scores
}

#[test]
fn small_graphs_have_known_scores() {
    let path = scores(&pairs(3, &[(0, 1), (1, 2)]));
    close(&path, &[19.0 / 74.0, 36.0 / 74.0, 19.0 / 74.0], 1e-10);
    let star = scores(&pairs(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]));
    close(&star, &[0.475675675676, 0.131081081081, 0.131081081081, 0.131081081081, 0.131081081081], 1e-10);
    let k4 = pairs(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    close(&scores(&k4), &[0.25; 4], 1e-10);
    let chain = scores(&arcs(4, &[(0, 1), (1, 2), (2, 3)]));
    close(&chain, &[0.116155823037, 0.214888272618, 0.298810854762, 0.370145049584], 1e-10);
    let tail = scores(&pairs(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]));
    close(&tail, &[0.245927818588, 0.245927818588, 0.366735867135, 0.141408495688], 1e-10);
}

#[test]
fn resets_and_sinks_have_known_scores() {
    let reset = |graph: &Walked, t: &[f64]| {
        graph.rank(&PageRankOptions { teleport: Some(t), ..Default::default() }).unwrap().scores
    };
    assert_eq!(reset(&arcs(2, &[(0, 1)]), &[0.0, 1.0]), [0.0, 1.0]);
    let k4 = pairs(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    let uneven = [0.232467532468, 0.232467532468, 0.267532467532, 0.267532467532];
    close(&reset(&k4, &[1.0, 1.0, 4.0, 4.0]), &uneven, 1e-10);
    let one = [0.220779220779, 0.220779220779, 0.220779220779, 0.337662337662];
    close(&reset(&k4, &[0.0, 0.0, 0.0, 7e300]), &one, 1e-10);
    let six = arcs(6, &[(0, 1), (0, 2), (2, 0), (2, 1), (2, 4), (3, 4), (3, 5), (4, 3), (4, 5), (5, 3)]);
    let known = [0.037211965078, 0.053957349363, 0.041505653356, 0.375080815110, 0.205998331877, 0.286245885215];
    for method in [Method::Power, Method::GaussSeidel] {
        let found = six.rank(&PageRankOptions { alpha: 0.9, tol: 1e-12, method, ..Default::default() }).unwrap();
        close(&found.scores, &known, 1e-10);
        assert_eq!(found.dangling, 1);
    }
}

/// A data set as a graph without its self-loops, these, and its known scores.
fn data_set(name: &str) -> Option<(Walked, Vec<f64>, Vec<f64>)> {
    let folder = sapwood_testkit::data::public(name)?;
    let text = std::fs::read_to_string(folder.join("pagerank_085.tsv")).ok()?;
    let last = |l: &str| l.split_whitespace().last().and_then(|w| w.parse::<f64>().ok());
    let expected: Vec<f64> = text.lines().filter_map(last).collect();
    let edges = std::fs::read_to_string(folder.join("edges.tsv")).unwrap();
    let pair = |l: &str| {
        let mut words = l.split_whitespace().map(|w| w.parse::<u32>().ok());
        Some((words.next()??, words.next()??))
    };
    let mut list: Vec<_> = edges.lines().filter_map(pair).map(|(i, j)| (i.min(j), i.max(j))).collect();
    list.sort_unstable();
    list.dedup();
    let (loops, plain): (Vec<_>, Vec<_>) = list.into_iter().partition(|(i, j)| i == j);
    let mut graph = pairs(expected.len(), &plain);
    let mut own = vec![0.0; expected.len()];
    for (i, _) in loops {
        own[i as usize] += 1.0;
        graph.out[i as usize] += 1.0;
    }
    Some((graph, own, expected))
}

#[test]
fn known_data_sets_have_their_scores_by_all_methods() {
    for name in ["karate", "cora", "citeseer", "pubmed"] {
        let Some((graph, own, expected)) = data_set(name) else { continue };
        for method in Method::ALL {
            let options = PageRankOptions { tol: 1e-14, method, ..Default::default() };
            let found = pagerank(exec(2), &graph.incoming, &graph.out, &own, &options).unwrap();
            assert!(found.converged, "{name} {method}: {}", found.residual);
            close(&found.scores, &expected, 1e-12);
            let alone = pagerank(exec(1), &graph.incoming, &graph.out, &own, &options).unwrap();
            for threads in [3, 8] {
                assert_eq!(pagerank(exec(threads), &graph.incoming, &graph.out, &own, &options).unwrap(), alone);
            }
            assert_eq!(found, alone);
        }
    }
}

#[test]
fn printed_scores_of_karate_and_cora() {
    let karate = [
        (0, 0.096997285388),
        (1, 0.052876924061),
        (2, 0.057078509488),
        (3, 0.035859857786),
        (32, 0.071693226006),
        (33, 0.100919182333),
    ];
    let cora = [
        (1358, 0.012210533823),
        (1701, 0.006237197834),
        (1986, 0.005341411050),
        (306, 0.005069680306),
        (1810, 0.003625788211),
    ];
    for (name, known) in [("karate", karate.as_slice()), ("cora", &cora)] {
        let Some((graph, own, _)) = data_set(name) else { continue };
        for method in Method::ALL {
            let options = PageRankOptions { tol: 1e-12, method, ..Default::default() };
            let scores = pagerank(exec(2), &graph.incoming, &graph.out, &own, &options).unwrap().scores;
            for &(node, expected) in known {
                assert!((scores[node] - expected).abs() <= 1e-10, "{name} {method} {node}: {}", scores[node]);
            }
            if name == "cora" {
                let mut order: Vec<usize> = (0..scores.len()).collect();
                order.sort_by(|&i, &j| scores[j].total_cmp(&scores[i]));
                assert!(order.iter().zip(&cora).all(|(&node, &(known, _))| node == known), "{:?}", &order[..5]);
            }
        }
    }
}

#[test]
fn a_ring_of_three_million_converges_within_the_bound() {
    let n = 3_000_000;
    let mut list: Vec<(u32, u32)> = (0..n).map(|i| (i, (i + 1) % n)).collect();
    list.push((0, n / 2));
    let graph = pairs(n as usize, &list);
    for (method, most) in [(Method::Power, 146), (Method::Chebyshev, 45)] {
        let found = graph.rank(&PageRankOptions { method, ..Default::default() }).unwrap();
        assert!(found.converged && found.residual <= 1e-10);
        assert!(found.iterations > 1 && found.iterations <= most, "{method}: {}", found.iterations);
        // The residual is not only reported: a step in plain arithmetic changes the scores by no more.
        let changed = graph.step(&found.scores, 0.85);
        assert!(changed <= found.residual + 1e-14, "{method}: {changed:e}, not {:e}", found.residual);
        // Far from the chord nothing changes; mirrored nodes have equal bits.
        assert_eq!(found.scores[1].to_bits(), found.scores[n as usize - 1].to_bits());
    }
}

#[test]
fn methods_have_names() {
    for method in Method::ALL {
        assert_eq!(method.to_string().parse::<Method>().unwrap(), method);
    }
    let wrong = "chebishev".parse::<Method>().unwrap_err().to_string();
    let expected =
        "unknown method of PageRank 'chebishev', did you mean 'chebyshev'?; known: power, gauss-seidel, chebyshev";
    assert_eq!(wrong, expected);
    assert!("".parse::<Method>().unwrap_err().to_string().contains("''; known"));
}

#[test]
fn bad_options_and_weights_are_refused_with_facts() {
    let graph = arcs(2, &[(0, 1)]);
    let message = |options: PageRankOptions<'_>| graph.rank(&options).unwrap_err().to_string();
    let base = PageRankOptions::default();
    assert_eq!(message(PageRankOptions { alpha: 1.0, ..base }), "alpha is 1, it must be at least 0 and below 1");
    assert!(message(PageRankOptions { tol: f64::NAN, ..base }).contains("tol is NaN"));
    assert!(message(PageRankOptions { max_iter: 0, ..base }).contains("max_iter"));
    let bad = PageRankOptions { teleport: Some(&[1.0, -1.0]), ..base };
    assert_eq!(message(bad), "teleport[1] is -1, it must be finite and not negative");
    assert!(message(PageRankOptions { teleport: Some(&[0.0, 0.0]), ..base }).contains("teleport is all zero"));
    assert!(message(PageRankOptions { dangling: Some(&[1.0]), ..base }).contains("dangling has 1 elements, 2"));
    let wrong = pagerank(exec(1), &graph.incoming, &[2.0, 0.0], &[], &base).unwrap_err().to_string();
    assert!(wrong.contains("out_weight does not belong"), "{wrong}");
    let none = graph.rank(&PageRankOptions { alpha: 0.0, ..base }).unwrap();
    assert_eq!((none.scores, none.iterations), (vec![0.5, 0.5], 0));
}
