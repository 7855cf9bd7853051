//! What every file owes: a size, a name, an opening line, finished code, no place of one machine.

use crate::code;
use sapwood_testkit::source::Source;

const LONGEST: usize = 800;
const VAGUE: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc"];
/// Files whose text a user reads or runs.
const WRITTEN: &[&str] = &["rs", "md", "toml", "py", "sh"];

fn is_written(file: &Source) -> bool {
    file.is(WRITTEN) || file.name() == "Makefile" || file.path.starts_with(".ci/")
}

fn long(files: &[Source]) -> Vec<String> {
    let judged = files.iter().filter(|f| f.is(&["rs", "py", "sh"]));
    let long = judged.map(|f| (f, f.text.lines().count())).filter(|(_, n)| *n > LONGEST);
    long.map(|(f, n)| format!("{}: {n} lines, more than {LONGEST}: it is two ideas, split it", f.path)).collect()
}

fn vague(files: &[Source]) -> Vec<String> {
    let is_vague = |f: &&Source| {
        let mut parts = f.path.trim_end_matches(".rs").split('/');
        f.is(&["rs"]) && parts.any(|p| VAGUE.contains(&p))
    };
    files.iter().filter(is_vague).map(|f| format!("{}: a vague module name", f.path)).collect()
}

fn without_opening(files: &[Source]) -> Vec<String> {
    let silent = |f: &&Source| f.is(&["rs"]) && !f.text.lines().next().is_some_and(|l| l.starts_with("//!"));
    files.iter().filter(silent).map(|f| format!("{}: does not begin with a //! line", f.path)).collect()
}

/// Rust code that says it is not written yet, and gaps in a page that are marked as such.
fn unfinished(files: &[Source]) -> Vec<String> {
    let hits = files.iter().flat_map(|f| {
        let text = if f.is(&["rs"]) { code::only(&f.text) } else { f.text.clone() };
        let is_code = |l: &str| f.is(&["rs"]) && ["todo!", "unimplemented!"].iter().any(|w| l.contains(w));
        let is_gap = |l: &str| f.is(&["md"]) && l.contains("<!-- FILL");
        let lines: Vec<usize> =
            text.lines().enumerate().filter(|(_, l)| is_code(l) || is_gap(l)).map(|(i, _)| i + 1).collect();
        lines.into_iter().map(|i| format!("{}:{i}: unfinished", f.path)).collect::<Vec<_>>()
    });
    hits.collect()
}

/// Absolute paths of somebody's own folders, such as a home folder.
fn machine_paths(files: &[Source]) -> Vec<String> {
    let judged = files.iter().filter(|f| is_written(f));
    let hits = judged.flat_map(|f| {
        let lines = f.text.lines().enumerate().filter(|(_, l)| has_machine_path(l));
        lines.map(|(i, _)| format!("{}:{}: a path of one machine", f.path, i + 1)).collect::<Vec<_>>()
    });
    hits.collect()
}

fn has_machine_path(line: &str) -> bool {
    let continues = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    ["home", "root", "work", "farm", "Users"].iter().any(|top| {
        let path = format!("/{top}/");
        line.match_indices(&path).any(|(i, _)| !line[..i].chars().next_back().is_some_and(continues))
    })
}

/// Each crate takes the lints of the workspace.
fn without_lints(files: &[Source]) -> Vec<String> {
    let of_a_crate = |f: &&Source| f.path.starts_with("crates/") && f.name() == "Cargo.toml";
    let takes = |f: &Source| f.text.contains("[lints]\nworkspace = true");
    files
        .iter()
        .filter(of_a_crate)
        .filter(|f| !takes(f))
        .map(|f| format!("{}: lacks the workspace's lints", f.path))
        .collect()
}

#[test]
fn no_file_is_too_long() {
    crate::holds(long(&crate::project()));
    crate::catches(long(&[Source::new("a.py", &"x\n".repeat(801))]), &["a.py", "801"]);
    assert!(long(&[Source::new("a.py", &"x\n".repeat(800)), Source::new("words.txt", &"x\n".repeat(9000))]).is_empty());
}

#[test]
fn no_module_name_is_vague() {
    crate::holds(vague(&crate::project()));
    crate::catches(vague(&[Source::new("crates/a/src/utils/mod.rs", "//!")]), &["utils/mod.rs"]);
    crate::catches(vague(&[Source::new("crates/a/src/common.rs", "//!")]), &["common.rs"]);
    assert!(vague(&[Source::new("crates/a/src/commonality.rs", "//!")]).is_empty());
}

#[test]
fn every_module_says_what_it_holds() {
    crate::holds(without_opening(&crate::project()));
    crate::catches(without_opening(&[Source::new("crates/a/src/x.rs", "use std::io;\n//! late")]), &["x.rs"]);
    crate::catches(without_opening(&[Source::new("crates/a/src/empty.rs", "")]), &["empty.rs"]);
}

#[test]
fn no_code_is_unfinished() {
    crate::holds(unfinished(&crate::project()));
    let word = "todo";
    crate::catches(unfinished(&[Source::new("a.rs", &format!("fn f() {{\n    {word}!()\n}}"))]), &["a.rs:2"]);
    crate::catches(unfinished(&[Source::new("a.md", "Output:\n<!-- FILL: it -->\n")]), &["a.md:2"]);
    assert!(unfinished(&[Source::new("a.rs", &format!("// {word}!() in a comment"))]).is_empty());
}

#[test]
fn no_path_of_one_machine() {
    crate::holds(machine_paths(&crate::project()));
    let path = format!("see /{}/me/data", "home");
    crate::catches(machine_paths(&[Source::new("docs/a.md", &path)]), &["docs/a.md:1"]);
    let inside = format!("the net/{}/x and a/{}/b", "home", "root");
    assert!(machine_paths(&[Source::new("docs/a.md", &inside)]).is_empty());
    assert!(machine_paths(&[Source::new("data/list.tsv", &path)]).is_empty());
}

#[test]
fn every_crate_takes_the_lints() {
    crate::holds(without_lints(&crate::project()));
    crate::catches(without_lints(&[Source::new("crates/a/Cargo.toml", "[package]\n")]), &["crates/a"]);
}
