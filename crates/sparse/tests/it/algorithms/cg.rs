//! Conjugate gradients: dense elimination as the slow twin, laws of columns and threads, systems that have no solution.

use super::dense::{Graph, csr, solve};
use crate::make::{Numbers, assert_same_bits, block, exec};
use sapwood_sparse::algorithms::{Cg, CgOptions, CgStop, Scaled, cg};
use sapwood_sparse::{Block, Csr, Planned, Scale, WorkPlan};

/// A random sparse symmetric matrix whose diagonal outweighs its rows, times a diagonal of widely spread factors.
fn definite(seed: u64, n: usize) -> Vec<Vec<f64>> {
    let mut numbers = Numbers::new(seed);
    let mut a = vec![vec![0.0; n]; n];
    for _ in 0..3 * n {
        let (i, j, v) = (numbers.below(n), numbers.below(n), numbers.next());
        if i != j {
            a[i][j] = v;
            a[j][i] = v;
        }
    }
    for i in 0..n {
        a[i][i] = 0.1 + a[i].iter().map(|v| v.abs()).sum::<f64>();
    }
    let spread: Vec<f64> = (0..n).map(|_| 10f64.powf(numbers.next())).collect();
    for (i, row) in a.iter_mut().enumerate() {
        row.iter_mut().zip(&spread).for_each(|(v, s)| *v *= spread[i] * s);
    }
    a
}

fn diagonal(a: &[Vec<f64>]) -> Vec<f64> {
    (0..a.len()).map(|i| a[i][i]).collect()
}

fn column(b: &Block<f64>, c: usize) -> Block<f64> {
    Block::from_fn(b.rows(), 1, |i, _| b.row(i)[c]).unwrap()
}

#[track_caller]
fn converged(found: &Cg, tol: f64) {
    for c in &found.columns {
        assert_eq!(c.stop, CgStop::Converged, "{c:?}");
        assert!(c.residual <= 2.0 * tol && c.history[c.iterations as usize] <= tol, "{c:?}");
        assert_eq!((c.history[0], c.history.len()), (1.0, c.iterations as usize + 1));
        assert!(c.history[..c.iterations as usize].iter().all(|r| *r > tol), "stopped late");
    }
}

#[test]
fn solutions_are_those_of_dense_elimination() {
    for (seed, n) in [(1, 1), (2, 2), (3, 17), (4, 60), (5, 150)] {
        let a = definite(seed, n);
        let (matrix, d) = (Planned::new(csr(&a)), diagonal(&a));
        let b = block::<f64>(seed, n, 3);
        let mut iterations = Vec::new();
        for diagonal in [None, Some(d.as_slice())] {
            let found = cg(exec(2), &matrix, &b, &CgOptions { tol: 1e-12, diagonal, ..Default::default() }).unwrap();
            converged(&found, 1e-12);
            for c in 0..3 {
                let expected = solve(&a, column(&b, c).as_slice());
                let largest = expected.iter().fold(0.0, |l: f64, x| l.max(x.abs()));
                for (i, e) in expected.iter().enumerate() {
                    let f = found.solution.row(i)[c];
                    assert!((f - e).abs() <= 1e-8 * largest, "n {n}, column {c}, row {i}: {f}, not {e}");
                }
            }
            iterations.push(found.columns.iter().map(|c| c.iterations).sum::<u32>());
        }
        // The spread of the diagonal is what makes these systems hard.
        assert!(n < 60 || 2 * iterations[1] < iterations[0], "{iterations:?}");
    }
}

/// Two components, a path of 30 and a complete graph of 8, and an isolated node.
fn two_components() -> Graph {
    let mut pairs: Vec<_> = (0..29).map(|i| (i, i + 1)).collect();
    pairs.extend((30..38).flat_map(|i| (i + 1..38).map(move |j| (i, j))));
    Graph { n: 39, pairs }
}

/// Columns that sum to 0 on both components and are 0 on the isolated node.
fn balanced(seed: u64, columns: usize) -> Block<f64> {
    let mut b = block::<f64>(seed, 39, columns);
    for range in [0..30, 30..38, 38..39] {
        for c in 0..columns {
            let mean = range.clone().map(|i| b.row(i)[c]).sum::<f64>() / range.len() as f64;
            range.clone().for_each(|i| b.row_mut(i)[c] -= mean);
        }
    }
    b
}

#[test]
fn laplacians_of_several_components_are_solved_in_their_range() {
    let graph = two_components();
    let (dense, degrees) = (graph.laplacian(), graph.degrees());
    let b = balanced(7, 5);
    let adjacency = csr(&graph.adjacency());
    let plan = WorkPlan::new(&adjacency);
    let (minus, one) = (vec![-1.0; 39], vec![1.0; 39]);
    let fused = Scaled { matrix: &adjacency, plan: &plan, scale: Scale { own: &degrees, left: &minus, right: &one } };
    for diagonal in [None, Some(degrees.as_slice())] {
        let options = CgOptions { tol: 1e-11, diagonal, ..Default::default() };
        let found = cg(exec(2), &Planned::new(csr(&dense)), &b, &options).unwrap();
        converged(&found, 1e-11);
        let same = cg(exec(2), &fused, &b, &options).unwrap();
        converged(&same, 1e-11);
        // Differences of potentials inside a component do not depend on the solution chosen: ground one node of each.
        let mut grounded = dense.clone();
        for node in [0, 30, 38] {
            grounded[node].fill(0.0);
            grounded[node][node] = 1.0;
        }
        for c in 0..5 {
            let mut rhs = column(&b, c);
            [0, 30, 38].iter().for_each(|&node| rhs.row_mut(node)[0] = 0.0);
            let expected = solve(&grounded, rhs.as_slice());
            for i in 0..39 {
                let ground = [0, 30, 38].into_iter().filter(|&g| g <= i).max().unwrap();
                for x in [&found.solution, &same.solution] {
                    let f = x.row(i)[c] - x.row(ground)[c];
                    assert!((f - expected[i]).abs() <= 1e-8, "column {c}, node {i}: {f}, not {}", expected[i]);
                }
            }
        }
    }
}

#[test]
fn resistance_of_a_path_is_its_length() {
    let path = Graph { n: 100, pairs: (0..99).map(|i| (i, i + 1)).collect() };
    let b = Block::from_fn(100, 1, |i, _| if i == 10 { 1.0 } else { -f64::from(i == 75) }).unwrap();
    let found = cg(exec(1), &Planned::new(csr(&path.laplacian())), &b, &CgOptions::default()).unwrap();
    converged(&found, 1e-10);
    let resistance = found.solution.row(10)[0] - found.solution.row(75)[0];
    assert!((resistance - 65.0).abs() <= 1e-7, "{resistance}");
}

#[test]
fn columns_have_the_same_bits_alone_and_on_any_number_of_threads() {
    let graph = Graph::random(3, 3000, 9000);
    let (matrix, d) = (Planned::new(graph.sparse_laplacian()), graph.degrees());
    for k in [1, 2, 3, 5, 8, 21] {
        let mut b = block::<f64>(k as u64, 3000, k);
        // One column is easy, one zero.
        for i in 0..3000 {
            b.row_mut(i)[k / 2] = f64::from(i == 5) - f64::from(i == 6);
            b.row_mut(i)[k - 1] *= f64::from(k != 5);
        }
        let options = CgOptions { tol: 1e-4, max_iter: 60, diagonal: Some(&d) };
        let alone = cg(exec(1), &matrix, &b, &options).unwrap();
        for threads in [2, 3, 8] {
            let found = cg(exec(threads), &matrix, &b, &options).unwrap();
            assert_same_bits(&found.solution, &alone.solution, "threads");
            assert_eq!(found.columns, alone.columns);
        }
        for c in 0..k {
            let single = cg(exec(2), &matrix, &column(&b, c), &options).unwrap();
            assert_same_bits(&single.solution, &column(&alone.solution, c), &format!("column {c} of {k}"));
            assert_eq!(single.columns[0], alone.columns[c]);
        }
    }
}

#[test]
fn zeros_huge_and_tiny_right_hand_sides() {
    let a = definite(9, 40);
    let matrix = Planned::new(csr(&a));
    let b = block::<f64>(1, 40, 1);
    let scaled = Block::from_fn(40, 4, |i, c| b.row(i)[0] * [1.0, 2f64.powi(900), 2f64.powi(-900), 0.0][c]).unwrap();
    let found = cg(exec(1), &matrix, &scaled, &CgOptions::default()).unwrap();
    for i in 0..40 {
        let x = found.solution.row(i);
        assert_eq!([x[1] * 2f64.powi(-900), x[2] * 2f64.powi(900), x[3]], [x[0], x[0], 0.0]);
    }
    let zero = &found.columns[3];
    assert_eq!((zero.iterations, zero.residual, zero.stop), (0, 0.0, CgStop::Converged));
    let empty = cg(exec(1), &Planned::new(csr(&[])), &Block::zeros(0, 2).unwrap(), &CgOptions::default()).unwrap();
    assert_eq!((empty.columns.len(), empty.converged()), (2, true));
    let none = cg(exec(1), &matrix, &Block::zeros(40, 0).unwrap(), &CgOptions::default()).unwrap();
    assert!(none.columns.is_empty());
}

#[test]
fn what_has_no_solution_says_why_and_leaves_its_neighbours_alone() {
    let stops = |a: &[Vec<f64>], b: &[f64], max_iter| {
        let b = Block::from_slice(a.len(), b.len() / a.len(), b).unwrap();
        let options = CgOptions { max_iter, ..Default::default() };
        let found = cg(exec(1), &Planned::new(csr(a)), &b, &options).unwrap();
        assert!(found.solution.as_slice().iter().all(|x| x.is_finite()));
        found.columns.iter().map(|c| (c.stop, c.iterations)).collect::<Vec<_>>()
    };
    let indefinite = [vec![1.0, 0.0], vec![0.0, -1.0]];
    let expected = [(CgStop::Converged, 1), (CgStop::NotPositiveDefinite, 0)];
    assert_eq!(stops(&indefinite, &[1.0, 0.0, 0.0, 1.0], 10), expected);
    // Outside the range of the Laplacian of one pair.
    let pair = [vec![1.0, -1.0], vec![-1.0, 1.0]];
    assert_eq!(stops(&pair, &[1.0, 1.0], 10), [(CgStop::NotPositiveDefinite, 0)]);
    let huge = [vec![f64::MAX; 2], vec![f64::MAX; 2]];
    assert_eq!(stops(&huge, &[1.0, 1.0, 1.0, 0.0], 10)[0].0, CgStop::NotFinite);
    let path = Graph { n: 50, pairs: (0..49).map(|i| (i, i + 1)).collect() }.laplacian();
    let mut ends = vec![0.0; 50];
    (ends[0], ends[49]) = (1.0, -1.0);
    assert_eq!(stops(&path, &ends, 7), [(CgStop::MaxIterations, 7)]);
}

#[test]
fn bad_options_and_operands_are_refused_with_facts() {
    let matrix = Planned::new(csr(&[vec![2.0, 0.0], vec![0.0, 2.0]]));
    let b = Block::from_slice(2, 1, &[1.0, 1.0]).unwrap();
    let message = |b: &Block<f64>, options| cg(exec(1), &matrix, b, &options).unwrap_err().to_string();
    let base = CgOptions::default();
    assert_eq!(message(&b, CgOptions { tol: 0.0, ..base }), "tol is 0, it must be positive and finite");
    assert!(message(&b, CgOptions { max_iter: 0, ..base }).contains("max_iter is 0"));
    assert!(message(&b, CgOptions { diagonal: Some(&[1.0]), ..base }).contains("diagonal has 1 elements, 2"));
    let negative = message(&b, CgOptions { diagonal: Some(&[1.0, -1.0]), ..base });
    assert_eq!(negative, "diagonal[1] is -1, it must be finite and not negative");
    assert!(
        message(&Block::zeros(3, 1).unwrap(), base).contains("the rows of the right-hand sides must be 2, found 3")
    );
    let nan = Block::from_slice(2, 2, &[1.0, 1.0, f64::NAN, 1.0]).unwrap();
    assert_eq!(message(&nan, base), "the right-hand sides[2] is NaN, it must be finite");
    let wide = Planned::new(Csr::<f64>::empty(2, 3).unwrap());
    assert!(cg(exec(1), &wide, &b, &base).unwrap_err().to_string().contains("must be 2, found 3"));
}
