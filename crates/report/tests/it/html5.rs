//! Pages before a strict parser of HTML: html5lib, where a Python has it.

use crate::samples::{AWKWARD, RUDE, report};
use sapwood_report::{Report, Section};
use std::path::PathBuf;
use std::process::Command;

const PROGRAM: &str = "
import sys, html5lib
for path in sys.argv[1:]:
    with open(path, encoding='utf-8', newline='') as f:
        html5lib.HTMLParser(strict=True).parse(f.read())
";

/// A Python with html5lib: `SAPWOOD_PYTHON`, `.venv`, the system's.
fn python() -> Option<PathBuf> {
    let root = sapwood_testkit::workspace_root();
    let given = std::env::var_os("SAPWOOD_PYTHON").map(PathBuf::from);
    let tries = given.into_iter().chain([root.join(".venv/bin/python"), "python3".into()]);
    let has = |python: &PathBuf| {
        Command::new(python).args(["-c", "import html5lib"]).output().is_ok_and(|output| output.status.success())
    };
    tries.into_iter().find(has)
}

#[test]
fn a_strict_parser_accepts_every_page() {
    let Some(python) = python() else {
        return sapwood_testkit::data::skipped("no Python with html5lib (SAPWOOD_PYTHON, or .venv)");
    };
    let folder = sapwood_testkit::scratch::folder().unwrap();
    let pages = [
        report(AWKWARD, RUDE, 3),
        report(AWKWARD, RUDE, 40),
        report(&[], &[], 0),
        Report::new(""),
        Report::new("one").section(Section::new("").details("", [])),
    ];
    let mut command = Command::new(python);
    command.args(["-c", PROGRAM]);
    for (i, page) in pages.iter().enumerate() {
        let path = folder.path().join(format!("{i}.html"));
        std::fs::write(&path, page.html()).unwrap();
        command.arg(path);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
