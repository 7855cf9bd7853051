//! Dirichlet energy: against a double loop, at its zero, and of which activations it is taken.

use crate::models;
use crate::worlds::uniform;
use sapwood_graph::{Edge, Graph, GraphOptions};
use sapwood_skeleton::Runtime;
use sapwood_sparse::Block;
use sapwood_train::{dirichlet, model};

const NODES: usize = 40;

/// A random graph as a list of pairs with their weights, and as itself.
fn random(weighted: bool) -> (Vec<(usize, usize, f64)>, Graph) {
    let mut uniform = uniform(7);
    let mut pairs = Vec::new();
    for i in 0..NODES {
        for j in 0..i {
            if uniform() < 0.15 {
                pairs.push((i, j, if weighted { 0.5 + (8.0 * uniform()).floor() } else { 1.0 }));
            }
        }
    }
    let edge = |&(i, j, w): &(usize, usize, f64)| Edge { from: i as u32, to: j as u32, weight: w as f32 };
    let graph =
        Graph::build(NODES, pairs.iter().map(edge).collect(), GraphOptions { weighted, ..GraphOptions::default() });
    let graph = graph.unwrap().0;
    (pairs, graph)
}

#[test]
fn energy_is_the_sum_over_pairs() {
    let runtime = Runtime::threads(2).unwrap();
    for weighted in [false, true] {
        let (pairs, graph) = random(weighted);
        assert_eq!(graph.weighted(), weighted);
        let mut degree = [1.0; NODES];
        pairs.iter().for_each(|&(i, j, w)| [i, j].into_iter().for_each(|node| degree[node] += w));
        let mut uniform = uniform(8);
        let h = Block::<f64>::from_fn(NODES, 3, |_, _| uniform() - 0.5).unwrap();
        let apart = |i: usize, j: usize| -> f64 {
            let both = h.row(i).iter().zip(h.row(j));
            both.map(|(x, y)| (x / degree[i].sqrt() - y / degree[j].sqrt()).powi(2)).sum()
        };
        let sum: f64 = pairs.iter().map(|&(i, j, w)| w * apart(i, j)).sum();
        let length: f64 = h.as_slice().iter().map(|x| x * x).sum();
        let found = dirichlet(runtime.exec(), &graph, &h).unwrap();
        assert!((found - sum / length).abs() < 1e-12, "{found} {}", sum / length);
        let smooth = Block::<f64>::from_fn(NODES, 2, |i, k| degree[i].sqrt() * (k + 1) as f64).unwrap();
        assert!(dirichlet(runtime.exec(), &graph, &smooth).unwrap() < 1e-28);
    }
}

#[test]
fn what_the_next_layer_reads_is_looked_at() {
    let names = |name: &str| {
        let shape = models::shape(4, true, 0.0, models::variants(model::find(model::ALL, name).unwrap())[0]);
        models::network::<f64>(model::find(model::ALL, name).unwrap(), &shape).activations()
    };
    let skips = names("resgcn");
    assert_eq!(skips.len(), 3, "{skips:?}");
    assert_eq!(skips[1..], ["convs.1.skip", "convs.2.skip"], "{skips:?}");
    let spread = names("appnp");
    assert_eq!(spread.len(), 3 + 1 + 3, "the hidden layers, Z₀ and each Z: {spread:?}");
}
