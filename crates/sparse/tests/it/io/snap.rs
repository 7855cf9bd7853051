//! Edge lists.

use super::{entries, places, read, refused};
use sapwood_sparse::io::snap::edges;
use sapwood_sparse::io::{Duplicates, ReadOptions, Source, Values};

fn plain() -> ReadOptions {
    ReadOptions::default()
}

fn get(text: &str, options: &ReadOptions) -> (usize, Vec<(usize, usize)>) {
    let loaded = read("e.txt", text, options).unwrap();
    (loaded.matrix.shape().0, places(&loaded.matrix))
}

fn no(text: &str) -> String {
    refused("e.txt", text, &plain())
}

#[test]
fn blanks_tabs_and_commas_separate() {
    let expected = (4, vec![(0, 1), (2, 3)]);
    for text in ["0 1\n2 3\n", "0\t1\n2\t3\n", "0,1\n2,3\n", " 0  ,\t1 \n\t2 , 3\n", "0 \t 1\n2,3"] {
        assert_eq!(get(text, &plain()), expected, "{text:?}");
    }
}

#[test]
fn comments_blank_lines_crlf_mark_and_missing_newline() {
    let text = "\u{feff}# a comment\r\n% another\r\n\r\n0 1\r\n  \r\n# 7 8\r\n1 0";
    assert_eq!(get(text, &plain()), (2, vec![(0, 1), (1, 0)]));
}

#[test]
fn nodes_from_comment_flag_or_largest_id() {
    let text = "# Nodes: 7 Edges: 1\n0 1\n";
    assert_eq!(get("0 5\n", &plain()).0, 6);
    assert_eq!(get(text, &plain()).0, 7);
    assert_eq!(get("#nodes:7\n0 1\n", &plain()).0, 7);
    assert_eq!(get("0 1\n# Nodes: 7\n", &plain()).0, 7);
    assert_eq!(get(text, &ReadOptions { nodes: Some(9), ..plain() }).0, 9);
    assert_eq!(get("# Nodes: unknown\n0 1\n", &plain()).0, 2);
    assert_eq!(get("% Nodes: 9\n0 1\n", &plain()).0, 2);
}

#[test]
fn nodes_beyond_the_stated_number() {
    let advice = "--nodes N overrides the file, --relabel compacts sparse ids";
    let expected = format!("e.txt:3: node 4 does not fit 4 nodes (`# Nodes:` or --nodes); {advice}");
    assert_eq!(no("# Nodes: 4\n0 3\n4 0\n"), expected);
    assert_eq!(no("0 3\n\n0 4\n0 2\n# Nodes: 4\n"), expected);
    let flag = refused("e.txt", "0 3\n1 1\n3 4\n", &ReadOptions { nodes: Some(4), ..plain() });
    assert_eq!(flag, expected);
    let one_based = ReadOptions { one_based: true, ..plain() };
    assert_eq!(refused("e.txt", "# Nodes: 3\n3 1\n3 4\n", &one_based), expected.replace("fit 4", "fit 3"));
    assert_eq!(no("# Nodes: 3\n# Nodes: 4\n"), "e.txt:2: `# Nodes: 4` contradicts an earlier `# Nodes: 3`");
    assert_eq!(get("# Nodes: 3\n# Nodes: 3\n", &plain()).0, 3);
}

#[test]
fn one_based_ids() {
    let options = ReadOptions { one_based: true, ..plain() };
    assert_eq!(get("1 2\n3 1\n", &options), (3, vec![(0, 1), (2, 0)]));
    assert_eq!(refused("e.txt", "1 2\n0 1\n", &options), "e.txt:2: node is 0 but numbers count from 1 here");
    assert_eq!(refused("e.txt", "1 0\n", &options), "e.txt:1: node is 0 but numbers count from 1 here");
}

#[test]
fn relabel_compacts_first_seen_first() {
    let options = ReadOptions { relabel: true, ..plain() };
    let text = "9000000000000000000 7\n7 12\n12 9000000000000000000\n";
    let loaded = read("e.txt", text, &options).unwrap();
    assert_eq!((loaded.matrix.shape(), places(&loaded.matrix)), ((3, 3), vec![(0, 1), (1, 2), (2, 0)]));
    assert_eq!(loaded.facts.originals.unwrap(), [9_000_000_000_000_000_000, 7, 12]);
    assert_eq!(get("# Nodes: 5\n70 80\n", &options).0, 5);
    assert!(refused("e.txt", "# Nodes: 2\n70 80\n80 90\n", &options).starts_with("e.txt:3: node 2 does not fit 2"));
    let both = ReadOptions { one_based: true, ..options };
    let loaded = read("e.txt", "5 1\n", &both).unwrap();
    assert_eq!(loaded.facts.originals.unwrap(), [5, 1]);
}

#[test]
fn undirected_mirrors_and_keeps_self_loops_once() {
    let options = ReadOptions { undirected: true, ..plain() };
    assert_eq!(get("0 1\n1 1\n2 0\n", &options), (3, vec![(0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]));
    let weighted = read("e.txt", "0 1 2.5\n1 1 4\n", &options).unwrap();
    assert_eq!(entries(&weighted.matrix), [(0, 1, 2.5), (1, 0, 2.5), (1, 1, 4.0)]);
}

#[test]
fn weights_are_read_dropped_or_made() {
    let text = "0 1 0.5\n1 0 -2d1\n";
    let load = |text: &str, values| read("e.txt", text, &ReadOptions { values, ..plain() }).unwrap().matrix;
    assert_eq!(load(text, Values::StoredF32).types(), ["f32", "u32", "u32"]);
    assert_eq!(entries(&load(text, Values::StoredF64)), [(0, 1, 0.5), (1, 0, -20.0)]);
    assert_eq!(load(text, Values::StoredF64).types()[0], "f64");
    assert_eq!(load(text, Values::Pattern).types()[0], "pattern");
    assert_eq!(load("0 1\n", Values::StoredF32).types()[0], "pattern");
    assert_eq!(load("0 1\n", Values::F64).types()[0], "f64");
    assert_eq!(entries(&load("0 1\n1 0\n0 1\n", Values::F32)), [(0, 1, 2.0), (1, 0, 1.0)]);
}

#[test]
fn duplicates_are_summed_kept_or_rejected() {
    let text = "1 0 1\n0 2 1\n0 1 10\n0 2 5\n0 2 7\n";
    let load = |text: &str, duplicates| read("e.txt", text, &ReadOptions { duplicates, ..plain() });
    let sum = load(text, Duplicates::Sum).unwrap();
    assert_eq!((entries(&sum.matrix), sum.facts.duplicates), (vec![(0, 1, 10.0), (0, 2, 13.0), (1, 0, 1.0)], 2));
    let keep = load(text, Duplicates::Keep).unwrap();
    let kept = vec![(0, 1, 10.0), (0, 2, 1.0), (0, 2, 5.0), (0, 2, 7.0), (1, 0, 1.0)];
    assert_eq!((entries(&keep.matrix), keep.facts.duplicates), (kept, 2));
    let error = load(text, Duplicates::Reject).unwrap_err().to_string();
    assert_eq!(error, "e.txt: row 0 has column 2 more than once (counted from 0)");
    // a pattern has no value to sum
    let collapsed = load("0 1\n0 1\n0 0\n", Duplicates::Sum).unwrap();
    assert_eq!((places(&collapsed.matrix), collapsed.facts.duplicates), (vec![(0, 0), (0, 1)], 1));
    assert_eq!(load("0 1\n0 1\n", Duplicates::Keep).unwrap().matrix.entries(), 2);
}

#[test]
fn unsorted_rows_are_sorted_stably() {
    let options = ReadOptions { duplicates: Duplicates::Keep, ..plain() };
    let loaded = read("e.txt", "1 2 1\n0 2 2\n1 0 3\n1 2 4\n1 1 5\n", &options).unwrap();
    let expected = [(0, 2, 2.0), (1, 0, 3.0), (1, 1, 5.0), (1, 2, 1.0), (1, 2, 4.0)];
    assert_eq!((entries(&loaded.matrix), loaded.facts.unsorted_rows), (expected.to_vec(), 1));
}

#[test]
fn negative_huge_and_non_numeric_ids_name_their_line() {
    assert_eq!(no("0 1\n2 -1\n"), "e.txt:2: node -1 is negative");
    assert_eq!(no("0 1\n\n-5 1\n"), "e.txt:3: node -5 is negative");
    assert_eq!(no("9223372036854775808 1\n"), "e.txt:1: node 9223372036854775808 is above 2^63 - 1");
    let digits = "9".repeat(500);
    assert_eq!(no(&format!("0 {digits}\n")), format!("e.txt:1: node {}.. is above 2^63 - 1", "9".repeat(40)));
    assert_eq!(no("# c\n0 x\n"), "e.txt:2: node 'x' is not a whole number");
    assert_eq!(no("source target\n"), "e.txt:1: node 'source' is not a whole number");
    assert_eq!(no("0 1.5\n"), "e.txt:1: node '1.5' is not a whole number");
    assert_eq!(no("0 1e3\n"), "e.txt:1: node '1e3' is not a whole number");
    assert_eq!(no("0 +1\n"), "e.txt:1: node '+1' is not a whole number");
    assert_eq!(no("0 \u{661}\n"), "e.txt:1: node '\\u{661}' is not a whole number");
}

#[test]
fn missing_and_surplus_fields_name_their_line() {
    assert_eq!(no("0 1\n2\n"), "e.txt:2: the second node is missing");
    assert_eq!(no("2,\n"), "e.txt:1: the second node is missing");
    assert_eq!(no("0 1 2 3\n"), "e.txt:1: unexpected '3' behind the edge (`from to [weight]`) of this line");
    assert_eq!(no("0 1 2,3\n"), "e.txt:1: unexpected ',' behind the edge (`from to [weight]`) of this line");
    assert_eq!(no("0 1 # c\n"), "e.txt:1: value '#' is not a number");
    assert_eq!(no(",0 1\n"), "e.txt:1: node is missing");
    assert_eq!(no("0,,1\n"), "e.txt:1: node is missing");
    assert_eq!(no("0 1 0x5\n"), "e.txt:1: value '0x5' is not a number");
    let mixed = "either all edges have a weight or none";
    assert_eq!(no("0 1\n0 2 5\n"), format!("e.txt:2: a weight stands here, but not on line 1: {mixed}"));
    assert_eq!(no("# c\n0 1 5\n\n0 2\n"), format!("e.txt:4: no weight stands here, but not on line 2: {mixed}"));
}

#[test]
fn empty_lists_are_graphs() {
    assert_eq!(get("", &plain()), (0, vec![]));
    assert_eq!(get("# nothing\n", &plain()), (0, vec![]));
    assert_eq!(get("# Nodes: 3\n", &ReadOptions { undirected: true, ..plain() }), (3, vec![]));
    assert_eq!(get("# Nodes: 0\n", &plain()), (0, vec![]));
}

#[test]
fn edges_keep_order_and_lines() {
    let text = "# Nodes: 9\n3 1 2\n\n1 1 4\n1 1 4\n# c\n% c\n0 2 8\n";
    let list = edges(Source::bytes(text.as_bytes(), "g/e.tsv"), &plain()).unwrap();
    assert_eq!(list.iter().collect::<Vec<_>>(), [(3, 1), (1, 1), (1, 1), (0, 2)]);
    assert_eq!((0..4).map(|e| list.line(e)).collect::<Vec<_>>(), [2, 4, 5, 8]);
    assert_eq!((0..4).map(|e| list.weight(e)).collect::<Vec<_>>(), [Some(2.0), Some(4.0), Some(4.0), Some(8.0)]);
    assert_eq!((list.nodes(), list.len(), list.is_weighted(), list.place(3).as_str()), (9, 4, true, "g/e.tsv:8"));
    let list =
        edges(Source::bytes(b"0 4294967296\n5 6\n", "e"), &ReadOptions { nodes: Some(1 << 33), ..plain() }).unwrap();
    assert_eq!(list.iter().collect::<Vec<_>>(), [(0, 1 << 32), (5, 6)]);
    assert_eq!((list.is_weighted(), list.weight(0)), (false, None));
}

#[test]
fn long_files_cross_block_borders() {
    let mut text = String::from("# Nodes: 100000\n");
    let mut expected = Vec::new();
    for i in 0..100_000usize {
        let to = (i * 7919) % 100_000;
        text.push_str(&format!("{i}\t{to}\n"));
        expected.push((i, to));
    }
    assert!(text.len() > (3 * 256) << 10 | 1);
    assert_eq!(get(&text, &plain()), (100_000, expected));
    let list = edges(Source::bytes(text.as_bytes(), "e"), &plain()).unwrap();
    assert_eq!((list.line(0), list.line(99_999)), (2, 100_001));
    let broken = text.replace("99990\t", "99990 x ");
    assert_eq!(no(&broken), "e.txt:99992: node 'x' is not a whole number");
}
