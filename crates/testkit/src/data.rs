//! Where the public graphs are that do not ship with the project, and how a test says that it was skipped for want of one.
//!
//! A test that needs such a graph starts with
//! `let Some(cora) = data::public("cora") else { return };`: the skip is printed even when the test passes.

use std::io::Write;
use std::path::PathBuf;

/// Folders looked in, in order: those of `$SAPWOOD_DATA` (a list like `PATH`), then the shared one beside the workspace.
pub fn folders() -> Vec<PathBuf> {
    let set = std::env::var_os("SAPWOOD_DATA").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&set).filter(|p| !p.as_os_str().is_empty()).collect();
    folders.push(crate::workspace_root().join("../shared/data/graphs"));
    folders
}

/// The folder of the public graph `name`, or `None` after a line on stderr that names the skipped test.
pub fn public(name: &str) -> Option<PathBuf> {
    let found = folders().into_iter().map(|f| f.join(name)).find(|p| p.is_dir());
    if found.is_none() {
        skipped(&format!("the graph '{name}' is not in $SAPWOOD_DATA"));
    }
    found
}

/// Says on stderr that the running test was skipped, past the test harness's capture.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    // A lost message is no reason to fail.
    let _ = writeln!(std::io::stderr(), "skipped {}: {why}", thread.name().unwrap_or("a test"));
}
