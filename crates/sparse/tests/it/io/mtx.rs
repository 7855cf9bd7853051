//! Matrix Market.

use super::{entries, places, read, refused};
use sapwood_sparse::io::{Duplicates, ReadOptions, Values};

const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";

fn plain() -> ReadOptions {
    ReadOptions { values: Values::StoredF64, ..Default::default() }
}

fn get(text: &str) -> Vec<(usize, usize, f64)> {
    entries(&read("m.mtx", text, &plain()).unwrap().matrix)
}

fn no(text: &str) -> String {
    refused("m.mtx", text, &plain())
}

/// The message for the lines behind a `coordinate real general` banner, which is line 1.
fn no_body(body: &str) -> String {
    no(&format!("{GENERAL}{body}"))
}

#[test]
fn any_case_comments_blank_lines_and_white_space() {
    let text =
        "%%matrixmarket Matrix COORDINATE Real General\r\n% c\r\n\r\n  % c\n\n 2\t3  2 \r\n\n 2 \t3 1.5\r\n1 1\t-2d1";
    assert_eq!(get(text), [(0, 0, -20.0), (1, 2, 1.5)]);
    assert_eq!(get(&format!("\u{feff}{GENERAL}1 1 1\n1 1 7\n\n \n")), [(0, 0, 7.0)]);
}

#[test]
fn fields() {
    let body = "matrix coordinate integer general\n2 2 2\n1 2 -9\n2 1 +9007199254740993\n";
    assert_eq!(get(&format!("%%MatrixMarket {body}")), [(0, 1, -9.0), (1, 0, 9007199254740992.0)]);
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n";
    let loaded = read("m.mtx", pattern, &plain()).unwrap().matrix;
    assert_eq!((places(&loaded), loaded.types()), (vec![(0, 1), (1, 0)], ["pattern", "u32", "u32"]));
    let ones = read("m.mtx", pattern, &ReadOptions { values: Values::F32, ..plain() }).unwrap().matrix;
    assert_eq!((entries(&ones), ones.types()[0]), (vec![(0, 1, 1.0), (1, 0, 1.0)], "f32"));
    let dropped =
        read("m.mtx", &format!("{GENERAL}1 1 1\n1 1 nan\n"), &ReadOptions { values: Values::Pattern, ..plain() });
    assert_eq!(dropped.unwrap().matrix.types()[0], "pattern");
}

#[test]
fn symmetric_and_skew_symmetric() {
    let symmetric = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n3 1 5\n2 2 4\n2 1 -1\n";
    assert_eq!(get(symmetric), [(0, 1, -1.0), (0, 2, 5.0), (1, 0, -1.0), (1, 1, 4.0), (2, 0, 5.0)]);
    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n3 1 5\n2 1 -1\n";
    assert_eq!(get(skew), [(0, 1, 1.0), (0, 2, -5.0), (1, 0, -1.0), (2, 0, 5.0)]);
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n1 1\n";
    assert_eq!(places(&read("m.mtx", pattern, &plain()).unwrap().matrix), [(0, 0), (0, 1), (1, 0)]);
}

#[test]
fn entries_above_the_diagonal_of_a_triangle() {
    let file = |symmetry: &str, entry: &str| {
        no(&format!("%%MatrixMarket matrix coordinate real {symmetry}\n3 3 1\n{entry} 1\n"))
    };
    let text = "m.mtx:3: entry (1, 2) is outside the lower triangle, which is all that a symmetric file stores";
    assert_eq!(file("symmetric", "1 2"), text);
    let text =
        "m.mtx:3: entry (2, 2) is outside the strictly lower triangle, which is all that a skew-symmetric file stores";
    assert_eq!(file("skew-symmetric", "2 2"), text);
    let square = no("%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n");
    assert_eq!(square, "m.mtx:2: a symmetric matrix must be square, this one is 3 x 4");
}

#[test]
fn arrays_by_column_without_zeros() {
    let text = "%%MatrixMarket matrix array real general\n% c\n2 3\n1 0\n2\n\n0 3.5 -0\n";
    assert_eq!(get(text), [(0, 0, 1.0), (0, 1, 2.0), (0, 2, 3.5)]);
    let symmetric = "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n";
    let full = [
        (0, 0, 1.0),
        (0, 1, 2.0),
        (0, 2, 3.0),
        (1, 0, 2.0),
        (1, 1, 4.0),
        (1, 2, 5.0),
        (2, 0, 3.0),
        (2, 1, 5.0),
        (2, 2, 6.0),
    ];
    assert_eq!(get(symmetric), full);
    let skew = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n";
    assert_eq!(get(skew), [(0, 1, -1.0), (0, 2, -2.0), (1, 0, 1.0), (1, 2, -3.0), (2, 0, 2.0), (2, 1, 3.0)]);
    assert_eq!(get("%%MatrixMarket matrix array real general\n0 5\n"), []);
    let one_line = format!("%%MatrixMarket matrix array real general\n1 700000\n{}", "7 ".repeat(700_000));
    assert_eq!(get(&one_line).len(), 700_000, "the line is longer than the longest line of other files");
}

#[test]
fn arrays_with_too_few_and_too_many_values() {
    let array = |body: &str| no(&format!("%%MatrixMarket matrix array real general\n{body}"));
    assert_eq!(array("2 2\n1\n2\n3\n"), "m.mtx:5: the file ends after 3 of 4 values");
    assert_eq!(array("2 2\n1 2 3\n4 5\n"), "m.mtx:4: more than the 4 values that the file declares");
    assert_eq!(array("2 2 4\n1\n"), "m.mtx:2: unexpected '4' behind the sizes (`rows columns`) of this line");
    assert_eq!(array("1 1\nx\n"), "m.mtx:3: value 'x' is not a number");
    let most = "9223372036854775807";
    let text = array(&format!("{most} {most}\n1\n"));
    assert_eq!(text, "m.mtx:3: the file ends after 1 of 85070591730234615847396907784232501249 values");
}

#[test]
fn banners_are_needed_or_assumed() {
    let body = "2 2 1\n1 2 5\n";
    let advice = "m.mtx:1: no `%%MatrixMarket` banner; --assume \"coordinate real general\" reads it as one";
    assert_eq!(no(body), advice);
    assert_eq!(no(""), advice);
    let assume = |text: &str| ReadOptions { assume: Some(text.parse().unwrap()), ..plain() };
    let options = assume("coordinate real general");
    assert_eq!(entries(&read("any.txt", body, &options).unwrap().matrix), [(0, 1, 5.0)]);
    assert_eq!(entries(&read("any.txt", &format!("% c\n{body}"), &options).unwrap().matrix), [(0, 1, 5.0)]);
    // a banner that is there wins
    let symmetric = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 5\n";
    assert_eq!(read("m", symmetric, &options).unwrap().matrix.entries(), 2);
    assert_eq!(read("m", "2 2 1\n2 1 5\n", &assume("Coordinate Integer Symmetric")).unwrap().matrix.entries(), 2);
    assert!("coordinate complex general".parse::<sapwood_sparse::io::mtx::Banner>().is_err());
}

#[test]
fn unsupported_kinds() {
    let banner = |kind: &str| no(&format!("%%MatrixMarket matrix {kind}\n1 1 0\n"));
    assert_eq!(
        banner("coordinate complex general"),
        "m.mtx:1: unsupported field 'complex'; use real, integer or pattern"
    );
    assert_eq!(banner("coordinate real hermitian"), "m.mtx:1: unsupported field: hermitian matrices are complex");
}

#[test]
fn entries_out_of_place_name_their_line() {
    assert_eq!(no_body("2 3 1\n3 1 1\n"), "m.mtx:3: row 3 is beyond the last one, 2");
    assert_eq!(no_body("2 3 1\n% c\n1 4 1\n"), "m.mtx:3: row '%' is not a whole number");
    assert_eq!(no_body("2 3 1\n1 4 1\n"), "m.mtx:3: column 4 is beyond the last one, 3");
    assert_eq!(no_body("2 3 1\n0 1 1\n"), "m.mtx:3: row is 0 but numbers count from 1 here");
    assert_eq!(no_body("2 3 1\n1 0 1\n"), "m.mtx:3: column is 0 but numbers count from 1 here");
    assert_eq!(no_body("2 3 1\n1 -1 1\n"), "m.mtx:3: column -1 is negative");
    assert_eq!(no_body("2 3 1\n1 9223372036854775808 1\n"), "m.mtx:3: column 9223372036854775808 is above 2^63 - 1");
    assert_eq!(no_body("2 3 1\n1 a 1\n"), "m.mtx:3: column 'a' is not a whole number");
    assert_eq!(no_body("2 3 1\n1,1 1\n"), "m.mtx:3: a blank, a tab or a comma must stand before ''");
    assert_eq!(no_body("0 0 1\n1 1 1\n"), "m.mtx:3: row 1 is beyond the last one, 0");
}

#[test]
fn values_of_the_wrong_kind_name_their_line() {
    assert_eq!(no_body("1 1 1\n1 1\n"), "m.mtx:3: value is missing");
    assert_eq!(no_body("1 1 1\n1 1 x\n"), "m.mtx:3: value 'x' is not a number");
    assert_eq!(
        no_body("1 1 1\n1 1 2 3\n"),
        "m.mtx:3: unexpected '3' behind the entry (`row column value`) of this line"
    );
    let integer = |v: &str| no(&format!("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 {v}\n"));
    assert_eq!(integer("1.5"), "m.mtx:3: value '1.5' is not a whole number");
    assert_eq!(integer("-99999999999999999999"), "m.mtx:3: value -99999999999999999999 is above 2^63 - 1");
    assert_eq!(integer(""), "m.mtx:3: value is missing");
    let pattern = no("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n");
    assert_eq!(pattern, "m.mtx:3: unexpected '1' behind the entry (`row column`) of this line");
}

#[test]
fn sizes_that_lie() {
    assert_eq!(no_body(""), "m.mtx:1: the size line is missing");
    assert_eq!(no_body("% only comments\n"), "m.mtx:2: the size line is missing");
    assert_eq!(no_body("2 2\n"), "m.mtx:2: the number of entries is missing");
    assert_eq!(no_body("2\n"), "m.mtx:2: the number of columns is missing");
    assert_eq!(no_body("2 2 1 1\n"), "m.mtx:2: unexpected '1' behind the sizes (`rows columns entries`) of this line");
    assert_eq!(no_body("2 2 -1\n"), "m.mtx:2: the number of entries -1 is negative");
    assert_eq!(no_body("2 2 2\n1 1 1\n"), "m.mtx:3: the file ends after 1 of 2 entries");
    assert_eq!(no_body("2 2 1\n1 1 1\n\n2 2 2\n"), "m.mtx:5: more than the 1 entries that the file declares");
    assert_eq!(no_body("2 2 1000000000000000\n1 1 1\n"), "m.mtx:3: the file ends after 1 of 1000000000000000 entries");
}

#[test]
fn empty_shapes() {
    for (rows, cols) in [(0, 0), (0, 7), (7, 0), (3, 3)] {
        let loaded = read("m.mtx", &format!("{GENERAL}{rows} {cols} 0\n"), &plain()).unwrap();
        assert_eq!((loaded.matrix.shape(), loaded.matrix.entries()), ((rows, cols), 0));
    }
}

#[test]
fn duplicates_by_policy() {
    let text = format!("{GENERAL}2 2 4\n2 2 1\n1 1 2\n2 2 3\n1 1 5\n");
    let load = |duplicates| read("m.mtx", &text, &ReadOptions { duplicates, ..plain() });
    assert_eq!(entries(&load(Duplicates::Sum).unwrap().matrix), [(0, 0, 7.0), (1, 1, 4.0)]);
    assert_eq!(entries(&load(Duplicates::Keep).unwrap().matrix), [(0, 0, 2.0), (0, 0, 5.0), (1, 1, 1.0), (1, 1, 3.0)]);
    assert_eq!(
        load(Duplicates::Reject).unwrap_err().to_string(),
        "m.mtx: row 0 has column 0 more than once (counted from 0)"
    );
}

#[test]
fn many_columns_take_wide_indices() {
    let loaded = read("m.mtx", &format!("{GENERAL}2 5000000000 2\n2 5000000000 1\n1 1 2\n"), &plain()).unwrap();
    assert_eq!(loaded.matrix.types(), ["f64", "u64", "u32"]);
    assert_eq!(entries(&loaded.matrix), [(0, 0, 2.0), (1, 4_999_999_999, 1.0)]);
}

#[test]
fn options_of_edge_lists_are_refused() {
    let text = &format!("{GENERAL}1 1 0\n");
    let undirected = refused("m.mtx", text, &ReadOptions { undirected: true, ..plain() });
    assert_eq!(undirected, "m.mtx: --undirected is for edge lists, but the format of this file is `mtx`");
    assert!(refused("m.mtx", text, &ReadOptions { relabel: true, ..plain() }).contains("--relabel"));
    assert!(refused("m.mtx", text, &ReadOptions { one_based: true, ..plain() }).contains("--one-based"));
}
