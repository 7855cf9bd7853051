//! How far a saved experiment was meant to go, for who resumes it without saying so again.

use super::{RunFolder, State};
use std::path::Path;

/// Folders between that of an experiment and those of its runs: method and seed, and before them the rate of a sweep.
pub const DEPTH: usize = 3;

/// The largest numbers that the saved runs of an experiment were made with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Epochs of a run.
    pub epochs: Option<u32>,
    /// Seeds.
    pub seeds: Option<u32>,
}

impl Extent {
    /// Of the runs below `folder`. What is no whole checkpoint counts for nothing here: who reads the run refuses it.
    pub fn of(folder: &Path) -> Extent {
        let mut extent = Extent::default();
        extent.visit(folder, DEPTH);
        extent
    }

    fn visit(&mut self, folder: &Path, depth: usize) {
        if let Ok(Some(latest)) = RunFolder::new(folder.to_owned()).latest() {
            if let Ok(state) = State::read(&latest) {
                let number = |name| state.settings.get(name).and_then(toml::Value::as_integer);
                let number = |name| number(name).and_then(|v| u32::try_from(v).ok());
                self.epochs = self.epochs.max(number("epochs"));
                self.seeds = self.seeds.max(number("seeds"));
            }
        } else if depth > 0 {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    self.visit(&entry.path(), depth - 1);
                }
            }
        }
    }
}
