//! Golden values at every instruction-set level, and of a chain; the other golden values are in `crate::golden`.

use crate::make::{exec, levels, ramp};
use sapwood_files::digest;
use sapwood_sparse::io::{ReadOptions, Source, read_as};
use sapwood_sparse::kernels::spmm::spmm_at;
use sapwood_sparse::kernels::spmm_t::spmm_transposed_at;
use sapwood_sparse::{Affine, Block, Csr, One, Real, WorkPlan, spmm};

/// A public graph as a symmetric pattern, or `None` with a line that says it is absent.
fn graph(folder: &str, file: &str) -> Option<Csr<One>> {
    let path = sapwood_testkit::data::public(folder)?.join(file);
    let options = ReadOptions { undirected: true, ..ReadOptions::default() };
    Some(read_as(Source::open(&path).unwrap(), &options).unwrap().0)
}

/// The digest of whole numbers.
fn digest<T: Real>(y: &Block<T>) -> String {
    let numbers: Vec<i64> = y.as_slice().iter().map(|v| v.to_f64() as i64).collect();
    digest::short_of(&numbers)
}

fn check<T: Real>(a: &Csr<One>, k: usize, expected: &str) {
    let plan = WorkPlan::new(a);
    let x = ramp::<T>(a.rows(), k);
    for threads in [1, 2, 3, 5] {
        for level in levels() {
            let mut y = Block::zeros(a.rows(), k).unwrap();
            spmm_at(level, exec(threads), a, &plan, None, &x, &mut y, Affine::SET).unwrap();
            assert_eq!(digest(&y), expected, "k = {k}, {threads} threads, {level:?}, {}", T::NAME);
            spmm_transposed_at(level, exec(threads), a, None, &x, &mut y, Affine::SET).unwrap();
            assert_eq!(digest(&y), expected, "transposed, k = {k}, {threads} threads, {level:?}, {}", T::NAME);
        }
    }
}

#[test]
fn every_level_and_thread_count_gives_the_golden_digests() {
    for (folder, file, one, wide) in [
        ("karate", "edges.tsv", "179daf1eb0ab5273", "1756514fefffe502"),
        ("cora", "edges.tsv", "20596123bb30343f", "d1b09f7ee3b24dac"),
        ("snap", "facebook-combined.txt.gz", "2123c175918e0658", "aadc7f3d913cc1ea"),
    ] {
        let Some(a) = graph(folder, file) else { continue };
        check::<f32>(&a, 1, one);
        check::<f64>(&a, 1, one);
        check::<f32>(&a, 32, wide);
        check::<f64>(&a, 32, wide);
    }
}

/// A(Ax + x) + x.
#[test]
fn chained_product_of_karate() {
    let Some(a) = graph("karate", "edges.tsv") else { return };
    let plan = WorkPlan::new(&a);
    let x = ramp::<f32>(34, 1);
    let (mut inner, mut y) = (x.clone(), x.clone());
    spmm(exec(2), &a, &plan, None, &x, &mut inner, Affine::ADD).unwrap();
    spmm(exec(2), &a, &plan, None, &inner, &mut y, Affine::ADD).unwrap();
    assert_eq!(digest(&y), "004e3926645f5aa1");
    assert_eq!(y.as_slice().iter().sum::<f32>(), -1439.0);
    assert_eq!(y.as_slice().iter().map(|v| v * v).sum::<f32>(), 1072279.0);
}
