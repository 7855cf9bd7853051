//! The project's own text files, for the tests of the house rules.

use std::io;
use std::path::Path;

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Path below the root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// A file that exists only in a test.
    pub fn new(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    /// The part of the path after its last `/`.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the path ends in one of these extensions, written without the dot.
    pub fn is(&self, extensions: &[&str]) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, e)| extensions.contains(&e))
    }
}

/// Folders that hold what tools made, or nothing of ours.
const SKIPPED: &[&str] = &["target", "node_modules", "__pycache__", "site-packages"];

/// Every UTF-8 file below `root`, sorted by path; hidden entries (but `.ci`) and build folders are left out.
///
/// # Errors
/// When a folder or a file cannot be read.
pub fn all(root: &Path) -> io::Result<Vec<Source>> {
    let mut found = Vec::new();
    walk(root, "", &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<Source>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        let hidden = name.starts_with('.') && name != ".ci";
        if kind.is_dir() && !hidden && !SKIPPED.contains(&name.as_str()) {
            walk(&entry.path(), &format!("{path}/"), found)?;
        } else if kind.is_file()
            && !hidden
            && let Ok(text) = String::from_utf8(std::fs::read(entry.path())?)
        {
            found.push(Source { path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_below_and_skips_what_is_made() {
        let files = [("src/a.rs", "x"), ("target/b.rs", "y"), (".git/c", "z"), (".ci/run", "r")];
        let folder = crate::scratch::folder_with(&files).unwrap();
        let paths: Vec<String> = all(folder.path()).unwrap().into_iter().map(|s| s.path).collect();
        assert_eq!(paths, [".ci/run", "src/a.rs"]);
    }

    #[test]
    fn names_and_extensions() {
        let s = Source::new("a/b.tar.gz", "");
        assert_eq!(s.name(), "b.tar.gz");
        assert!(s.is(&["gz"]) && !s.is(&["tar", "rs"]));
    }
}
