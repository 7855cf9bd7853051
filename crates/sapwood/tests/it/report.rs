//! `--report`: one file that needs nothing else, with what the table says and why.

use sapwood_testkit::program::{Program, Ran};
use sapwood_testkit::workspace_root;
use std::path::PathBuf;
use std::process::Command;

fn train(line: &str) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["train"]).line(line);
    program.within(&workspace_root()).run().unwrap()
}

/// The page that a call writes, and what it printed.
fn page(line: &str) -> (String, Ran) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.html");
    let ran = train(&format!("{line} --report {}", path.display()));
    let page = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr));
    strict(&path);
    (page, ran)
}

/// The page passes a strict parser of HTML, where a Python has html5lib.
fn strict(path: &std::path::Path) {
    let given = std::env::var_os("SAPWOOD_PYTHON").map(PathBuf::from);
    let python = given.unwrap_or_else(|| workspace_root().join(".venv/bin/python"));
    let parse = "import sys, html5lib; html5lib.HTMLParser(strict=True).parse(open(sys.argv[1], 'rb').read())";
    let has = Command::new(&python).args(["-c", "import html5lib"]).output().is_ok_and(|o| o.status.success());
    if !has {
        return sapwood_testkit::data::skipped("no Python with html5lib (SAPWOOD_PYTHON, or .venv)");
    }
    let parsed = Command::new(&python).args(["-c", parse]).arg(path).output().unwrap();
    assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
}

#[test]
fn a_report_says_what_the_table_says_and_needs_no_network() {
    let (page, ran) = page("karate --layers 3 --hidden 8 --epochs 12 --eval-every 2 --seeds 6");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for part in [
        "Results",
        "Paired differences",
        "Learning curves",
        "Validation loss",
        "Stability",
        "What sampling does to the graph",
        "Drop probabilities",
        "Drop probability by rank",
        "Dirichlet energy",
        "Confusion matrix",
        "Time",
        "How to repeat this",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Mean accuracies stand on the page as in the table.
    let means: Vec<&str> = ran.stdout.lines().skip(2).take(3).filter_map(|l| l.split_whitespace().nth(1)).collect();
    assert!(means.len() == 3 && means.iter().all(|mean| page.contains(mean)), "{means:?}");
    assert!(ran.stdout.lines().filter(|l| l.contains(" against ")).all(|verdict| page.contains(verdict)));
    let outside = ["src=\"", "@import", "<script", "<link", "url(http"];
    assert!(outside.iter().all(|needle| !page.contains(needle)), "the page asks for something outside");
}

#[test]
fn reports_of_broken_short_and_swept_runs_are_whole_pages() {
    let (broken, ran) = page("karate --layers 2 --epochs 9 --seeds 1 --sampler none --lr 1e30");
    assert_eq!(ran.code, Some(1));
    assert!(broken.contains("stopped in epoch 1, convs.1.lin gave a value that is no number"));
    let (short, _) = page("karate --layers 1 --epochs 1 --seeds 1 --sampler none --model mlp");
    assert!(short.contains("Confusion matrix") && !short.contains("NaN"));
    let (swept, _) = page("karate --layers 2 --hidden 8 --epochs 4 --seeds 2 --sweep p=0.2,0.4");
    assert!(swept.contains("share of the pairs that is dropped"));
    let (messages, _) = page("karate --layers 2 --hidden 8 --epochs 4 --seeds 2 --sampler dropmessage --against none");
    assert!(messages.contains("The sampled graphs") && !messages.contains("Drop probability by rank"));
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_training() {
    let refused = |line: &str| {
        let ran = train(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        ran.stderr
    };
    assert!(refused("karate --report no/such/folder/x.html").contains("its folder is not there"));
    assert!(refused("karate --report data").contains("it is a folder"));
    let ran = Program::new(env!("CARGO_BIN_EXE_sapwood")).line("rank karate --report x.html").run().unwrap();
    assert!(ran.stderr.contains("only `sapwood train` and `sapwood plan` make reports yet"), "{}", ran.stderr);
}
