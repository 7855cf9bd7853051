//! Peak memory, measured in a process of its own: the test program started again for one test.

use sapwood_sparse::any::AnyMatrix;
use sapwood_sparse::io::{ReadOptions, Source, Values, read_from};
use sapwood_sparse::{Structure, with_matrix};
use std::io::{BufReader, Read};
use std::process::Command;

/// Set in the second process: the test that is to run there.
const CHILD: &str = "SAPWOOD_TEST_CHILD";

/// Runs the ignored test `name` alone in a new process.
pub(super) fn in_own_process(name: &str) {
    let program = std::env::current_exe().unwrap();
    let ran =
        Command::new(program).args(["--exact", name, "--ignored", "--nocapture"]).env(CHILD, name).output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && text.contains("1 passed"), "{text}");
}

/// What `f` adds to the largest resident size of this process; `None` outside of [`in_own_process`], where other tests
/// run beside it, and where the system does not tell.
pub(super) fn of(f: impl FnOnce()) -> Option<u64> {
    std::env::var_os(CHILD)?;
    let Some(before) = resident("VmRSS:") else {
        sapwood_testkit::data::skipped("this system does not report peak memory");
        return None;
    };
    f();
    Some(resident("VmHWM:")?.saturating_sub(before))
}

fn resident(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// An edge list of `edges` lines that is made while it is read.
struct Lines {
    edges: u64,
    next: u64,
    weighted: bool,
    text: Vec<u8>,
}

const NODES: u64 = 400_000;

impl Read for Lines {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        while self.text.len() < out.len() && self.next < self.edges {
            let i = self.next;
            let scattered = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let (from, to) = ((scattered >> 40) % NODES, (scattered >> 16) % NODES);
            let weight = if self.weighted { format!(" {}", i % 100) } else { String::new() };
            self.text.extend_from_slice(format!("{from} {to}{weight}\n").as_bytes());
            self.next += 1;
        }
        let n = self.text.len().min(out.len());
        out[..n].copy_from_slice(&self.text[..n]);
        self.text.drain(..n);
        Ok(n)
    }
}

fn read_list(options: &ReadOptions, weighted: bool, edges: u64) -> AnyMatrix {
    let lines = BufReader::with_capacity(1 << 16, Lines { edges, next: 0, weighted, text: Vec::new() });
    read_from(Source::stream(lines, "e.txt"), options).unwrap().matrix
}

fn at_most_2_2(options: ReadOptions, weighted: bool) {
    let mut bytes = 0;
    let peak = of(|| {
        let matrix = read_list(&options, weighted, 5_000_000);
        bytes = with_matrix!(&matrix, m => m.bytes().total());
    });
    if let Some(peak) = peak {
        assert!(bytes > 15 << 20);
        assert!(peak as f64 <= 2.2 * bytes as f64 + f64::from(2 << 20), "{peak} bytes at the peak for {bytes}");
    }
}

#[test]
fn building_takes_at_most_2_2_times_the_matrix() {
    for name in ["pattern", "weighted", "weighted_double", "undirected"] {
        in_own_process(&format!("io::peak::{name}"));
    }
}

#[test]
#[ignore = "run by the test above in a process of its own"]
fn pattern() {
    at_most_2_2(ReadOptions { values: Values::Pattern, ..Default::default() }, false);
}

#[test]
#[ignore = "run by the test above in a process of its own"]
fn weighted() {
    at_most_2_2(ReadOptions::default(), true);
}

#[test]
#[ignore = "run by the test above in a process of its own"]
fn weighted_double() {
    at_most_2_2(ReadOptions { values: Values::StoredF64, ..Default::default() }, true);
}

#[test]
#[ignore = "run by the test above in a process of its own"]
fn undirected() {
    at_most_2_2(ReadOptions { undirected: true, ..Default::default() }, false);
}
