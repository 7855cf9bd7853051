//! The slow twin: PageRank as a dense system of linear equations, by Gaussian elimination.

use crate::make::{Numbers, exec};
use proptest::prelude::*;
use sapwood_sparse::algorithms::{Method, PageRankOptions, pagerank};
use sapwood_sparse::{Csr, Planned};

/// A weighted graph with its dense matrix of weights: `weights[i][j]` of the arc j → i.
#[derive(Debug)]
struct Weighted {
    incoming: Planned<Csr<f64>>,
    out: Vec<f64>,
    own: Vec<f64>,
    weights: Vec<Vec<f64>>,
}

/// Some arcs, some sinks, self-loops both in the matrix and beside it.
fn graph(seed: u64, n: usize, degree: usize, symmetric: bool) -> Weighted {
    let mut numbers = Numbers::new(seed);
    let mut weights = vec![vec![0.0; n]; n];
    for _ in 0..n * degree {
        let (i, j) = (numbers.below(n), numbers.below(n));
        // Every fifth node keeps no arcs, or none that leave it.
        if j % 5 == 4 || symmetric && i % 5 == 4 {
            continue;
        }
        weights[i][j] = 1e-3 + numbers.next().abs();
        if symmetric {
            weights[j][i] = weights[i][j];
        }
    }
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in &weights {
        let stored = row.iter().enumerate().filter(|(_, w)| **w > 0.0);
        stored.for_each(|(j, &w)| {
            columns.push(j as u32);
            values.push(w);
        });
        offsets.push(columns.len() as u64);
    }
    let own: Vec<f64> = (0..n).map(|i| if i % 5 == 1 { 0.5 } else { 0.0 }).collect();
    (0..n).for_each(|i| weights[i][i] += own[i]);
    let out = (0..n).map(|j| weights.iter().map(|row| row[j]).sum()).collect();
    let incoming = Planned::new(Csr::try_new(n, n, offsets, columns, values).unwrap());
    Weighted { incoming, out, own, weights }
}

/// Solves `a·x = b` with pivots from the columns.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&p, &q| a[p][k].abs().total_cmp(&a[q][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            if factor != 0.0 {
                let (above, below) = a.split_at_mut(i);
                below[0][k..].iter_mut().zip(&above[k][k..]).for_each(|(x, y)| *x -= factor * y);
                b[i] -= factor * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// x = α(Pᵀx + (Σ over sinks x)·d) + (1−α)·t.
fn exact(graph: &Weighted, alpha: f64, t: &[f64], d: &[f64]) -> Vec<f64> {
    let n = t.len();
    let share = |of: &[f64], i: usize| of[i] / of.iter().sum::<f64>();
    let entry = |i: usize, j: usize| {
        let out = graph.out[j];
        let follows = if out > 0.0 { graph.weights[i][j] / out } else { share(d, i) };
        f64::from(i == j) - alpha * follows
    };
    let a = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
    solve(a, (0..n).map(|i| (1.0 - alpha) * share(t, i)).collect())
}

/// One of: uniform, random, all on one node.
fn distribution(kind: usize, numbers: &mut Numbers, n: usize) -> Vec<f64> {
    let at = numbers.below(n);
    (0..n).map(|i| [1.0, numbers.next().abs() + 1e-6, f64::from(i == at)][kind]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_methods_equal_elimination(
        seed in 0u64..1 << 40,
        n in 1usize..=200,
        degree in 0usize..6,
        symmetric: bool,
        alpha in prop_oneof![Just(0.85), 0.01..0.99f64],
        (teleport, dangling) in (0usize..3, 0usize..3),
    ) {
        let graph = graph(seed, n, degree, symmetric);
        let mut numbers = Numbers::new(seed ^ 77);
        let t = distribution(teleport, &mut numbers, n);
        let d = distribution(dangling, &mut numbers, n);
        for method in Method::ALL {
            let chebyshev = method == Method::Chebyshev;
            if chebyshev && !symmetric {
                continue;
            }
            let d = if chebyshev { &t } else { &d };
            let options = PageRankOptions {
                alpha, tol: 1e-12, max_iter: 5000, method, teleport: Some(&t), dangling: Some(d),
            };
            let found = pagerank(exec(2), &graph.incoming, &graph.out, &graph.own, &options).unwrap();
            let expected = exact(&graph, alpha, &t, d);
            let off: f64 = found.scores.iter().zip(&expected).map(|(f, e)| (f - e).abs()).sum();
            prop_assert!(found.converged, "{method}: {:e} after {}", found.residual, found.iterations);
            prop_assert!(off <= found.error_bound + 1e-14 * n as f64 / (1.0 - alpha), "{method}: off by {off:e}");
        }
    }
}
