//! The folder of one run: whole checkpoints, and `latest`, which names the one that counts.

use crate::{Error, Result};
use sapwood_files::{digest, write_atomic};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name of the empty file in the folder of an experiment that a process holds while it saves there.
pub const LOCK: &str = "lock";

/// The folder of one run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

/// What the file `latest` says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pointer {
    /// Name of a folder beside it.
    name: String,
    /// SHA-256 of each file in it.
    files: BTreeMap<String, String>,
}

/// A whole checkpoint.
#[derive(Debug)]
pub struct Latest {
    /// Its folder.
    pub path: PathBuf,
    /// Epochs it holds.
    pub epoch: u32,
    files: BTreeMap<String, String>,
}

impl RunFolder {
    /// The run that is, or will be, in `path`.
    pub fn new(path: PathBuf) -> RunFolder {
        RunFolder { path }
    }

    /// Its newest whole checkpoint, if there is one.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] when `latest` cannot be read or understood.
    pub fn latest(&self) -> Result<Option<Latest>> {
        let file = self.path.join("latest");
        let text = match stored(&file) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::checkpoint_io(&file, "cannot be read", e)),
        };
        let pointer: Pointer =
            toml::from_str(&text).map_err(|e| Error::checkpoint(&file, format!("is damaged: {}", e.message())))?;
        let epoch = pointer.name.strip_prefix("epoch-").and_then(|n| n.parse().ok());
        let epoch = epoch.ok_or_else(|| Error::checkpoint(&file, format!("names no epoch: {:?}", pointer.name)))?;
        Ok(Some(Latest { path: self.path.join(&pointer.name), epoch, files: pointer.files }))
    }

    /// Saves `files`, names and contents, as the checkpoint of `epoch`.
    pub(super) fn save(&self, epoch: u32, files: &[(&str, Vec<u8>)]) -> Result<()> {
        let name = format!("epoch-{epoch}");
        let (whole, partial) = (self.path.join(&name), self.path.join(format!("{name}.tmp")));
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |e| Error::checkpoint_io(&path, "cannot be written", e)
        };
        remove(&partial).map_err(failed(&partial))?;
        fs::create_dir_all(&partial).map_err(failed(&partial))?;
        let mut digests = BTreeMap::new();
        for (file, bytes) in files {
            let path = partial.join(file);
            write_through(&path, bytes).map_err(failed(&path))?;
            let mut sha = digest::Sha256::new();
            sha.update(bytes);
            digests.insert((*file).to_owned(), sha.hex());
        }
        sync(&partial);
        // One of this name was renamed just before a kill. It is not the latest: a run saves after new epochs only.
        remove(&whole).map_err(failed(&whole))?;
        fs::rename(&partial, &whole).map_err(failed(&whole))?;
        sync(&self.path);
        let pointer = Pointer { name: name.clone(), files: digests };
        let text = toml::to_string(&pointer).map_err(|e| Error::checkpoint(&whole, e.to_string()))?;
        write_atomic(&self.path.join("latest"), |out| out.write_all(text.as_bytes()))?;
        self.clean(&name);
        Ok(())
    }

    /// Removes all checkpoints but the one called `keep`; one that cannot be removed does no harm.
    fn clean(&self, keep: &str) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with("epoch-") && name != keep) {
                let _ = remove(&entry.path());
            }
        }
    }
}

impl Latest {
    /// One of its files, checked against its digest.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] when it is missing or not what was written.
    pub fn file(&self, name: &str) -> Result<Contents> {
        let path = self.path.join(name);
        let bytes = stored(&path).map_err(|e| Error::checkpoint_io(&path, "cannot be read", e))?;
        let mut sha = digest::Sha256::new();
        sha.update(&bytes);
        match self.files.get(name) {
            Some(expected) if *expected == sha.hex() => Ok(Contents { path, bytes }),
            Some(_) => Err(Error::checkpoint(&path, "is damaged: its digest is not the one noted in `latest`")),
            None => Err(Error::checkpoint(&path, "is not listed in `latest`")),
        }
    }
}

/// The bytes of a file and where they come from.
#[derive(Debug)]
pub struct Contents {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// The bytes of a file; a named pipe is refused, not waited for.
fn stored(path: &Path) -> std::io::Result<Vec<u8>> {
    sapwood_files::stored(path).map_err(|e| match e {
        sapwood_files::Error::Io { source, .. } => source,
        other => std::io::Error::other(other),
    })
}

/// Whether there is something in `folder`, and no process has saved there.
pub(super) fn is_foreign(folder: &Path) -> bool {
    !folder.join(LOCK).exists() && fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// Takes `folder` for this process until the file is dropped or the process ends; `None` where the file system has no
/// locks or does not let us write.
///
/// # Errors
/// [`Error::Checkpoint`] when another process has it.
pub(super) fn lock(folder: &Path) -> Result<Option<File>> {
    let Ok(file) = File::options().create(true).truncate(false).write(true).open(folder.join(LOCK)) else {
        return Ok(None);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Err(Error::checkpoint(folder, "is in use by another process")),
        Err(fs::TryLockError::Error(_)) => Ok(None),
    }
}

/// Removes a folder and what is in it, or nothing if there is none.
fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Writes a new file and brings it to disk.
fn write_through(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Brings the names in a folder to disk, where the file system can.
fn sync(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, RunFolder) {
        let dir = tempfile::tempdir().unwrap();
        let run = RunFolder::new(dir.path().join("none/seed-0"));
        (dir, run)
    }

    #[test]
    fn the_newest_is_found_and_older_ones_go() {
        let (dir, run) = folder();
        assert!(run.latest().unwrap().is_none());
        run.save(10, &[("a", b"one".to_vec())]).unwrap();
        run.save(20, &[("a", b"two".to_vec()), ("b", vec![])]).unwrap();
        let latest = run.latest().unwrap().unwrap();
        assert_eq!((latest.epoch, latest.file("a").unwrap().bytes), (20, b"two".to_vec()));
        let names: Vec<_> =
            fs::read_dir(dir.path().join("none/seed-0")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        run.save(20, &[("a", b"again".to_vec())]).unwrap();
        assert_eq!(run.latest().unwrap().unwrap().file("a").unwrap().bytes, b"again");
    }

    #[test]
    fn what_a_kill_leaves_behind_changes_nothing() {
        let (dir, run) = folder();
        run.save(10, &[("a", b"one".to_vec())]).unwrap();
        let here = dir.path().join("none/seed-0");
        fs::create_dir_all(here.join("epoch-20.tmp")).unwrap();
        fs::write(here.join("epoch-20.tmp/a"), b"tw").unwrap();
        fs::create_dir_all(here.join("epoch-30")).unwrap();
        assert_eq!(run.latest().unwrap().unwrap().epoch, 10);
        run.save(20, &[("a", b"two".to_vec())]).unwrap();
        assert_eq!(run.latest().unwrap().unwrap().file("a").unwrap().bytes, b"two");
        run.save(30, &[("a", b"three".to_vec())]).unwrap();
        assert_eq!(run.latest().unwrap().unwrap().epoch, 30);
    }

    #[test]
    fn damage_is_named() {
        let (dir, run) = folder();
        run.save(10, &[("a", b"one".to_vec())]).unwrap();
        let here = dir.path().join("none/seed-0");
        fs::write(here.join("epoch-10/a"), b"onf").unwrap();
        let says = |r: Result<Contents>| r.unwrap_err().to_string();
        let latest = run.latest().unwrap().unwrap();
        assert!(says(latest.file("a")).contains("a is damaged"), "{}", says(latest.file("a")));
        fs::remove_file(here.join("epoch-10/a")).unwrap();
        assert!(says(latest.file("a")).contains("cannot be read"));
        assert!(says(latest.file("b")).contains("cannot be read"));
        fs::write(here.join("latest"), b"name = \"epoch-x\"\n[files]\n").unwrap();
        assert!(run.latest().unwrap_err().to_string().contains("names no epoch"));
        fs::write(here.join("latest"), b"name").unwrap();
        assert!(run.latest().unwrap_err().to_string().contains("is damaged"));
    }
}
