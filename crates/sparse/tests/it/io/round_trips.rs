//! What is written reads back to the same matrix, and writes to the same bytes.

use super::{entries, read};
use sapwood_sparse::any::AnyMatrix;
use sapwood_sparse::io::{self, Duplicates, ReadOptions, Source, Values, WriteOptions};

/// A matrix of `rows` rows with `n` entries, some repeated, with values of every size.
fn sample(rows: u64, n: u64, values: Values, undirected: bool) -> AnyMatrix {
    let mut state = rows * 1000 + n + 17;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 20
    };
    let mut text = format!("# Nodes: {rows}\n");
    for _ in 0..n {
        let value = f64::from_bits((next() << 32) ^ next());
        let value = if value.is_finite() { value } else { 0.1 };
        text.push_str(&format!("{} {} {value:?}\n", next() % rows, next() % rows));
    }
    let options = ReadOptions { values, undirected, duplicates: Duplicates::Sum, ..Default::default() };
    read("sample.txt", &text, &options).unwrap().matrix
}

/// Writes, reads, writes again; returns the matrix read.
fn twice(ending: &str, matrix: &AnyMatrix, values: Values, how: &WriteOptions, undirected: bool) -> AnyMatrix {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join(format!("1.{ending}")), folder.path().join(format!("2.{ending}")));
    io::write(&first, matrix, how).unwrap();
    let options = ReadOptions { values, undirected, duplicates: Duplicates::Keep, ..Default::default() };
    let back = io::read(&first, &options).unwrap().matrix;
    io::write(&second, &back, how).unwrap();
    assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
    assert_eq!(back.shape(), matrix.shape());
    back
}

fn same(a: &AnyMatrix, b: &AnyMatrix) {
    let bits = |m: &AnyMatrix| entries(m).into_iter().map(|(r, c, v)| (r, c, v.to_bits())).collect::<Vec<_>>();
    assert_eq!(a.types(), b.types());
    assert_eq!(bits(a), bits(b));
}

const SIZES: [(u64, u64); 5] = [(1, 0), (1, 3), (2, 1), (13, 40), (211, 1000)];

#[test]
fn every_format_and_value_type() {
    for (rows, n) in SIZES {
        for (values, endings) in [
            (Values::StoredF32, &["mtx", "tsv"][..]),
            (Values::StoredF64, &["mtx", "tsv"]),
            (Values::Pattern, &["mtx", "tsv", "gaps"]),
        ] {
            for ending in endings {
                let matrix = sample(rows, n, values, false);
                let back = twice(ending, &matrix, values, &WriteOptions::default(), false);
                if n > 0 {
                    same(&matrix, &back); // without edges a list has no weights either
                }
            }
        }
    }
}

#[test]
fn every_registered_format_reads_what_it_writes() {
    let matrix = sample(97, 400, Values::Pattern, false);
    for format in io::ALL {
        let mut text = Vec::new();
        (format.write)(&matrix, &WriteOptions::default(), &mut text).unwrap();
        let read = |name: &str| io::read_from(Source::bytes(&text, name), &ReadOptions::default()).unwrap();
        for name in std::iter::once("no ending".to_owned()).chain(format.extensions.iter().map(|e| format!("a.{e}.gz")))
        {
            let loaded = read(&name);
            assert_eq!(loaded.facts.format, format.name, "{name}");
            same(&matrix, &loaded.matrix);
        }
    }
}

#[test]
fn one_triangle_of_symmetric_matrices() {
    for (rows, n) in SIZES {
        for values in [Values::StoredF64, Values::Pattern] {
            let matrix = sample(rows, n, values, true);
            let once = WriteOptions { symmetric: true };
            let list = twice("tsv", &matrix, values, &once, true);
            let triangle = twice("mtx", &matrix, values, &once, false);
            if n > 0 {
                same(&matrix, &list);
                same(&matrix, &triangle);
            }
        }
    }
}

#[test]
fn kept_duplicates_survive() {
    let keep = ReadOptions { duplicates: Duplicates::Keep, ..Default::default() };
    let matrix = read("e.txt", "0 1 5\n0 1 6\n1 0 7\n", &keep).unwrap().matrix;
    for ending in ["mtx", "csv"] {
        same(&matrix, &twice(ending, &matrix, Values::StoredF32, &WriteOptions::default(), false));
    }
}
