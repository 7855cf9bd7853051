//! Laws over random matrices of awkward sizes: bit by bit where only the work is cut otherwise, within rounding bounds
//! where the sums differ.

use crate::make::{Factors, Shape, Wide, assert_same_bits, block, exec, levels, matrix};
use proptest::prelude::*;
use sapwood_sparse::kernels::spmm::spmm_at;
use sapwood_sparse::order::PIECE;
use sapwood_sparse::{Affine, Block, Csr, Real, Scalar, Scale, WorkPlan, spmm, spmm_transposed, transpose};

/// Sizes around thread counts, primes, and one whose full row is cut.
fn size() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![0, 1, 2, 3, 6, 7, 8, 9, 61, 97, 257])
}

fn shape() -> impl Strategy<Value = Shape> {
    let hub = prop::sample::select(vec![0, 0, 0, 1, 2]);
    (size(), size(), 0..12usize, hub, any::<bool>(), any::<bool>()).prop_map(
        |(rows, cols, degree, hub, square, duplicates)| {
            let cols = if square { rows } else { cols };
            let long = 2 * PIECE + 3;
            match hub {
                1 => Shape { rows: rows % 10 + 1, cols: long, degree, full_row: true, duplicates, ..Shape::default() },
                2 => {
                    Shape { rows: long, cols: cols % 10 + 1, degree, full_column: true, duplicates, ..Shape::default() }
                }
                _ => Shape { rows, cols, degree, duplicates, ..Shape::default() },
            }
        },
    )
}

fn width() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![1, 2, 3, 7, 16, 22, 40])
}

fn product<V: Scalar, T: Real>(a: &Csr<V, u64, u64>, scale: Option<Scale<'_, T>>, x: &Block<T>) -> Block<T> {
    let mut y = Block::zeros(a.rows(), x.cols()).unwrap();
    spmm(exec(2), a, &WorkPlan::new(a), scale, x, &mut y, Affine::SET).unwrap();
    y
}

/// γ_d = d·u / (1 − d·u) with u = 2^−24: the bound for a sum of d products in f32, whatever its order.
fn gamma(d: usize) -> f64 {
    let du = d as f64 * f64::from(f32::EPSILON) / 2.0;
    du / (1.0 - du)
}

/// Σ |a_ij|·|x_jq| per row and column.
fn magnitude(a: &Wide, x: &Block<f64>) -> Block<f64> {
    let abs = Block::from_fn(x.rows(), x.cols(), |i, q| x.row(i)[q].abs()).unwrap();
    product(&a.map_values(|v| v.abs()), None, &abs)
}

fn widened(x: &Block<f32>) -> Block<f64> {
    Block::from_fn(x.rows(), x.cols(), |i, q| f64::from(x.row(i)[q])).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn threads_and_levels_change_no_bit(seed: u64, shape in shape(), k in width(), scaled: bool) {
        let a = matrix(seed, shape);
        let (m, n) = a.shape();
        let factors = Factors::<f32>::random(seed, m, n);
        let scale = scaled.then(|| factors.scale());
        let (x, old) = (block::<f32>(seed, n, k), block::<f32>(!seed, m, k));
        let plan = WorkPlan::new(&a);
        let mut first = old.clone();
        spmm(exec(1), &a, &plan, scale, &x, &mut first, Affine::ADD).unwrap();
        for threads in 1..=8 {
            for level in levels() {
                let mut y = old.clone();
                spmm_at(level, exec(threads), &a, &plan, scale, &x, &mut y, Affine::ADD).unwrap();
                assert_same_bits(&y, &first, &format!("{threads} threads, {level:?}"));
            }
        }
    }

    #[test]
    fn the_transposed_product_is_that_of_the_built_transpose(
        seed: u64, shape in shape(), k in width(), scaled: bool, threads in 1..=8usize,
    ) {
        let a = matrix(seed, shape);
        let (m, n) = a.shape();
        let factors = Factors::<f32>::random(seed, m, n);
        let scale = scaled.then(|| factors.scale());
        let (x, old) = (block::<f32>(seed, m, k), block::<f32>(!seed, n, k));
        let (t, sources) = transpose(exec(threads), &a).unwrap();
        let (mut built, mut direct) = (old.clone(), old);
        spmm(exec(1), &t, &WorkPlan::new(&t), scale.map(Scale::transposed), &x, &mut built, Affine::ADD).unwrap();
        spmm_transposed(exec(threads), &a, scale, &x, &mut direct, Affine::ADD).unwrap();
        assert_same_bits(&direct, &built, "without building it");

        // Every entry comes from where the transpose says, and there is one of each.
        let mut seen = vec![false; a.entries()];
        for (e, &s) in sources.iter().enumerate() {
            prop_assert_eq!(t.values()[e].to_bits(), a.values()[s as usize].to_bits());
            prop_assert!(!std::mem::replace(&mut seen[s as usize], true));
        }
        let (back, _) = transpose(exec(threads), &t).unwrap();
        prop_assert_eq!(back, a);
    }

    #[test]
    fn splitting_the_columns_of_x_changes_no_bit(seed: u64, shape in shape(), left in 2..40usize, right in 2..40usize) {
        let a = matrix(seed, shape);
        let x = block::<f32>(seed, a.cols(), left + right);
        let part = |from: usize, k: usize| {
            product(&a, None, &Block::from_fn(a.cols(), k, |i, q| x.row(i)[from + q]).unwrap())
        };
        let (y, l, r) = (product(&a, None, &x), part(0, left), part(left, right));
        let joined = Block::from_fn(a.rows(), left + right, |i, q| {
            if q < left { l.row(i)[q] } else { r.row(i)[q - left] }
        }).unwrap();
        assert_same_bits(&joined, &y, "joined");
    }

    #[test]
    fn sums_stay_within_the_rounding_bound(seed: u64, shape in shape(), k in width()) {
        // Values and operands are f32 numbers, so f64 products are exact to well below the bound.
        let a = matrix(seed, shape).map_values(|&v| f64::from(v as f32));
        let x = block::<f32>(seed, a.cols(), k);
        let y = product(&a, None, &x);
        let exact = product(&a, None, &widened(&x));
        let scale = magnitude(&a, &widened(&x));
        for i in 0..a.rows() {
            for q in 0..k {
                let error = (f64::from(y.row(i)[q]) - exact.row(i)[q]).abs();
                prop_assert!(error <= gamma(a.row(i).len()) * scale.row(i)[q], "row {} column {}: {}", i, q, error);
            }
        }
    }

    #[test]
    fn products_are_linear_and_adjoint(seed: u64, shape in shape(), k in width()) {
        let a = matrix(seed, shape);
        let (m, n) = a.shape();
        let (x, z, y) = (block::<f64>(seed, n, k), block::<f64>(seed ^ 1, n, k), block::<f64>(seed ^ 2, m, k));
        let mixed = Block::from_fn(n, k, |i, q| 2.0 * x.row(i)[q] - z.row(i)[q]).unwrap();
        let (ax, az, am) = (product(&a, None, &x), product(&a, None, &z), product(&a, None, &mixed));
        let longest = (0..m).map(|i| a.row(i).len()).max().unwrap_or(0) as f64;
        let bound = 8.0 * f64::EPSILON * (longest + 3.0);
        for i in 0..m {
            let size: f64 = 3.0 * a.row_values(i).iter().map(|v| v.abs()).sum::<f64>();
            for q in 0..k {
                let error = (am.row(i)[q] - (2.0 * ax.row(i)[q] - az.row(i)[q])).abs();
                prop_assert!(error <= bound * size, "row {}: {}", i, error);
            }
        }
        let mut aty = Block::zeros(n, k).unwrap();
        spmm_transposed(exec(2), &a, None, &y, &mut aty, Affine::SET).unwrap();
        let dot = |u: &Block<f64>, v: &Block<f64>| u.as_slice().iter().zip(v.as_slice()).map(|(a, b)| a * b).sum::<f64>();
        let size: f64 = k as f64 * a.values().iter().map(|v| v.abs()).sum::<f64>();
        let error = (dot(&ax, &y) - dot(&x, &aty)).abs();
        prop_assert!(error <= 8.0 * f64::EPSILON * ((m + n) as f64 * k as f64 + longest) * size, "adjoint: {}", error);
    }

    #[test]
    fn fused_scaling_is_the_product_with_the_scaled_matrix(seed: u64, shape in shape(), k in width()) {
        let a = matrix(seed, shape);
        let (m, n) = a.shape();
        let factors = Factors::<f64>::random(seed, m, n);
        let explicit = scaled(&a, &factors);
        let x = block::<f64>(seed, n, k);
        let (fused, built) = (product(&a, Some(factors.scale()), &x), product(&explicit, None, &x));
        let size = magnitude(&explicit, &x);
        for i in 0..m {
            let bound = 4.0 * f64::EPSILON * (a.row(i).len() as f64 + 4.0);
            for q in 0..k {
                let error = (fused.row(i)[q] - built.row(i)[q]).abs();
                prop_assert!(error <= bound * size.row(i)[q], "row {} column {}: {}", i, q, error);
            }
        }
    }
}

/// Â = diag(s) + diag(l)·A·diag(r) as a matrix of its own.
fn scaled(a: &Wide, f: &Factors<f64>) -> Wide {
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for i in 0..a.rows() {
        let scaled = a.row(i).iter().zip(a.row_values(i)).map(|(&j, v)| (j, f.left[i] * v * f.right[j as usize]));
        let mut row: Vec<(u64, f64)> = scaled.collect();
        row.extend(f.own.get(i).map(|&s| (i as u64, s)));
        row.sort_by_key(|e| e.0);
        columns.extend(row.iter().map(|e| e.0));
        values.extend(row.iter().map(|e| e.1));
        offsets.push(columns.len() as u64);
    }
    Csr::try_new(a.rows(), a.cols(), offsets, columns, values).unwrap()
}

/// A symmetric pattern with mirrored factors has one product for both directions: one array serves forward and backward.
#[test]
fn one_array_serves_both_directions_of_an_undirected_graph() {
    let half = matrix(9, Shape { degree: 4, ..Shape::of(300, 300) });
    let (t, _) = transpose(exec(1), &half).unwrap();
    let mut offsets = vec![0u64];
    let mut columns = Vec::new();
    for i in 0..300 {
        let mut row: Vec<u64> = half.row(i).iter().chain(t.row(i)).copied().collect();
        row.sort_unstable();
        row.dedup();
        columns.extend(row);
        offsets.push(columns.len() as u64);
    }
    let values = vec![sapwood_sparse::One; columns.len()];
    let a = Csr::try_new(300, 300, offsets, columns, values).unwrap();
    let factors = Factors::<f32>::random(2, 300, 300);
    for k in [1, 5, 33] {
        let x = block::<f32>(1, 300, k);
        let swapped = product(&a, Some(factors.scale().transposed()), &x);
        let mut direct = Block::zeros(300, k).unwrap();
        spmm_transposed(exec(3), &a, Some(factors.scale()), &x, &mut direct, Affine::SET).unwrap();
        assert_same_bits(&direct, &swapped, "l and r swapped");
    }
}
