//! Lanczos: dense rotations as the slow twin, spectra known in closed form, multiple eigenvalues, deflation.

use super::dense::{Graph, csr, eigenvalues};
use crate::make::{Numbers, assert_same_bits, exec};
use sapwood_sparse::algorithms::{Lanczos, LanczosOptions, LinOp, lanczos};
use sapwood_sparse::{Affine, Block, Csr, Planned};
use std::f64::consts::PI;

/// Checks vectors, residuals and flags; the values against what is expected.
#[track_caller]
fn check(a: &Planned<Csr<f64>>, found: &Lanczos, expected: &[f64], within: f64) {
    assert!(found.converged, "{found:?}");
    assert_eq!(found.values.len(), expected.len());
    for (f, e) in found.values.iter().zip(expected) {
        assert!((f - e).abs() <= within, "{:?}, not {expected:?}", found.values);
    }
    let k = expected.len();
    let mut product = Block::zeros(found.vectors.rows(), k).unwrap();
    a.apply(exec(1), &found.vectors, &mut product, Affine::SET).unwrap();
    let column = |b: &Block<f64>, j: usize| (0..b.rows()).map(|i| b.row(i)[j]).collect::<Vec<_>>();
    for j in 0..k {
        let v = column(&found.vectors, j);
        let error =
            column(&product, j).iter().zip(&v).map(|(p, v)| (p - found.values[j] * v).powi(2)).sum::<f64>().sqrt();
        assert!((error - found.residuals[j]).abs() <= 1e-12 && error <= 10.0 * within, "{error} {:?}", found.residuals);
        for l in 0..k {
            let dot: f64 = column(&found.vectors, l).iter().zip(&v).map(|(a, b)| a * b).sum();
            assert!((dot - f64::from(l == j)).abs() <= 1e-10, "vectors {l} and {j}: {dot}");
        }
    }
}

fn largest(a: &[Vec<f64>], options: &LanczosOptions<'_>) -> (Planned<Csr<f64>>, Lanczos) {
    let matrix = Planned::new(csr(a));
    let found = lanczos(exec(2), &matrix, options).unwrap();
    (matrix, found)
}

#[test]
fn random_matrices_have_the_values_of_dense_rotations() {
    for (seed, n, k) in [(1, 1, 1), (2, 2, 2), (3, 9, 4), (4, 40, 5), (5, 80, 8), (6, 120, 1), (7, 25, 25)] {
        let mut numbers = Numbers::new(seed);
        let mut a = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let v = if i == j || numbers.below(3) == 0 { numbers.next() } else { 0.0 };
                (a[i][j], a[j][i]) = (v, v);
            }
        }
        let options = LanczosOptions { k, tol: 1e-11, ..Default::default() };
        let (matrix, found) = largest(&a, &options);
        check(&matrix, &found, &eigenvalues(&a)[..k], 1e-9);
    }
}

fn path(n: usize) -> Graph {
    Graph { n, pairs: (1..n).map(|i| (i - 1, i)).collect() }
}

fn ring(n: usize) -> Graph {
    Graph { n, pairs: (1..n).map(|i| (i - 1, i)).chain([(0, n - 1)]).collect() }
}

#[test]
fn paths_rings_and_complete_graphs_have_their_spectra() {
    let options = LanczosOptions { k: 5, tol: 1e-10, ..Default::default() };
    for n in [12, 200] {
        let (a, found) = largest(&path(n).adjacency(), &options);
        let expected: Vec<f64> = (1..=5).map(|j| 2.0 * (PI * j as f64 / (n + 1) as f64).cos()).collect();
        check(&a, &found, &expected, 1e-8);
        // All but the first come in pairs.
        let (a, found) = largest(&ring(n).adjacency(), &options);
        let expected = [0, 1, 1, 2, 2].map(|j| 2.0 * (2.0 * PI * f64::from(j) / n as f64).cos());
        check(&a, &found, &expected, 1e-8);
    }
    let complete = Graph { n: 70, pairs: (0..70).flat_map(|i| (i + 1..70).map(move |j| (i, j))).collect() };
    let (a, found) = largest(&complete.adjacency(), &options);
    check(&a, &found, &[69.0, -1.0, -1.0, -1.0, -1.0], 1e-8);
    let (a, found) = largest(&complete.laplacian(), &options);
    check(&a, &found, &[70.0; 5], 1e-8);
    let (a, found) = largest(&vec![vec![0.0; 30]; 30], &options);
    check(&a, &found, &[0.0; 5], 0.0);
}

#[test]
fn known_vectors_are_deflated() {
    let n = 150;
    let ring = ring(n).adjacency();
    let ones = vec![3.0; n];
    let second = 2.0 * (2.0 * PI / n as f64).cos();
    let deflate: [&[f64]; 1] = [&ones];
    let options = LanczosOptions { k: 2, tol: 1e-10, deflate: &deflate, ..Default::default() };
    let (a, found) = largest(&ring, &options);
    check(&a, &found, &[second; 2], 1e-8);
    let sum: f64 = (0..n).map(|i| found.vectors.row(i)[0]).sum();
    assert!(sum.abs() <= 1e-10);
    // Vectors that say the same, or nothing, count once or not at all.
    let cosine: Vec<f64> = (0..n).map(|i| 1.0 + (2.0 * PI * i as f64 / n as f64).cos()).collect();
    let zero = vec![0.0; n];
    let deflate: [&[f64]; 5] = [&ones, &zero, &cosine, &ones, &cosine];
    let (a, found) = largest(&ring, &LanczosOptions { k: 2, deflate: &deflate, ..options });
    check(&a, &found, &[second, 2.0 * (4.0 * PI / n as f64).cos()], 1e-8);
    let (a, found) =
        largest(&[vec![2.0, 1.0], vec![1.0, 2.0]], &LanczosOptions { k: 1, deflate: &[&[1.0, 1.0]], ..options });
    check(&a, &found, &[1.0], 1e-14);
}

#[test]
fn a_large_graph_gets_the_same_bits_on_any_number_of_threads() {
    let graph = Graph::random(8, 3000, 12000);
    let matrix = Planned::new(graph.sparse_laplacian());
    for (k, basis) in [(1, 0), (4, 12)] {
        let options = LanczosOptions { k, basis, tol: 1e-7, seed: 5, ..Default::default() };
        let alone = lanczos(exec(1), &matrix, &options).unwrap();
        check(&matrix, &alone, &alone.values, 1e-5);
        assert!(alone.iterations as usize > 24, "restarted");
        for threads in [2, 3, 8] {
            let found = lanczos(exec(threads), &matrix, &options).unwrap();
            assert_same_bits(&found.vectors, &alone.vectors, "threads");
            assert_eq!(found, alone);
        }
        let other = lanczos(exec(2), &matrix, &LanczosOptions { seed: 6, ..options }).unwrap();
        assert_ne!(other.vectors, alone.vectors);
        assert!((other.values[0] - alone.values[0]).abs() <= 1e-9 * alone.values[0]);
    }
}

#[test]
fn a_search_cut_short_says_so() {
    let a = path(400).adjacency();
    for max_iter in [1, 2, 30] {
        let (_, found) = largest(&a, &LanczosOptions { k: 3, max_iter, ..Default::default() });
        assert_eq!((found.iterations, found.converged), (max_iter, false));
        assert_eq!(found.values.len(), 3.min(max_iter as usize));
        assert!(found.residuals[0] > 1e-8 && found.values[0] < 2.0);
    }
}

#[test]
fn bad_options_and_operators_are_refused_with_facts() {
    let matrix = Planned::new(csr(&[vec![2.0, 1.0], vec![1.0, 2.0]]));
    let message = |options| lanczos(exec(1), &matrix, &options).unwrap_err().to_string();
    let base = LanczosOptions::default();
    assert_eq!(message(LanczosOptions { tol: -1.0, ..base }), "tol is -1, it must be positive and finite");
    assert!(message(LanczosOptions { max_iter: 0, ..base }).contains("max_iter is 0"));
    assert_eq!(
        message(LanczosOptions { k: 3, ..base }),
        "k is 3, it must be at least 1 and at most the rows of the operator"
    );
    assert!(message(LanczosOptions { k: 0, ..base }).contains("k is 0"));
    assert!(message(LanczosOptions { basis: 2, ..base }).contains("basis is 2, it must be 0 or at least k + 2"));
    assert!(message(LanczosOptions { deflate: &[&[1.0]], ..base }).contains("a deflated vector has 1 elements, 2"));
    assert!(
        message(LanczosOptions { deflate: &[&[1.0, f64::INFINITY]], ..base }).contains("a deflated vector[1] is inf")
    );
    assert!(message(LanczosOptions { k: 2, deflate: &[&[1.0, 0.0]], ..base }).contains("less the deflated vectors"));
    let nan = Planned::new(csr(&[vec![f64::NAN, 1.0], vec![1.0, 2.0]]));
    assert!(lanczos(exec(1), &nan, &base).unwrap_err().to_string().contains("must be finite"));
    let wide = Planned::new(Csr::<f64>::empty(2, 3).unwrap());
    assert!(lanczos(exec(1), &wide, &base).unwrap_err().to_string().contains("must be 2, found 3"));
}
