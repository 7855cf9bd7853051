//! Damaged files: readers answer with a matrix or an error, never with a panic, and never take memory that the text does
//! not pay for.

use super::peak;
use sapwood_sparse::check;
use sapwood_sparse::io::{Duplicates, ReadOptions, Source, Values, read_from};

const EDGES: &str = "# Nodes: 12 Edges: 6\n0\t1\t0.5\n1\t2\t-1e3\n3,4,2d1\n% c\n\n11 0 4\n7 7 1\n2 1 .5\n";
const COORDINATE: &str =
    "%%MatrixMarket matrix coordinate real symmetric\n% c\n\n12 12 5\n1 1 0.5\n2 1 -1e3\n12 4 2d1\n7 7 inf\n9 2 .5\n";
const ARRAY: &str = "%%MatrixMarket matrix array integer general\n3 4\n1 2 3\n4\n5\n6 0 0 0\n-7 8 9\n";
const GAPS: &str = "# sapwood gaps 1\n# rows 5 cols 9 entries 8\n1 0 3\n\n-2 7\n0\n-4 3\n";

/// A small generator, so that a failing case can be run again: SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// What damage puts in.
const PIECES: [&[u8]; 20] = [
    b"-",
    b"9",
    b"99999999999999999999",
    b"4294967296",
    b"9223372036854775807",
    b"1000000",
    b"\n",
    b"\r",
    b" ",
    b",",
    b"#",
    b"%",
    b"e",
    b"d",
    b".",
    b"nan",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"# Nodes: 999999999999\n",
];

fn mutated(text: &str, seed: u64) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + dice.below(4) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + dice.below(8)).min(bytes.len());
        match dice.below(5) {
            0 => bytes.truncate(at),
            1 => _ = bytes.drain(at..end),
            2 => {
                let copy = bytes[at..end].to_vec();
                let to = dice.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            3 => _ = bytes.splice(at..end, PIECES[dice.below(PIECES.len())].iter().copied()),
            _ => _ = bytes.splice(at..at, PIECES[dice.below(PIECES.len())].iter().copied()),
        }
    }
    bytes
}

fn options(dice: &mut Dice, edge_list: bool) -> ReadOptions {
    let all = [Values::StoredF32, Values::StoredF64, Values::Pattern, Values::F32, Values::F64];
    let mut flag = || edge_list && dice.below(4) == 0;
    let (undirected, one_based, relabel) = (flag(), flag(), flag());
    let duplicates = [Duplicates::Sum, Duplicates::Keep, Duplicates::Reject][dice.below(3)];
    ReadOptions { values: all[dice.below(5)], duplicates, undirected, one_based, relabel, ..Default::default() }
}

/// Reads `count` damaged copies of `text`; returns how many were refused.
fn damage(name: &str, text: &str, count: u64) -> u64 {
    let edge_list = name.ends_with("txt");
    let mut refused = 0;
    for seed in 0..count {
        let bytes = mutated(text, seed);
        let options = options(&mut Dice(!seed), edge_list);
        match read_from(Source::bytes(&bytes, name), &options) {
            Ok(loaded) => assert!(loaded.matrix.entries() <= 2 * bytes.len(), "seed {seed}"),
            Err(error) => {
                refused += 1;
                assert!(error.to_string().starts_with(name), "seed {seed}: {error}");
            }
        }
    }
    refused
}

const FILES: [(&str, &str); 4] = [("e.txt", EDGES), ("m.mtx", COORDINATE), ("a.mtx", ARRAY), ("g.gaps", GAPS)];

/// A row count that needs no word from the user takes 32 MiB of offsets at most, and once more while types change.
const MOST: u64 = 100 << 20;

fn run(count: u64) {
    for (name, text) in FILES {
        let refused = damage(name, text, count);
        assert!(refused > count / 10 && refused < count, "{name}: {refused} of {count} refused");
    }
}

#[test]
fn a_thousand_mutations_of_each_format() {
    peak::in_own_process("io::mutations::child");
}

#[test]
#[ignore = "run by the test above in a process of its own"]
fn child() {
    if let Some(peak) = peak::of(|| run(1000)) {
        assert!(peak < MOST, "{peak} bytes at the peak");
    }
}

#[test]
fn a_thousand_mutations_of_csr_arrays() {
    let odd = [-1, i64::MIN, i64::MAX, 0, 3, 4, 5, 1 << 32];
    let mut accepted = 0;
    for seed in 0..1000 {
        let mut dice = Dice(seed);
        let (mut offsets, mut columns) = (vec![0i64, 2, 2, 5], vec![1i64, 3, 0, 0, 2]);
        let mut values = vec![1.0f32; 5];
        for _ in 0..dice.below(3) {
            let (at, value) = (dice.below(4), odd[dice.below(odd.len())]);
            match dice.below(6) {
                0 => offsets.iter_mut().skip(at).take(1).for_each(|offset| *offset = value),
                1 => columns[at] = value,
                2 => offsets.truncate(at),
                3 => columns.push(value),
                4 => values.push(0.0),
                _ => columns.swap(at, 4),
            }
        }
        let duplicates = [Duplicates::Sum, Duplicates::Keep, Duplicates::Reject][dice.below(3)];
        if let Ok((m, _)) = check::csr::<f32, u8, u16>(3, 4, &offsets, &columns, values, duplicates) {
            accepted += 1;
            assert!(m.entries() <= columns.len(), "seed {seed}");
            assert!((0..3).all(|row| m.row(row).is_sorted() && m.row(row).iter().all(|&c| c < 4)), "seed {seed}");
        }
    }
    assert!((100..900).contains(&accepted), "{accepted} accepted");
}

#[test]
#[ignore = "long: part of make test-long"]
fn ten_thousand_mutations_of_each_format() {
    run(10_000);
}
