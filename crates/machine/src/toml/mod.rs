//! Machine files: `section` walks TOML and remembers what is wrong and where, `read` turns a document into a tree,
//! `write` turns a tree into a document that reads back equal. Other crates ask the tree; none of them parses the file.

mod keys;
mod read;
mod section;
mod write;

use std::path::Path;

use crate::tree::Tree;
use crate::{Error, Problem, Result};

/// What a look at a machine file gives.
#[derive(Debug, Clone)]
pub struct Report {
    /// The machine, if the file describes one.
    pub tree: Option<Tree>,
    /// Everything that keeps it from being one, by line.
    pub errors: Vec<Problem>,
    /// What is allowed but may not be meant, by line.
    pub warnings: Vec<Problem>,
}

/// Reads the text of a machine file and says everything that is wrong or odd.
pub fn check(text: &str) -> Report {
    read::read(text)
}

impl Tree {
    /// Reads a machine file; `-` is standard input.
    ///
    /// # Errors
    /// When the file cannot be read or is no machine: then with every problem and its line.
    pub fn read(path: &Path) -> Result<Self> {
        let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
        Self::parse(&text_of(path)?, &name)
    }

    /// Reads the text of a machine file; `name` stands in messages.
    ///
    /// # Errors
    /// As [`Tree::read`].
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let Report { tree, errors, .. } = check(text);
        tree.ok_or_else(|| Error::Invalid { file: name.to_owned(), problems: errors })
    }

    /// The text of a machine file that reads back as an equal tree.
    pub fn write(&self) -> String {
        write::write(self)
    }
}

/// The text of a machine file, for [`check`]; `-` is standard input.
///
/// # Errors
/// When the file cannot be read or is not UTF-8.
pub fn text_of(path: &Path) -> Result<String> {
    String::from_utf8(sapwood_files::read(path)?).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        let message = "not UTF-8, save the file in that encoding".to_owned();
        let problems = vec![Problem { line, key: "text".to_owned(), message }];
        Error::Invalid { file: path.display().to_string(), problems }
    })
}
