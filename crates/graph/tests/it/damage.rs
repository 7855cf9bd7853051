//! Every reader under damaged input: an error that names the file, or a data set that holds together; never a panic, never
//! a wait, never anything executed. Damage is drawn from keyed streams, so a failure names a number that repeats it.

use crate::archives::{gzip, zip};
use crate::pickles::{Style, write_set};
use crate::support::message;
use crate::{npz, ogb};
use sapwood_graph::features::Features;
use sapwood_graph::{GraphData, LoadOptions, NodeId, load};
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_testkit::scratch::{TempDir, folder};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Damaged inputs of each kind and of each way of compressing.
const CASES: u64 = 200;

/// Random numbers of one case.
struct Dice {
    stream: Stream,
    case: u64,
    next: Cell<u32>,
}

impl Dice {
    fn below(&self, bound: usize) -> usize {
        let n = self.next.replace(self.next.get() + 1);
        (self.stream.hash64(n, 0, self.case).unwrap() % bound.max(1) as u64) as usize
    }
}

/// Numbers and texts that readers trip over.
const NASTY: [&[u8]; 14] = [
    b"-1",
    b"4294967295",
    b"18446744073709551616",
    b"nan",
    b"inf",
    b"1e999",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\0",
    b"\n",
    b"\t",
    b",",
    b"\xef\xbb\xbf",
    b"99999999",
];

/// Flips, cuts, inserts, repeats and deletes, one to four times.
fn damaged(bytes: &[u8], dice: &Dice) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(out.len());
        let length = 1 + dice.below(16).min(out.len().saturating_sub(at + 1));
        match dice.below(7) {
            _ if out.is_empty() => out.push(dice.below(256) as u8),
            0 => out[at] ^= 1 << dice.below(8),
            1 => out[at] = dice.below(256) as u8,
            2 => out.truncate(at),
            3 => {
                let nasty = NASTY[dice.below(NASTY.len())];
                out.splice(at..at, nasty.iter().copied());
            }
            4 => {
                let run = out[at..at + length].to_vec();
                out.splice(at..at, run);
            }
            5 => {
                out.drain(at..at + length);
            }
            _ => {
                let nasty = NASTY[dice.below(NASTY.len())];
                let end = (at + nasty.len()).min(out.len());
                out.splice(at..end, nasty.iter().copied());
            }
        }
    }
    out
}

/// What every loaded data set must satisfy.
fn holds_together(data: &GraphData) {
    let n = data.graph.nodes();
    assert!(n > 0 && data.labels.len() == n);
    assert!(data.labels.iter().all(|&l| l >= -1 && l < data.classes as i32));
    assert!(data.class_names.is_empty() || data.class_names.len() == data.classes);
    for (u, v) in data.graph.pair_ends() {
        assert!(u != v && u.index() < n && v.index() < n);
    }
    assert_eq!(data.graph.pair_ends().count() as u64, data.graph.pairs());
    assert!(data.graph.rows().weights().is_none_or(|w| w.iter().all(|w| w.is_finite() && *w >= 0.0)));
    assert!(data.graph.self_loops().is_sorted_by(|a, b| a.0 < b.0));
    if let Features::Stored(matrix) = &data.features {
        assert_eq!(matrix.rows(), n);
        assert!(data.words.is_empty() || data.words.len() == matrix.cols());
        let finite = match matrix {
            sapwood_graph::FeatureMatrix::Sparse(m) => m.values().iter().all(|x| x.is_finite()),
            sapwood_graph::FeatureMatrix::Dense(m) => m.as_slice().iter().all(|x| x.is_finite()),
        };
        assert!(finite);
    }
    for split in &data.splits {
        let mut all: Vec<NodeId> = [&split.train, &split.val, &split.test].into_iter().flatten().copied().collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count, "a node in two parts");
        assert!(all.last().is_none_or(|last| last.index() < n));
    }
    assert!(!data.files.is_empty());
}

/// Loads what `spec` names; an error must name the place, and neither takes long.
fn survives(spec: &str, place: &Path, case: &str) -> bool {
    let start = Instant::now();
    let found = load(spec, &LoadOptions::default());
    assert!(start.elapsed() < Duration::from_secs(20), "{case}: {:?}", start.elapsed());
    match found {
        Ok(data) => {
            holds_together(&data);
            true
        }
        Err(error) => {
            let text = message::<()>(Err(error));
            // three messages are about the graph as a whole
            let whole = ["graph has no nodes", "one way and", "the sum of the lines of edge"];
            let named = text.contains(&place.display().to_string());
            assert!(named || whole.iter().any(|w| text.contains(w)), "{case}: {text}");
            false
        }
    }
}

/// A valid data set: its files, and the spec that loads it from a folder.
struct Valid {
    kind: &'static str,
    files: Vec<(String, Vec<u8>)>,
    spec: fn(&Path) -> String,
    /// Whether files may be compressed.
    packed: bool,
}

impl Valid {
    /// Writes the files, damages one before or after compressing it, loads; counts what still loads.
    fn run(&self, salt: u64) {
        let stream = Stream::new(salt, Purpose::Test);
        let (mut loaded, mut whole) = (0, true);
        for case in 0..CASES {
            let dice = Dice { stream, case, next: Cell::new(0) };
            let root = folder().unwrap();
            let victim = dice.below(self.files.len());
            let packed = self.packed && case % 2 == 1;
            let outside = packed && case % 4 == 1;
            for (number, (name, bytes)) in self.files.iter().enumerate() {
                let mut path = root.path().join(name);
                let mut bytes = bytes.clone();
                if number == victim && !outside {
                    bytes = damaged(&bytes, &dice);
                }
                if packed {
                    path.as_mut_os_string().push(".gz");
                    bytes = gzip(&bytes);
                }
                if number == victim && outside {
                    bytes = damaged(&bytes, &dice);
                }
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, bytes).unwrap();
            }
            let case = format!("{} case {case}, file {}", self.kind, self.files[victim].0);
            loaded += u64::from(survives(&(self.spec)(root.path()), root.path(), &case));
            whole = whole && !root.path().join("proof").exists();
        }
        assert!(whole, "{}: something was executed", self.kind);
        assert!(loaded < CASES, "{}: no damage was noticed", self.kind);
    }
}

fn texts(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

const TSV: [(&str, &str); 8] = [
    ("nodes.tsv", "7\n"),
    ("edges.tsv", "0\t1\t0.5\n2\t1\t1.25\n3\t4\t3\n5\t6\t1\n"),
    ("selfloops.tsv", "5\t2.5\n"),
    ("labels.tsv", "0\t1\n1\t0\n2\t-1\n4\t3\n"),
    ("classes.tsv", "0\tred\n1\tblue\n3\tgreen\n"),
    ("split.tsv", "0\ttrain\n1\tval\n4\ttest\n"),
    ("split_two.tsv", "node\ts0\ts1\n0\tt\te\n1\tv\t-\n4\te\tt\n"),
    ("features.mtx", "%%MatrixMarket matrix coordinate real general\n7 3 3\n1 1 0.5\n2 3 -1e-3\n7 2 4\n"),
];

fn here(root: &Path) -> String {
    root.display().to_string()
}

#[test]
fn tsv_folders() {
    Valid { kind: "tsv", files: texts(&TSV), spec: here, packed: true }.run(1);
    let no_count: Vec<(&str, &str)> =
        TSV[1..7].iter().copied().chain([("words.tsv", "0 2\n\n1\n\n0\n1\n2\n")]).collect();
    Valid { kind: "tsv without a count", files: texts(&no_count), spec: here, packed: true }.run(2);
}

#[test]
fn ogb_folders() {
    let spec = |root: &Path| format!("ogb:{}", root.display());
    Valid { kind: "ogb", files: texts(&ogb::FILES), spec, packed: true }.run(3);
}

/// A Planetoid set of 12 nodes.
fn planetoid(style: Style) -> (TempDir, Vec<(String, Vec<u8>)>) {
    let edges: String = (0..12u32).map(|i| format!("{i} {}\n", (i * 5 + 2) % 12)).collect();
    let words: String = (0..12u32).map(|i| format!("{}\n", i % 4)).collect();
    let labels: String = (0..12u32).map(|i| format!("{i} {}\n", i % 3)).collect();
    let data = crate::support::read(&[("edges.tsv", &edges), ("words.tsv", &words), ("labels.tsv", &labels)]).unwrap();
    let root = folder().unwrap();
    write_set(root.path(), "tiny", style, &data, 3, 8, &[11, 8, 9, 10]);
    let entries = std::fs::read_dir(root.path()).unwrap().map(|e| e.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    let name = |p: &PathBuf| p.file_name().unwrap().to_string_lossy().into_owned();
    let files = paths.iter().map(|p| (name(p), std::fs::read(p).unwrap())).collect();
    (root, files)
}

#[test]
fn planetoid_files() {
    let spec = |root: &Path| format!("planetoid:{}/tiny", root.display());
    for (salt, style) in [(4, Style::Old), (5, Style::New), (6, Style::Text)] {
        let (_root, files) = planetoid(style);
        Valid { kind: "planetoid", files, spec, packed: true }.run(salt);
    }
}

/// Attacks put into pickles at every place where an operation may stand: none of them runs.
#[test]
fn attacks_inside_pickles() {
    let root = folder().unwrap();
    let proof = root.path().join("proof");
    let command = format!("touch {}", proof.display());
    let word = |text: &str| [&b"U"[..], &[text.len() as u8], text.as_bytes()].concat();
    let attacks = [
        [&b"cos\nsystem\n("[..], &word(&command), b"tR0"].concat(),
        [&b"cposix\nsystem\n("[..], &word(&command), b"tR"].concat(),
        [&b"("[..], &word(&command), b"ios\nsystem\n0"].concat(),
        [&b"csubprocess\ncall\n(("[..], &word("touch"), &word(&proof.display().to_string()), b"ltR0"].concat(),
        [&b"c__builtin__\neval\n("[..], &word(&format!("open({:?},'w')", proof.display().to_string())), b"tR0"]
            .concat(),
        [&b"cnumpy\nload\n("[..], &word("x"), b"tR0"].concat(),
        [&b"ccopy_reg\n_reconstructor\n(cos\nsystem\nc__builtin__\nobject\nNtR0"[..]].concat(),
    ];
    let spec = format!("planetoid:{}/tiny", root.path().display());
    for style in [Style::Old, Style::New] {
        let (_source, files) = planetoid(style);
        for (name, bytes) in &files {
            std::fs::write(root.path().join(name), bytes).unwrap();
        }
        assert!(survives(&spec, root.path(), "before any attack"));
        let stream = Stream::new(7, Purpose::Test);
        for case in 0..CASES {
            let dice = Dice { stream, case, next: Cell::new(0) };
            let (name, bytes) = &files[dice.below(files.len())];
            let attack = &attacks[dice.below(attacks.len())];
            let mut worse = bytes.clone();
            let at = dice.below(worse.len());
            let end = if dice.below(2) == 0 { at } else { (at + attack.len()).min(worse.len()) };
            worse.splice(at..end, attack.iter().copied());
            std::fs::write(root.path().join(name), worse).unwrap();
            survives(&spec, root.path(), &format!("attack {case} at byte {at} of {name}"));
            std::fs::write(root.path().join(name), bytes).unwrap();
        }
        // at the very start, where an unpickler would meet it first
        for attack in &attacks {
            std::fs::write(root.path().join("ind.tiny.graph"), [b"\x80\x02", &attack[..], b"."].concat()).unwrap();
            assert!(!survives(&spec, root.path(), "at the start"));
        }
    }
    assert!(!proof.exists(), "an attack ran");
}

/// The archive damaged as a file, and archives whose members were damaged before they were packed.
#[test]
fn npz_archives() {
    let stream = Stream::new(8, Purpose::Test);
    let root = folder().unwrap();
    let path = root.path().join("x.npz");
    let mut loaded = 0;
    for case in 0..2 * CASES {
        let dice = Dice { stream, case, next: Cell::new(0) };
        let mut members = npz::members();
        let deflated = case % 2 == 1;
        let bytes = if case < CASES {
            damaged(&zip(&members, deflated), &dice)
        } else {
            let victim = dice.below(members.len());
            members[victim].1 = damaged(&members[victim].1, &dice);
            zip(&members, deflated)
        };
        std::fs::write(&path, bytes).unwrap();
        loaded += u64::from(survives(path.to_str().unwrap(), &path, &format!("npz case {case}")));
    }
    assert!(loaded > 0 && loaded < 2 * CASES, "{loaded}");
}

#[test]
fn single_files() {
    let edges = ("x.txt", "# Nodes: 5\n0\t1\n1\t2\n3\t4\n");
    let matrix = ("x.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 3\n1 2 0.5\n2 3 1\n4 1 4\n");
    Valid {
        kind: "edge list",
        files: texts(&[edges]),
        spec: |root| root.join("x.txt").display().to_string(),
        packed: false,
    }
    .run(9);
    Valid {
        kind: "matrix",
        files: texts(&[matrix]),
        spec: |root| root.join("x.mtx").display().to_string(),
        packed: false,
    }
    .run(10);
}
