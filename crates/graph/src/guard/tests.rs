//! Guards on small graphs.

use super::*;
use crate::graph::{Edge, GraphOptions};
use crate::structure;
use crate::{NodeId, Sampled};

fn graph(nodes: usize, ends: &[(u32, u32)], directed: bool) -> Graph {
    let edges = ends.iter().map(|&(from, to)| Edge { from, to, weight: 1.0 }).collect();
    Graph::build(nodes, edges, GraphOptions { directed, weighted: false }).unwrap().0
}

/// A graph of `n` nodes, about `m` pairs, and ranks, by a fixed rule.
fn random(n: u32, m: u32, directed: bool) -> (Graph, Vec<f64>) {
    let mut state = 12_345u64;
    let mut next = |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % below
    };
    let ends: Vec<(u32, u32)> = (0..m).map(|_| (next(n), next(n))).filter(|(u, v)| u != v).collect();
    let g = graph(n as usize, &ends, directed);
    let z = (0..g.pairs()).map(|_| f64::from(next(50)) / 25.0 - 1.0).collect();
    (g, z)
}

fn kept_at(graph: &Graph, stay: &BitMask) -> Vec<usize> {
    let mut kept = vec![0; graph.nodes()];
    for (e, (u, v)) in graph.pair_ends().enumerate() {
        kept[u.index()] += usize::from(stay.get(e));
        kept[v.index()] += usize::from(stay.get(e));
    }
    kept
}

#[test]
fn every_node_keeps_its_least_degree() {
    for directed in [false, true] {
        let (g, z) = random(80, 300, directed);
        for min_degree in [1, 2, 3, 7, u32::MAX] {
            let stay = guarded(&Guards { min_degree, ..Guards::default() }, &g, &z).unwrap();
            for (i, kept) in kept_at(&g, &stay).into_iter().enumerate() {
                let degree = crate::centrality::degree::of(&g, NodeId(i as u32));
                assert!(kept >= degree.min(min_degree as usize), "node {i} keeps {kept} of {degree}");
            }
        }
    }
}

/// A minimum edge cover has n − (size of a maximum matching) units; here both are known.
#[test]
fn covers_of_paths_and_stars_are_minimum() {
    let path: Vec<(u32, u32)> = (0..9).map(|i| (i, i + 1)).collect();
    let star: Vec<(u32, u32)> = (1..6).map(|i| (0, i)).collect();
    for (n, ends, least) in [(10, &path[..], 5), (9, &path[..8], 5), (6, &star[..], 5)] {
        let g = graph(n, ends, false);
        let stay = guarded(&Guards { min_degree: 1, ..Guards::default() }, &g, &vec![0.0; ends.len()]).unwrap();
        assert_eq!(stay.count_ones(), least, "{n} nodes");
    }
}

#[test]
fn scores_decide_among_equal_degrees() {
    // a cycle of 3: one matched pair, and for the node left over its better one
    let g = graph(3, &[(0, 1), (0, 2), (1, 2)], false);
    let of = |z: [f64; 3]| {
        let stay = guarded(&Guards { min_degree: 1, ..Guards::default() }, &g, &z).unwrap();
        stay.ones().collect::<Vec<_>>()
    };
    assert_eq!(of([1.0, -1.0, 0.0]), [0, 2]);
    assert_eq!(of([-1.0, 0.0, 1.0]), [1, 2]);
    assert_eq!(of([0.0, 0.0, 0.0]), [0, 1], "ties go by number");
}

#[test]
fn the_forest_keeps_components_and_the_largest_scores() {
    for directed in [false, true] {
        let (g, z) = random(60, 100, directed);
        let stay = guarded(&Guards { keep_forest: true, ..Guards::default() }, &g, &z).unwrap();
        let (all, left) = (structure::summary(&g, &Sampled::All), structure::summary(&g, &Sampled::Pairs(&stay)));
        assert_eq!(left.components, all.components);
        assert_eq!(stay.count_ones() as u64, g.nodes() as u64 - all.components, "a forest");
        // a unit outside joins nodes that units of at least its score join already
        let ends: Vec<_> = g.pair_ends().collect();
        for e in (0..ends.len()).filter(|&e| !stay.get(e)) {
            let mut sets = structure::Sets::new(g.nodes());
            stay.ones().filter(|&f| z[f] >= z[e]).for_each(|f| {
                sets.join(ends[f].0.0, ends[f].1.0);
            });
            assert!(!sets.join(ends[e].0.0, ends[e].1.0), "unit {e} should stay");
        }
    }
}

#[test]
fn listed_units_stay_and_count() {
    let folder = sapwood_testkit::scratch::folder_with(&[("keep.tsv", "# mine\n2\t0\n")]).unwrap();
    let g = graph(4, &[(0, 1), (0, 2), (1, 3), (2, 3)], false);
    let always_keep = Some(folder.path().join("keep.tsv"));
    let listed = guarded(&Guards { always_keep: always_keep.clone(), ..Guards::default() }, &g, &[0.0; 4]).unwrap();
    assert_eq!(listed.ones().collect::<Vec<_>>(), [1]);
    let both = guarded(&Guards { always_keep, min_degree: 1, ..Guards::default() }, &g, &[0.0; 4]).unwrap();
    assert_eq!(both.ones().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_bad_list_names_file_and_line() {
    let g = graph(4, &[(0, 1), (0, 2)], false);
    for (text, expected) in [
        ("0\t1\n1\t2\n", "keep.tsv:2: the graph has no pair 1 - 2"),
        ("0\t9\n", "keep.tsv:1: node 9 does not exist"),
        ("0\n", "keep.tsv:1: 1 columns"),
        ("0\t1\t2\n", "keep.tsv:1: 3 columns"),
        ("a\tb\n", "keep.tsv:1: 'a' is no node id"),
    ] {
        let folder = sapwood_testkit::scratch::folder_with(&[("keep.tsv", text)]).unwrap();
        let always_keep = Some(folder.path().join("keep.tsv"));
        let e = guarded(&Guards { always_keep, ..Guards::default() }, &g, &[0.0; 2]).unwrap_err().to_string();
        assert!(e.contains(expected), "{e}");
    }
    let always_keep = Some("nowhere/keep.tsv".into());
    let e = guarded(&Guards { always_keep, ..Guards::default() }, &g, &[0.0; 2]).unwrap_err().to_string();
    assert!(e.contains("nowhere/keep.tsv"), "{e}");
}
