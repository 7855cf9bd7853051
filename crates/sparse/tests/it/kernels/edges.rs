//! Bad input and edge cases.

use crate::make::{Factors, Shape, assert_same_bits, bits, block, exec, levels, matrix};
use sapwood_sparse::kernels::spmm::spmm_at;
use sapwood_sparse::order::PIECE;
use sapwood_sparse::plan::HEAVIEST;
use sapwood_sparse::{Affine, Block, Csr, Error, One, Scale, WorkPlan, spmm, spmm_transposed, transpose};

/// A row of ten ones whose sum depends on the order.
#[test]
fn a_row_of_ten_ones_shows_lanes_at_k_1_and_serial_at_k_2() {
    let row: Csr<One> = Csr::try_new(1, 10, vec![0, 10], (0..10).collect(), vec![One; 10]).unwrap();
    let plan = WorkPlan::new(&row);
    for level in levels() {
        for (k, expected) in [(1, 16_777_224.0f32), (2, 16_777_216.0)] {
            let x = Block::from_fn(10, k, |i, _| if i == 0 { 16_777_216.0f32 } else { 1.0 }).unwrap();
            let mut y = Block::zeros(1, k).unwrap();
            spmm_at(level, exec(1), &row, &plan, None, &x, &mut y, Affine::SET).unwrap();
            assert_eq!(y.row(0), vec![expected; k], "{level:?}");
            let t = transpose(exec(1), &row).unwrap().0;
            spmm_transposed(exec(1), &t, None, &x, &mut y, Affine::SET).unwrap();
            assert_eq!(y.row(0), vec![expected; k], "transposed");
        }
    }
}

#[test]
fn empty_shapes_give_empty_or_zero_results() {
    for (m, n) in [(0, 0), (0, 4), (4, 0), (3, 5)] {
        let a = Csr::<f32>::empty(m, n).unwrap();
        let plan = WorkPlan::new(&a);
        for k in [0, 1, 5] {
            let (x, xt) = (block::<f32>(1, n, k), block::<f32>(1, m, k));
            let mut y = Block::from_fn(m, k, |_, _| f32::NAN).unwrap();
            spmm(exec(2), &a, &plan, None, &x, &mut y, Affine::SET).unwrap();
            assert!(y.as_slice().iter().all(|&v| v == 0.0) && y.shape() == (m, k));
            let mut y = Block::from_fn(n, k, |_, _| f32::NAN).unwrap();
            spmm_transposed(exec(2), &a, None, &xt, &mut y, Affine::SET).unwrap();
            assert!(y.as_slice().iter().all(|&v| v == 0.0) && y.shape() == (n, k));
        }
        let (t, sources) = transpose(exec(2), &a).unwrap();
        assert_eq!((t.shape(), t.entries(), sources.len()), ((n, m), 0, 0));
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let a = matrix(1, Shape::of(4, 6));
    let plan = WorkPlan::new(&a);
    let (x, mut y) = (block::<f64>(1, 6, 3), block::<f64>(2, 4, 3));
    let run = |x: &Block<f64>, y: &mut Block<f64>, scale| spmm(exec(1), &a, &plan, scale, x, y, Affine::SET);
    let message = |e: Result<(), Error>| e.unwrap_err().to_string();
    assert_eq!(message(run(&block(1, 5, 3), &mut y, None)), "the rows of X must be 6, found 5");
    assert_eq!(message(run(&x, &mut block(2, 5, 3), None)), "the rows of Y must be 4, found 5");
    assert_eq!(message(run(&x, &mut block(2, 4, 2), None)), "the columns of Y must be 3, found 2");
    let short = Scale { own: &[], left: &[1.0; 4], right: &[1.0; 5] };
    let expected = "the length of scale.right (the columns) must be 6, found 5";
    assert_eq!(message(run(&x, &mut y, Some(short))), expected);
    let other = WorkPlan::new(&matrix(1, Shape::of(5, 6)));
    assert!(matches!(spmm(exec(1), &a, &other, None, &x, &mut y, Affine::SET), Err(Error::Plan { .. })));
    let swapped = spmm_transposed(exec(1), &a, None, &x, &mut block(2, 4, 3), Affine::SET);
    assert_eq!(message(swapped), "the rows of X must be 4, found 6");
}

#[test]
fn a_stale_plan_of_equal_size_fails_without_harm() {
    let long = Csr::<One>::try_new(2, 9000, vec![0, 9000, 9000], (0..9000).collect(), vec![One; 9000]).unwrap();
    let split =
        Csr::<One>::try_new(2, 9000, vec![0, 4500, 9000], (0..4500).chain(0..4500).collect(), vec![One; 9000]).unwrap();
    let (x, mut y) = (block::<f32>(1, 9000, 2), block::<f32>(2, 2, 2));
    let ran = spmm(exec(1), &split, &WorkPlan::new(&long), None, &x, &mut y, Affine::SET);
    assert!(matches!(ran, Err(Error::Run(_))), "{ran:?}");
}

#[test]
fn nan_and_infinity_reach_only_rows_with_an_entry_there() {
    let a = matrix(3, Shape::of(60, 50)).map_values(|&v| v as f32);
    let plan = WorkPlan::new(&a);
    for bad in [f32::NAN, f32::INFINITY] {
        for k in [1, 2, 17, 64] {
            let x = Block::from_fn(50, k, |i, _| if i == 8 { bad } else { 1.0 }).unwrap();
            for level in levels() {
                let mut y = Block::zeros(60, k).unwrap();
                spmm_at(level, exec(1), &a, &plan, None, &x, &mut y, Affine::SET).unwrap();
                for i in 0..60 {
                    let touched = a.row(i).contains(&8);
                    assert!(y.row(i).iter().all(|v| v.is_finite() != touched), "row {i}, k = {k}, {level:?}");
                }
            }
            let xt = Block::from_fn(60, k, |i, _| if i == 8 { bad } else { 1.0 }).unwrap();
            let mut y = Block::zeros(50, k).unwrap();
            spmm_transposed(exec(2), &a, None, &xt, &mut y, Affine::SET).unwrap();
            for j in 0..50 {
                let touched = a.row(8).contains(&(j as u64));
                assert!(y.row(j).iter().all(|v| v.is_finite() != touched), "column {j}, k = {k}");
            }
        }
    }
}

/// One row with half of the entries, one full row, one full column: the same bits, and no item above the limit.
#[test]
fn heavy_rows_and_columns_are_cut_and_keep_their_bits() {
    let n = 2 * PIECE + 700;
    let shape = Shape { degree: 1, full_row: true, full_column: true, ..Shape::of(n, n) };
    let a = matrix(5, shape).map_values(|&v| v as f32);
    let plan = WorkPlan::new(&a);
    let (start, end) = (plan.range(0), plan.range(plan.items() - 1));
    assert_eq!((start.start, end.end), ((0, 0), (n, 0)));
    for item in 0..plan.items() {
        let work = plan.range(item);
        let rows: usize = (work.start.0..work.end.0).map(|i| 1 + a.row(i).len()).sum();
        assert!(rows + work.end.1 - work.start.1 <= HEAVIEST);
    }
    let factors = Factors::<f32>::random(1, n, n);
    for k in [1, 2, 21] {
        let x = block::<f32>(1, n, k);
        let run = |threads| {
            let (mut y, mut t) = (block::<f32>(2, n, k), block::<f32>(2, n, k));
            spmm(exec(threads), &a, &plan, Some(factors.scale()), &x, &mut y, Affine::ADD).unwrap();
            spmm_transposed(exec(threads), &a, Some(factors.scale()), &x, &mut t, Affine::ADD).unwrap();
            (y, t)
        };
        let (y, t) = run(1);
        for threads in [2, 3, 8] {
            let (y2, t2) = run(threads);
            assert_same_bits(&y2, &y, "a full row");
            assert_same_bits(&t2, &t, "a full column");
        }
    }
}

#[test]
fn beta_zero_never_reads_the_output_and_alpha_and_beta_round_apart() {
    let a = matrix(4, Shape::of(9, 9));
    let plan = WorkPlan::new(&a);
    let x = block::<f64>(1, 9, 5);
    let mut set = Block::from_fn(9, 5, |_, _| f64::NAN).unwrap();
    spmm(exec(1), &a, &plan, None, &x, &mut set, Affine::SET).unwrap();
    let old = block::<f64>(2, 9, 5);
    let mut mixed = old.clone();
    let how = Affine { alpha: 0.3, beta: -0.7 };
    spmm(exec(1), &a, &plan, None, &x, &mut mixed, how).unwrap();
    let expected = Block::from_fn(9, 5, |i, q| 0.3 * set.row(i)[q] + -0.7 * old.row(i)[q]).unwrap();
    assert_eq!(bits(&mixed), bits(&expected));
}
