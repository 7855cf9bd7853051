//! The files of a TSV folder, on disk or inside the program, decompressed, with what identifies them.

use crate::{Error, Result};
use sapwood_files::digest::Sha256;
use std::path::{Path, PathBuf};

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FileFact {
    /// Path below the folder of the data set; of a data set in one file, its name.
    pub path: String,
    /// Size as stored, compressed or not.
    pub size_bytes: u64,
    /// SHA-256 of the bytes as stored, in hex.
    pub sha256: String,
}

/// Where the files of a data set are.
#[derive(Debug, Clone)]
pub(crate) enum Home {
    /// A folder.
    Folder(PathBuf),
    /// Inside the program: names and contents.
    #[cfg_attr(not(feature = "debian"), expect(dead_code, reason = "the embedded set is a feature"))]
    Embedded(&'static [(&'static str, &'static [u8])]),
}

/// The files of a data set; remembers those that were read.
#[derive(Debug)]
pub(crate) struct Files {
    home: Home,
    read: Vec<FileFact>,
}

/// A file in memory.
#[derive(Debug)]
pub(crate) struct Text {
    /// What messages call it.
    pub(crate) name: String,
    /// Decompressed, without a byte order mark.
    pub(crate) bytes: Vec<u8>,
}

/// The endings a file may have, in the order in which they are tried.
const ENDINGS: [&str; 3] = ["", ".gz", ".zst"];

/// Refuses a role that two files claim: which of them counts is not ours to guess.
fn only_one(folder: &Path, name: &str) -> Result<()> {
    let names = ENDINGS.map(|ending| format!("{name}{ending}")).into_iter();
    let found: Vec<String> = names.filter(|name| folder.join(name).symlink_metadata().is_ok()).collect();
    match &found[..] {
        [_, _, ..] => {
            let what = format!("{} are all there; keep one of them", found.join(" and "));
            Err(Error::file(folder.display().to_string(), what))
        }
        _ => Ok(()),
    }
}

impl Files {
    pub(crate) fn new(home: Home) -> Files {
        Files { home, read: Vec::new() }
    }

    /// The file `name`, compressed or not, if there is one.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<Text>> {
        let (path, shown, raw) = match &self.home {
            Home::Folder(folder) => match sapwood_files::find(folder, name) {
                Some(path) => {
                    only_one(folder, name)?;
                    let raw = sapwood_files::stored(&path)?;
                    (file_name(&path), path.display().to_string(), raw)
                }
                None => return Ok(None),
            },
            Home::Embedded(all) => {
                let found = ENDINGS.iter().find_map(|e| all.iter().find(|(n, _)| n.strip_prefix(name) == Some(e)));
                match found {
                    Some(&(stored, bytes)) => (stored.to_owned(), stored.to_owned(), bytes.to_vec()),
                    None => return Ok(None),
                }
            }
        };
        self.read.push(fact(path, &raw));
        let mut bytes = sapwood_files::decode(&raw, &shown)?;
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        Ok(Some(Text { name: shown, bytes }))
    }

    /// Names of all files, sorted, without the endings of compression; a name may stand twice.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = match &self.home {
            Home::Folder(folder) => names_in(folder)?,
            Home::Embedded(all) => all.iter().map(|(name, _)| (*name).to_owned()).collect(),
        };
        for name in &mut names {
            if let Some(plain) = name.strip_suffix(".gz").or(name.strip_suffix(".zst")) {
                *name = plain.to_owned();
            }
        }
        names.sort();
        Ok(names)
    }

    /// The stored name of `plain`, with its ending: what messages call a file that is not read.
    pub(crate) fn stored_name(&self, plain: &str) -> String {
        match &self.home {
            Home::Folder(folder) => {
                sapwood_files::find(folder, plain).unwrap_or_else(|| folder.join(plain)).display().to_string()
            }
            Home::Embedded(_) => plain.to_owned(),
        }
    }

    /// The home, in words.
    pub(crate) fn place(&self) -> String {
        match &self.home {
            Home::Folder(folder) => folder.display().to_string(),
            Home::Embedded(_) => "the embedded data set".into(),
        }
    }

    /// Files read so far, sorted by path.
    pub(crate) fn into_facts(mut self) -> Vec<FileFact> {
        self.read.sort_by(|a, b| a.path.cmp(&b.path));
        self.read
    }
}

/// Names of what `folder` holds beside folders, in no order.
pub(crate) fn names_in(folder: &Path) -> Result<Vec<String>> {
    let fail = |e| Error::Files(sapwood_files::Error::io("list", folder, e));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if !entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
}

fn fact(path: String, raw: &[u8]) -> FileFact {
    let mut sha = Sha256::new();
    sha.update(raw);
    FileFact { path, size_bytes: raw.len() as u64, sha256: sha.hex() }
}

/// What identifies the file at `path`.
pub(crate) fn fact_of(path: &Path) -> Result<FileFact> {
    let size = std::fs::metadata(path).map_err(|e| sapwood_files::Error::io("read", path, e))?.len();
    Ok(FileFact { path: file_name(path), size_bytes: size, sha256: sapwood_files::digest::file(path)? })
}
