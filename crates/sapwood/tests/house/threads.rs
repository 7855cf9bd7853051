//! Threads only through `sapwood-skeleton`.

use crate::code;
use sapwood_testkit::source::Source;

/// Ways to reach a thread, a pool or a rank.
const REACHES: &[&str] = &["std::thread", "thread::spawn", "thread::scope", "thread::Builder", "rayon", "mpi::"];
/// Asking how many processors there are starts nothing.
const QUESTION: &str = "std::thread::available_parallelism";

fn is_judged(path: &str) -> bool {
    let of_a_crate = path.starts_with("crates/") && path.contains("/src/");
    let exempt = path.starts_with("crates/skeleton/") || path.starts_with("crates/testkit/");
    (of_a_crate && !exempt) || path.starts_with("examples/")
}

fn violations(files: &[Source]) -> Vec<String> {
    let judged = files.iter().filter(|f| f.is(&["rs"]) && is_judged(&f.path));
    let lines = judged.flat_map(|f| {
        let code = code::without_unit_tests(&f.text).replace(QUESTION, "");
        let hits = code.lines().enumerate().filter(|(_, l)| REACHES.iter().any(|r| l.contains(r)));
        hits.map(|(i, l)| format!("{}:{}: {}: threads only through skeleton", f.path, i + 1, l.trim()))
            .collect::<Vec<_>>()
    });
    lines.collect()
}

#[test]
fn threads_only_through_skeleton() {
    crate::holds(violations(&crate::project()));
}

#[test]
fn a_thread_elsewhere_is_caught() {
    let at = |path: &str, text: &str| violations(&[Source::new(path, text)]);
    crate::catches(at("crates/graph/src/a.rs", "fn f() { std::thread::spawn(|| ()); }"), &["graph", "skeleton"]);
    crate::catches(at("examples/a.rs", "use rayon::prelude::*;"), &["examples/a.rs:1"]);
    assert!(at("crates/skeleton/src/pool/park.rs", "use std::thread;").is_empty());
    assert!(at("crates/machine/src/discover.rs", "let n = std::thread::available_parallelism();").is_empty());
    assert!(at("crates/graph/src/a.rs", "// as rayon does\n#[cfg(test)]\nmod tests { use std::thread; }").is_empty());
}
