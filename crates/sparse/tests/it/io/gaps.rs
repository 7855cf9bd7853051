//! `gaps` text.

use super::{entries, places, read, refused};
use sapwood_sparse::io::{ReadOptions, Values};

fn text(rows: usize, cols: usize, count: usize, body: &str) -> String {
    format!("# sapwood gaps 1\n# rows {rows} cols {cols} entries {count}\n{body}")
}

fn get(rows: usize, cols: usize, count: usize, body: &str) -> Vec<(usize, usize)> {
    let loaded = read("g", &text(rows, cols, count, body), &ReadOptions::default()).unwrap();
    assert_eq!((loaded.matrix.shape(), loaded.facts.format), ((rows, cols), "gaps"));
    places(&loaded.matrix)
}

fn no(rows: usize, cols: usize, count: usize, body: &str) -> String {
    refused("g", &text(rows, cols, count, body), &ReadOptions::default())
}

#[test]
fn first_from_the_diagonal_then_gaps() {
    assert_eq!(get(3, 9, 5, "1 0 3\n\n-2 7\n"), [(0, 1), (0, 2), (0, 6), (2, 0), (2, 8)]);
    assert_eq!(get(3, 9, 5, "1 0 3\r\n\r\n-2 7"), [(0, 1), (0, 2), (0, 6), (2, 0), (2, 8)]);
    assert_eq!(get(1, 2, 2, "0 0 "), [(0, 0), (0, 1)]);
    assert_eq!(get(2, 2, 1, "0\n\n\n"), [(0, 0)]);
    assert_eq!(get(0, 0, 0, ""), []);
    assert_eq!(get(0, 4, 0, ""), []);
    assert_eq!(get(2, 0, 0, "\n\n"), []);
}

#[test]
fn rows_longer_than_a_block() {
    let body = format!("0{}\n", " 0".repeat(999_999));
    let all = get(1, 1_000_000, 1_000_000, &body);
    assert!(all.iter().enumerate().all(|(i, &place)| place == (0, i)));
    assert_eq!(all.len(), 1_000_000);
}

#[test]
fn ones_on_request() {
    let options = ReadOptions { values: Values::F64, ..Default::default() };
    let loaded = read("g", &text(1, 2, 2, "0 0\n"), &options).unwrap();
    assert_eq!((entries(&loaded.matrix), loaded.matrix.types()[0]), (vec![(0, 0, 1.0), (0, 1, 1.0)], "f64"));
}

#[test]
fn headers_that_are_wrong() {
    let start = |text: &str| refused("g.gaps", text, &ReadOptions::default());
    let first = "g.gaps:1: the first line must be `# sapwood gaps 1`";
    assert_eq!(start("# sapwood gaps 2\n# rows 0 cols 0 entries 0\n"), first);
    assert_eq!(start("# rows 0 cols 0 entries 0\n"), first);
    assert_eq!(start(""), "g.gaps:1: the line `# rows R cols C entries E` is missing");
    let second = "g.gaps:2: the second line must be `# rows R cols C entries E`";
    assert_eq!(start("# sapwood gaps 1\n# rows 0 columns 0 entries 0\n"), second);
    assert_eq!(start("# sapwood gaps 1\n# rows -1 cols 0 entries 0\n"), "g.gaps:2: the number of rows -1 is negative");
}

#[test]
fn rows_that_are_wrong_name_their_line() {
    assert_eq!(no(2, 3, 1, "0\n2\n"), "g:4: column 3 is not below the 3 columns (counted from 0)");
    assert_eq!(no(1, 3, 2, "0 2\n"), "g:3: column 3 is not below the 3 columns (counted from 0)");
    assert_eq!(no(2, 3, 1, "\n-2\n"), "g:4: column -1 is negative");
    assert_eq!(no(1, 3, 2, "0 -1\n"), "g:3: gap -1 is negative");
    assert_eq!(no(1, 3, 1, "x\n"), "g:3: distance from the diagonal 'x' is not a whole number");
    assert_eq!(no(1, 3, 2, "0 1.5\n"), "g:3: gap '1.5' is not a whole number");
    assert_eq!(no(1, 3, 2, "0,1\n"), "g:3: unexpected ',' behind the number of this line");
    let most = i64::MAX;
    assert_eq!(
        no(1, 3, 2, &format!("1 {most}\n")),
        "g:3: column 9223372036854775809 is not below the 3 columns (counted from 0)"
    );
}

#[test]
fn counts_that_lie() {
    assert_eq!(no(3, 3, 1, "0\n\n"), "g:4: the file ends after 2 of 3 rows");
    assert_eq!(no(usize::MAX / 2, 3, 1, "0\n"), format!("g:3: the file ends after 1 of {} rows", i64::MAX));
    assert_eq!(no(1, 3, 1, "0\n1\n"), "g:4: more than the 1 rows that the file declares");
    assert_eq!(no(1, 3, 2, "0\n"), "g:2: the header declares 2 entries, but the rows hold 1");
    assert_eq!(no(1, 3, 1, "0 0\n"), "g:2: the header declares 1 entries, but the rows hold 2");
}
