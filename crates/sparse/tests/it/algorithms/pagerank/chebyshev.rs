//! Chebyshev: what it refuses, and that it ends where it cannot converge.

use super::{arcs, close, pairs};
use crate::make::exec;
use sapwood_sparse::algorithms::{Method, PageRankOptions, pagerank};
use sapwood_sparse::{Csr, Planned};

const CHEBYSHEV: PageRankOptions<'_> = PageRankOptions {
    alpha: 0.85,
    tol: 1e-10,
    max_iter: 1000,
    method: Method::Chebyshev,
    teleport: None,
    dangling: None,
};

#[test]
fn what_is_not_symmetric_is_refused() {
    let message = arcs(3, &[(0, 1), (1, 0), (1, 2)]).rank(&CHEBYSHEV).unwrap_err().to_string();
    let expected = "Chebyshev needs a symmetric graph: the weights into node 1 sum to 1, those out of it to 2; \
                    use power or gauss-seidel";
    assert_eq!(message, expected);
    // 0 → 1 → 2 → 0 in weights, where a pattern would be balanced.
    let turn = Csr::<f64>::try_new(3, 3, vec![0, 1, 2, 3], vec![2, 0, 1], vec![1.0, 1.0, 2.0]).unwrap();
    let message = pagerank(exec(1), &Planned::new(turn), &[1.0, 2.0, 1.0], &[], &CHEBYSHEV).unwrap_err().to_string();
    assert!(message.contains("into node 1 sum to 1, those out of it to 2"), "{message}");
    // Row sums may be those of `out_weight` while the columns differ: mass is made or lost.
    let lying = Csr::<f64>::try_new(3, 3, vec![0, 1, 2, 3], vec![1, 0, 0], vec![1.0; 3]).unwrap();
    let centre = PageRankOptions { teleport: Some(&[1.0, 0.0, 0.0]), ..CHEBYSHEV };
    let message = pagerank(exec(1), &Planned::new(lying), &[1.0; 3], &[], &centre).unwrap_err().to_string();
    assert!(message.contains("out_weight does not belong to the matrix: 2 of the mass"), "{message}");
}

#[test]
fn mass_of_sinks_must_go_where_restarts_go() {
    let graph = pairs(3, &[(0, 1)]);
    let (t, scaled) = ([1.0, 2.0, 1.0], [2.0, 4.0, 2.0]);
    let with = |d| PageRankOptions { teleport: Some(&t), dangling: Some(d), ..CHEBYSHEV };
    let found = graph.rank(&with(&scaled)).unwrap();
    let power = graph.rank(&PageRankOptions { method: Method::Power, ..with(&scaled) }).unwrap();
    close(&found.scores, &power.scores, 1e-9);
    assert_eq!(found.dangling, 1);
    let message = graph.rank(&with(&[1.0, 1.0, 1.0])).unwrap_err().to_string();
    let expected =
        "Chebyshev sends the mass of sinks where the teleport goes: leave dangling out, or use power or gauss-seidel";
    assert_eq!(message, expected);
}

/// A directed cycle has equal row and column sums, but eigenvalues all around a circle.
#[test]
fn where_it_cannot_converge_it_ends_and_says_so() {
    let n = 50;
    let cycle = arcs(n, &(0..n as u32).map(|i| (i, (i + 1) % n as u32)).collect::<Vec<_>>());
    let mut t = vec![0.0; n];
    t[0] = 1.0;
    let found = cycle.rank(&PageRankOptions { teleport: Some(&t), ..CHEBYSHEV }).unwrap();
    assert!(!found.converged && found.iterations < 50, "{} sweeps", found.iterations);
    // The teleport is the best that is known, with a bound that holds.
    assert_eq!(found.scores, t);
    let exact = |j: usize| 0.15 * 0.85f64.powi(j as i32) / (1.0 - 0.85f64.powi(n as i32));
    let off: f64 = t.iter().enumerate().map(|(j, x)| (x - exact(j)).abs()).sum();
    assert!(off <= found.error_bound, "{off}, not {}", found.error_bound);
}

#[test]
fn stopped_early_it_has_a_bound_that_holds() {
    let path = pairs(100, &(0..99).map(|i| (i, i + 1)).collect::<Vec<_>>());
    let exact = path.rank(&PageRankOptions { tol: 1e-15, ..CHEBYSHEV }).unwrap().scores;
    for sweeps in [1, 2, 3, 5, 8, 13, 21] {
        let found = path.rank(&PageRankOptions { max_iter: sweeps, ..CHEBYSHEV }).unwrap();
        let off: f64 = found.scores.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum();
        assert!(!found.converged && found.iterations == sweeps);
        assert!(off <= found.error_bound && found.scores.iter().all(|&x| x > 0.0));
        // A step in plain arithmetic changes the scores by as much as is reported.
        let changed = path.step(&found.scores, 0.85);
        assert!(changed <= 1.000001 * found.residual + 1e-15, "{changed}, not {}", found.residual);
    }
}

#[test]
fn graphs_without_arcs_or_nodes() {
    let none = arcs(0, &[]).rank(&CHEBYSHEV).unwrap();
    assert!(none.converged && none.scores.is_empty());
    let lonely = arcs(4, &[]).rank(&CHEBYSHEV).unwrap();
    assert!(lonely.converged && lonely.dangling == 4);
    close(&lonely.scores, &[0.25; 4], 1e-15);
}
