//! The house rules that no compiler holds, each as a function over the project's own files.
//!
//! A rule returns one line per violation, and each is also run on a planted violation: a rule that cannot fail is
//! none. To add a rule, add a function to the module of its kind and two tests. `CONTRIBUTING.md` has them in words.
#![cfg(test)]

mod arrows;
mod code;
mod docs;
mod files;
mod registries;
mod threads;
mod unsafe_code;

use sapwood_testkit::source::{self, Source};

/// Every text file of the project.
fn project() -> Vec<Source> {
    match source::all(&sapwood_testkit::workspace_root()) {
        Ok(files) => files,
        Err(error) => unreachable!("the project cannot be read: {error}"),
    }
}

/// Fails with all violations, one a line.
#[track_caller]
fn holds(violations: Vec<String>) {
    assert!(violations.is_empty(), "house rule broken:\n  {}", violations.join("\n  "));
}

/// Fails unless there is exactly one violation and it names all of `words`.
#[track_caller]
fn catches(violations: Vec<String>, words: &[&str]) {
    assert_eq!(violations.len(), 1, "one violation was planted, found: {violations:?}");
    for word in words {
        assert!(violations[0].contains(word), "'{word}' is not in '{}'", violations[0]);
    }
}
