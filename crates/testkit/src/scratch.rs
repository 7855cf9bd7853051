//! Folders that vanish with the value that names them.

use std::io;
use std::path::Path;

pub use tempfile::TempDir;

/// An empty folder.
///
/// # Errors
/// When the system gives none.
pub fn folder() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("sapwood-test-").tempdir()
}

/// A folder with these files, written as (path inside it, content); folders on the way are made.
///
/// # Errors
/// When one of them cannot be written.
pub fn folder_with(files: &[(&str, &str)]) -> io::Result<TempDir> {
    let folder = folder()?;
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        std::fs::write(path, content)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    #[test]
    fn files_are_written_below_the_folder() {
        let folder = super::folder_with(&[("a/b.txt", "hello")]).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("a/b.txt")).unwrap(), "hello");
    }
}
