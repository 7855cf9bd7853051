//! Situations from bug reports of other libraries, and the right outcome.

use crate::make::{block, exec, levels};
use sapwood_sparse::kernels::reference;
use sapwood_sparse::kernels::spmm::spmm_at;
use sapwood_sparse::{Affine, Block, Csr, Index, One, WorkPlan, spmm};

/// One row with entries in columns 0..n, in the given types.
fn full_row<I: Index, P: Index>(n: usize) -> sapwood_sparse::Result<Csr<One, I, P>> {
    let columns = (0..n as u64).collect();
    Csr::<One, u64, u64>::try_new(1, n, vec![0, n as u64], columns, vec![One; n])?.retype()
}

fn ones<I: Index, P: Index>(a: &Csr<One, I, P>) -> f64 {
    let x = Block::from_fn(a.cols(), 2, |_, _| 1.0f64).unwrap();
    let mut y = Block::zeros(a.rows(), 2).unwrap();
    spmm(exec(2), a, &WorkPlan::new(a), None, &x, &mut y, Affine::SET).unwrap();
    y.as_slice().iter().sum::<f64>() / 2.0
}

/// More entries than the offset type holds made the number of entries negative (torch #102520).
#[test]
fn offsets_too_small_for_the_entries_are_an_error() {
    let message = |e: sapwood_sparse::Error| e.to_string();
    // 300 entries in 200 columns need duplicates, as columns are u8.
    let twice = |n: u64| (0..n).map(|e| e * 200 / n).collect::<Vec<_>>();
    let wide = Csr::<One, u64, u64>::try_new(1, 200, vec![0, 300], twice(300), vec![One; 300]).unwrap();
    assert_eq!(message(wide.retype::<u8, u8>().unwrap_err()), "offset 300 does not fit u8; use u16");
    assert_eq!(ones(&wide.retype::<u8, u32>().unwrap()), 300.0);
    let wide = Csr::<One, u64, u64>::try_new(1, 200, vec![0, 70_000], twice(70_000), vec![One; 70_000]).unwrap();
    assert_eq!(message(wide.retype::<u16, u16>().unwrap_err()), "offset 70000 does not fit u16; use u32");
    assert_eq!(ones(&wide.retype::<u16, u32>().unwrap()), 70_000.0);
    assert_eq!(message(full_row::<u16, u64>(70_000).unwrap_err()), "column 65536 does not fit u16; use u32");
    assert_eq!(ones(&full_row::<u32, u32>(70_000).unwrap()), 70_000.0);
}

/// Offsets and indices were of one type: small ids with many entries overflowed (sprs PR #166).
#[test]
fn index_and_offset_types_are_independent() {
    let rows = 1000;
    let columns: Vec<u8> = (0..rows).flat_map(|i| (0..200).map(move |c| c + u8::from(i % 2 == 1))).collect();
    let values: Vec<f32> = (0..rows * 200).map(|e| (e % 7) as f32 - 3.0).collect();
    let offsets: Vec<u32> = (0..=rows as u32).map(|i| 200 * i).collect();
    let a = Csr::try_new(rows, 201, offsets, columns, values).unwrap();
    let plan = WorkPlan::new(&a);
    for k in [1, 3] {
        let (x, y) = (block::<f32>(1, 201, k), Block::zeros(rows, k).unwrap());
        let expected = reference::spmm(&a, None, &x, &y, Affine::SET).unwrap();
        for level in levels() {
            let mut found = y.clone();
            spmm_at(level, exec(3), &a, &plan, None, &x, &mut found, Affine::SET).unwrap();
            assert_eq!(found, expected);
        }
    }
}

/// [1 1 0 0; 1 1 0 0] · [0; 0; 1; 1] gave garbage (torch #90836).
#[test]
fn a_product_without_a_common_column_is_zero() {
    let a: Csr<f32> = Csr::try_new(2, 4, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0; 4]).unwrap();
    let x = Block::from_slice(4, 1, &[0.0f32, 0.0, 1.0, 1.0]).unwrap();
    let mut y = Block::from_fn(2, 1, |_, _| f32::NAN).unwrap();
    spmm(exec(1), &a, &WorkPlan::new(&a), None, &x, &mut y, Affine::SET).unwrap();
    assert_eq!((y.shape(), y.as_slice()), ((2, 1), &[0.0, 0.0][..]));
}

/// Entries in a matrix of three rows and no columns crashed (torch #190045); an empty matrix gave an invalid result (#196214).
#[test]
fn entries_without_columns_are_an_error_and_an_empty_matrix_is_fine() {
    let malformed = Csr::<f32>::try_new(3, 0, vec![0, 1, 2, 3], vec![0, 0, 0], vec![1.0; 3]);
    assert_eq!(malformed.unwrap_err().to_string(), "columns[0] (row 0) is 0, the matrix has 0 columns");
    let a = Csr::<f32>::try_new(3, 0, vec![0; 4], vec![], vec![]).unwrap();
    let mut y = Block::from_fn(3, 2, |_, _| f32::NAN).unwrap();
    spmm(exec(1), &a, &WorkPlan::new(&a), None, &Block::zeros(0, 2).unwrap(), &mut y, Affine::SET).unwrap();
    assert_eq!(y.as_slice(), [0.0; 6]);
}
