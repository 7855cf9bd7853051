//! Writing files that are either whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::{Error, Result};

const BUFFER: usize = 128 << 10;

/// Writes `path` through `f`: into a temporary file of the same folder, then to disk, then renamed
/// over `path`. On any error the temporary file is removed and an existing file stays untouched.
/// Symbolic links are followed, permissions of an existing file are kept. Devices and pipes
/// (`/dev/null`) are written directly. `-` is refused: standard output belongs to the command line.
///
/// # Errors
/// Those of `f` and of the file system, naming `path`.
pub fn write_atomic(path: &Path, f: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let fail = |e| Error::io("write", path, e);
    if path == Path::new("-") {
        let text = "standard output cannot be replaced, write `./-` for a file of that name";
        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, text)));
    }
    match fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(fail(io::ErrorKind::IsADirectory.into())),
        Ok(old) if !old.is_file() => directly(path, f).map_err(fail),
        Ok(old) => replace(path, Some(old.permissions()), f).map_err(fail),
        Err(e) if e.kind() == io::ErrorKind::NotFound => replace(path, None, f).map_err(fail),
        Err(e) => Err(fail(e)),
    }
}

/// Refuses to replace a file of another kind: one whose first bytes are not `beginning`, as far as it has so many. A path
/// without a file, and one of a device, may be written.
///
/// # Errors
/// When there is such a file, or it cannot be read.
pub fn check_replaceable(path: &Path, beginning: &str) -> Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    let fail = |e| Error::io("replace", path, e);
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(beginning.len() as u64).read_to_end(&mut head)).map_err(fail)?;
    match beginning.as_bytes().starts_with(&head) {
        true => Ok(()),
        false => Err(fail(io::Error::new(io::ErrorKind::AlreadyExists, "it holds something else"))),
    }
}

fn directly(path: &Path, f: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, OpenOptions::new().write(true).open(path)?);
    f(&mut out)?;
    out.flush()
}

fn replace(
    path: &Path,
    permissions: Option<fs::Permissions>,
    f: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // a link is replaced at its far end, so that the link itself stays
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder(&target);
    let mut temporary = beside(&folder, &target)?;
    let mut out = BufWriter::with_capacity(BUFFER, temporary.as_file_mut());
    f(&mut out)?;
    out.flush()?;
    drop(out);
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|e| e.error)?;
    // the new name is on disk too; not every file system lets a folder be synced
    let _ = File::open(&folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn folder(target: &Path) -> PathBuf {
    match target.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn beside(folder: &Path, target: &Path) -> io::Result<NamedTempFile> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // long names leave no room for the random part
    let start: String = name.chars().take(40).collect();
    let prefix = format!(".{start}.");
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
    builder.tempfile_in(folder)
}
