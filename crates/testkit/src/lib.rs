//! What Sapwood's tests share: data folders, the built program, blocks of a README, source files, scratch folders.
//!
//! Never published and never a dependency of anything but tests. It knows none of the other crates, so every one of
//! them may use it. Nothing here asserts: functions return what they found and the test judges.

pub mod data;
pub mod program;
pub mod readme;
pub mod scratch;
pub mod source;

use std::path::{Path, PathBuf};

/// The folder of the workspace's `Cargo.toml`.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
