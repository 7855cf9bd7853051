//! Products with real graphs against known values: exact sums and digests for every number type and thread count.
//!
//! The graphs are looked for in `$SAPWOOD_DATA` and beside the workspace; what is absent is skipped visibly.

use crate::make::exec;
use sapwood_files::{digest, find};
use sapwood_skeleton::Exec;
use sapwood_sparse::any::Stored;
use sapwood_sparse::io::{ReadOptions, Source, read, read_as};
use sapwood_sparse::{Affine, Block, Csr, Index, One, Real, Scalar, Scale, WorkPlan, spmm, spmm_transposed};
use sapwood_sparse::{transpose, with_matrix};
use sapwood_testkit::data;
use std::path::PathBuf;

/// Known values of one product: sum and sum of squares of Y, digest of Y as 64-bit integers.
type Known = (i64, i64, &'static str);

/// A graph and its products with the ramp of one and of 32 columns.
struct Golden {
    folder: &'static str,
    file: &'static str,
    nodes: usize,
    entries: usize,
    one: Known,
    wide: Known,
}

const SMALL: [Golden; 4] = [
    Golden {
        folder: "karate",
        file: "edges.tsv",
        nodes: 34,
        entries: 156,
        one: (-723, 82457, "179daf1eb0ab5273"),
        wide: (-4584, 2926306, "1756514fefffe502"),
    },
    Golden {
        folder: "cora",
        file: "edges.tsv",
        nodes: 2708,
        entries: 10556,
        one: (8721, 8269729, "20596123bb30343f"),
        wide: (-3200, 267035332, "d1b09f7ee3b24dac"),
    },
    Golden {
        folder: "snap",
        file: "facebook-combined.txt",
        nodes: 4039,
        entries: 176468,
        one: (67291, 111066667, "2123c175918e0658"),
        wide: (-360660, 3468903888, "aadc7f3d913cc1ea"),
    },
    Golden {
        folder: "snap",
        file: "email-enron.txt",
        nodes: 36692,
        entries: 367662,
        one: (234599, 267181971, "aafe2a442ab5aa50"),
        wide: (38488, 8365313946, "69e40722ab811b59"),
    },
];

const LARGE: [Golden; 3] = [
    Golden {
        folder: "snap",
        file: "ca-astroph.txt",
        nodes: 17903,
        entries: 394003,
        one: (6137, 259448587, "a44d6787a3da91b5"),
        wide: (-696358, 8151852940, "3d95fad3c4a0c852"),
    },
    Golden {
        folder: "snap",
        file: "ego-twitter.txt",
        nodes: 81306,
        entries: 2684606,
        one: (94489, 1741481647, "88e990e9c18c9682"),
        wide: (47139, 57953182617, "8af1a483898b5036"),
    },
    Golden {
        folder: "snap",
        file: "cnr-2000.gaps",
        nodes: 325557,
        entries: 3216152,
        one: (-529332, 985531476, "7912c66dbaf896dc"),
        wide: (13618862, 33221025314, "9eba79245b3fe699"),
    },
];

/// X\[i\]\[q\] = ((31·i + 17·q) mod 101) − 50.
fn ramp<T: Real>(rows: usize, k: usize) -> Block<T> {
    Block::from_fn(rows, k, |i, q| T::from_f64(((31 * i + 17 * q) % 101) as f64 - 50.0)).unwrap()
}

/// Sum, sum of squares and digest of a result of whole numbers.
fn known<T: Real>(y: &Block<T>) -> (i64, i64, String) {
    let whole: Vec<i64> = y.as_slice().iter().map(|v| v.to_f64() as i64).collect();
    assert!(whole.iter().zip(y.as_slice()).all(|(&w, v)| w as f64 == v.to_f64()), "not whole numbers");
    (whole.iter().sum(), whole.iter().map(|w| w * w).sum(), digest::short_of(&whole))
}

/// Y = A·X, and Y = Aᵀ·X where the transpose must be scattered and where it is built.
fn products<T: Real, V: Scalar, I: Index, P: Index>(exec: Exec<'_>, m: &Csr<V, I, P>, x: &Block<T>) -> [Block<T>; 3] {
    let (rows, cols) = m.shape();
    let mut out = [rows, cols, cols].map(|n| Block::<T>::zeros(n, x.cols()).unwrap());
    spmm(exec, m, &WorkPlan::new(m), None, x, &mut out[0], Affine::SET).unwrap();
    spmm_transposed(exec, m, None, x, &mut out[1], Affine::SET).unwrap();
    let (t, _) = transpose(exec, m).unwrap();
    spmm(exec, &t, &WorkPlan::new(&t), None, x, &mut out[2], Affine::SET).unwrap();
    out
}

fn check<T: Real, V: Scalar, I: Index, P: Index>(golden: &Golden, m: &Csr<V, I, P>) {
    assert_eq!((m.shape(), m.entries()), ((golden.nodes, golden.nodes), golden.entries), "{}", golden.file);
    let symmetric = !golden.file.ends_with(".gaps");
    for (k, expected) in [(1, golden.one), (32, golden.wide)] {
        let x = ramp::<T>(golden.nodes, k);
        for threads in [1, 2, 5] {
            let [y, scattered, built] = products(exec(threads), m, &x);
            let what = format!("{} k = {k}, {} x {}, {threads} threads", golden.file, V::NAME, T::NAME);
            let (sum, squares, digest) = known(&y);
            assert_eq!((sum, squares, digest.as_str()), expected, "{what}");
            assert_eq!(scattered.as_slice(), built.as_slice(), "{what}, transposed");
            if symmetric {
                assert_eq!(scattered.as_slice(), y.as_slice(), "{what}, transposed");
            }
        }
    }
}

/// The file of a graph, or `None` after a line that says it is absent.
fn path(folder: &str, file: &str) -> Option<PathBuf> {
    let found = find(&data::public(folder)?, file);
    if found.is_none() {
        data::skipped(&format!("{folder}/{file} is not in $SAPWOOD_DATA"));
    }
    found
}

fn options(file: &str) -> ReadOptions {
    ReadOptions { undirected: !file.ends_with(".gaps"), ..Default::default() }
}

fn load<V: Stored>(golden: &Golden) -> Option<Csr<V>> {
    let path = path(golden.folder, golden.file)?;
    Some(read_as(Source::open(&path).unwrap(), &options(golden.file)).unwrap().0)
}

fn all<T: Real, V: Stored>(graphs: &[Golden]) {
    for golden in graphs {
        if let Some(m) = load::<V>(golden) {
            check::<T, _, _, _>(golden, &m);
        }
    }
}

#[test]
fn ramp_products_of_patterns() {
    all::<f32, One>(&SMALL);
    all::<f64, One>(&SMALL[..3]);
}

#[test]
fn ramp_products_of_valued_matrices() {
    all::<f32, f32>(&SMALL[..3]);
    all::<f64, f64>(&SMALL[..3]);
    all::<f64, f32>(&SMALL[..1]);
}

#[test]
fn ramp_products_of_the_types_that_readers_choose() {
    for golden in &SMALL[..3] {
        let Some(path) = path(golden.folder, golden.file) else { continue };
        let loaded = read(&path, &options(golden.file)).unwrap();
        assert_eq!(loaded.matrix.types(), ["pattern", "u32", "u32"]);
        with_matrix!(&loaded.matrix, m => check::<f32, _, _, _>(golden, m));
    }
}

#[test]
#[ignore = "long: part of make test-long"]
fn ramp_products_of_large_graphs() {
    all::<f32, One>(&LARGE);
    all::<f64, f64>(&LARGE);
    let Some(cnr) = load::<One>(&LARGE[2]) else { return };
    let [_, y, _] = products(exec(2), &cnr, &ramp::<f32>(cnr.rows(), 3));
    assert_eq!(known(&y), (584853, 2432342605, "c23e2952cc76fb6a".to_owned()));
}

/// The triple of a graph convolution: l = r = (deg + 1)^(−1/2), s = 1/(deg + 1).
fn graph_convolution<T: Real>(tolerance: f64) {
    let Some(karate) = load::<One>(&SMALL[0]) else { return };
    let degrees = || (0..karate.rows()).map(|row| karate.row(row).len() as f64 + 1.0);
    let root: Vec<T> = degrees().map(|d| T::from_f64(1.0 / d.sqrt())).collect();
    let own: Vec<T> = degrees().map(|d| T::from_f64(1.0 / d)).collect();
    let scale = Scale { own: &own, left: &root, right: &root };
    let x = ramp::<T>(karate.rows(), 3);
    let mut y = Block::<T>::zeros(karate.rows(), 3).unwrap();
    spmm(exec(2), &karate, &WorkPlan::new(&karate), Some(scale), &x, &mut y, Affine::SET).unwrap();
    let values = || y.as_slice().iter().map(|v| v.to_f64());
    let found = [values().sum::<f64>(), values().map(|v| v * v).sum(), y.row(0)[0].to_f64()];
    for (found, expected) in found.into_iter().zip([-191.372659684717, 14186.8789446021, -2.79121658049203]) {
        assert!(((found - expected) / expected).abs() <= tolerance, "{found} for {expected} in {}", T::NAME);
    }
    let mut transposed = Block::<T>::zeros(karate.rows(), 3).unwrap();
    spmm_transposed(exec(2), &karate, Some(scale), &x, &mut transposed, Affine::SET).unwrap();
    assert_eq!(transposed.as_slice(), y.as_slice(), "the scaled matrix is symmetric, bit by bit");
}

#[test]
fn graph_convolution_of_karate() {
    graph_convolution::<f64>(1e-12);
    graph_convolution::<f32>(1e-5);
}

#[test]
fn weighted_karate_has_the_weights_of_its_file() {
    let Some(path) = path("karate", "edges_weighted.tsv") else { return };
    let loaded = read(&path, &options("edges_weighted.tsv")).unwrap();
    let total = with_matrix!(&loaded.matrix, m => m.values().iter().map(|v| v.widen().to_f64()).sum::<f64>());
    assert_eq!((loaded.matrix.types()[0], loaded.matrix.entries(), total), ("f32", 156, 2.0 * 231.0));
}
