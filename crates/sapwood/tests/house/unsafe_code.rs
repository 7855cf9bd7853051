//! `unsafe` stands only where the design lets it, and each site says why it is sound.

use crate::code;
use sapwood_testkit::source::Source;

/// Files and folders (ending in `/`) that may hold `unsafe`.
const ALLOWED: &[&str] = &[
    "crates/skeleton/src/pool/",
    "crates/skeleton/src/comm/",
    "crates/files/src/map.rs",
    "crates/sparse/src/micro/",
    "crates/sparse/src/dense/",
    "crates/reduce/src/exec/",
    "crates/python/",
    "crates/testkit/",
];

fn is_allowed(path: &str) -> bool {
    ALLOWED.iter().any(|a| path == *a || (a.ends_with('/') && path.starts_with(a)))
}

fn violations(files: &[Source]) -> Vec<String> {
    files.iter().filter(|f| f.is(&["rs"])).flat_map(of_file).collect()
}

fn of_file(file: &Source) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    let code = code::only(&file.text);
    let sites = code.lines().enumerate().filter(|(_, l)| code::has_word(l, "unsafe"));
    let judged = sites.filter_map(|(i, _)| {
        let at = format!("{}:{}", file.path, i + 1);
        match (is_allowed(&file.path), is_explained(&lines, i)) {
            (false, _) => Some(format!("{at}: unsafe is not allowed here")),
            (true, false) => Some(format!("{at}: unsafe without a SAFETY line above it")),
            (true, true) => None,
        }
    });
    judged.collect()
}

/// Whether a `SAFETY:` comment stands on the line, or in the comments, attributes and the beginning of the same
/// statement right above it. An `unsafe fn` only declares what its callers owe: the blocks inside it and around its calls
/// are judged.
fn is_explained(lines: &[&str], at: usize) -> bool {
    let says = |l: &str| l.contains("SAFETY:");
    let ends_a_statement = |l: &str| l.is_empty() || l.ends_with(';') || l.ends_with('}') || l.ends_with('{');
    let above = lines[..at].iter().rev().map(|l| l.trim());
    let declares = lines[at].contains("unsafe fn") && !lines[at].contains("unsafe {");
    declares || says(lines[at]) || above.take_while(|l| l.starts_with("//") || !ends_a_statement(l)).any(says)
}

#[test]
fn unsafe_stands_only_where_it_may() {
    crate::holds(violations(&crate::project()));
}

#[test]
fn stray_and_unexplained_unsafe_is_caught() {
    let at = |path: &str, text: &str| violations(&[Source::new(path, text)]);
    let word = "unsafe";
    crate::catches(at("crates/graph/src/a.rs", &format!("// SAFETY: x\n{word} {{ f() }}")), &["a.rs:2", "not allowed"]);
    crate::catches(at("crates/sparse/src/micro/a.rs", &format!("let x = 1;\n{word} {{ f() }}")), &["SAFETY"]);
    let far = format!("// SAFETY: about g\ng();\nlet y = {word} {{ f() }};");
    crate::catches(at("crates/sparse/src/dense/a.rs", &far), &["a.rs:3", "SAFETY"]);
    let fine = format!("// SAFETY: the slice is long enough\nlet y =\n    {word} {{ f() }};\n#![allow({word}_code)]");
    assert!(at("crates/skeleton/src/pool/a.rs", &fine).is_empty());
    assert!(at("crates/skeleton/src/pool/a.rs", &format!("{word} fn f() {{}}")).is_empty());
    crate::catches(at("crates/skeleton/src/pool/a.rs", &format!("{word} fn f() {{ {word} {{ g() }} }}")), &["a.rs:1"]);
    crate::catches(at("crates/skeleton/src/pool/a.rs", &format!("{word} impl Send for A {{}}")), &["a.rs:1", "SAFETY"]);
    assert!(at("crates/graph/src/a.rs", &format!("// {word} here\nlet s = \"{word}\";")).is_empty());
}
