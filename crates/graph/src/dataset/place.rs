//! Where data sets are: inside the program, in `$SAPWOOD_DATA`, in `./data`, at a path, or nowhere yet (generators).

use super::files::names_in;
use super::{ALL, Entry};
use crate::generator::{self, Recipe};
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// What a data set's name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Inside the program.
    Embedded(String),
    /// To be made by a generator from this spec.
    Generated(String),
    /// A folder and the names of the files in it.
    Folder(PathBuf, Vec<String>),
    /// A file.
    File(PathBuf),
    /// What stands behind the prefix of a kind, and the paths it may mean, in the order in which they are tried.
    Asked { spec: String, paths: Vec<PathBuf> },
}

/// A data set that [`list`] found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Listed {
    /// What `load` takes.
    pub name: String,
    /// Kind: [`Entry::name`].
    pub kind: &'static str,
    /// Where it is; none if it is inside the program.
    pub path: Option<PathBuf>,
}

/// The folders in which names are looked for, in order: those of `$SAPWOOD_DATA`, then `./data`.
pub fn folders() -> Vec<PathBuf> {
    let set = std::env::var_os("SAPWOOD_DATA").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&set).filter(|p| !p.as_os_str().is_empty()).collect();
    folders.push(PathBuf::from("data"));
    folders
}

/// Endings of files that this version does not read, and what to do instead.
const NOT_BUILT: &[(&str, &str)] = &[(".spw", "write it as Matrix Market or as an edge list")];

/// The place that `spec` names and the kind of source that reads it.
pub(super) fn find(spec: &str) -> Result<(&'static Entry, Place)> {
    if prefixed(spec).map_or(spec, |(_, rest)| rest).is_empty() {
        let hint = "name a folder or a file, as in debian, planetoid:DIR/cora or ogb:DIR".to_owned();
        return Err(Error::NotFound { name: spec.into(), tried: vec!["nothing".into()], hint });
    }
    if Recipe::parse(spec)?.is_some() {
        return Ok((&super::generated::ENTRY, Place::Generated(spec.into())));
    }
    if let Some((entry, rest)) = prefixed(spec) {
        return Ok((entry, Place::Asked { spec: spec.into(), paths: candidates(rest) }));
    }
    if let Some((ending, instead)) = NOT_BUILT.iter().find(|(ending, _)| spec.ends_with(ending)) {
        return Err(not_built(&format!("{ending} files"), instead));
    }
    if let Some(entry) = ALL.iter().find(|e| e.embedded.contains(&spec)) {
        return Ok((entry, Place::Embedded(spec.into())));
    }
    if spec == "debian" {
        return Err(not_built("the embedded data set 'debian'", "build with the feature debian"));
    }
    let mut tried = Vec::new();
    for path in candidates(spec) {
        if let Some(place) = at(&path)? {
            let entry = claimed(&place).ok_or_else(|| not_a_data_set(&path, &place))?;
            return Ok((entry, place));
        }
        tried.push(path.display().to_string());
    }
    if let Some(generator) = generator::ALL.iter().find(|e| e.name == spec) {
        let hint = format!("{spec} is a generator: write its parameters, as in {}", generator.example);
        return Err(Error::NotFound { name: spec.into(), tried, hint });
    }
    let hint = format!(
        "a data set is a folder with edges.tsv, ind.NAME.graph or raw/edge.csv.gz, or an npz, edge list or Matrix Market file: set SAPWOOD_DATA to the folder that \
         holds {spec}, or make it by 'sapwood data convert FILE -o data/{spec}'; 'sapwood data list' shows what there is"
    );
    Err(Error::NotFound { name: spec.into(), tried, hint })
}

/// The kind whose prefix begins `spec`, and what stands behind it.
fn prefixed(spec: &str) -> Option<(&'static Entry, &str)> {
    let (word, rest) = spec.split_once(':')?;
    ALL.iter().find(|e| e.prefix == Some(word)).map(|entry| (entry, rest))
}

fn not_built(what: &str, instead: &str) -> Error {
    Error::NotBuilt { what: format!("reading {what}"), instead: instead.into() }
}

/// Paths to look at. A bare name is looked for in the folders first, anything with a separator as it is first.
fn candidates(spec: &str) -> Vec<PathBuf> {
    let path = PathBuf::from(spec);
    let below = folders().into_iter().map(|folder| folder.join(spec));
    let bare = path.components().count() == 1 && !spec.contains(std::path::MAIN_SEPARATOR) && !spec.starts_with('.');
    if path.is_absolute() {
        vec![path]
    } else if bare {
        below.chain([path]).collect()
    } else {
        std::iter::once(path).chain(below).collect()
    }
}

/// What is at `path`, if anything is.
fn at(path: &Path) -> Result<Option<Place>> {
    if path.is_dir() {
        return Ok(Some(Place::Folder(path.into(), names_in(path)?)));
    }
    Ok(path.exists().then(|| Place::File(path.into())))
}

fn claimed(place: &Place) -> Option<&'static Entry> {
    ALL.iter().find(|e| (e.claims)(place))
}

fn not_a_data_set(path: &Path, place: &Place) -> Error {
    let what = match place {
        Place::Folder(..) => {
            "this folder is no data set: it has no edges.tsv, arcs.tsv, ind.NAME.graph or raw/edge.csv (nor their .gz or .zst)"
        }
        _ => {
            "this is no graph file; use a folder with edges.tsv, a Matrix Market file (.mtx), an edge list (.txt, .tsv) or .npz"
        }
    };
    Error::file(path.display().to_string(), what)
}

/// The data sets inside the program and in [`folders`], down to two levels, each name once, sorted by name.
pub fn list() -> Vec<Listed> {
    let embedded = ALL.iter().flat_map(|e| e.embedded.iter().map(move |n| (e, n)));
    let mut found: Vec<Listed> =
        embedded.map(|(e, name)| Listed { name: (*name).into(), kind: e.name, path: None }).collect();
    for folder in folders() {
        let mut here = Vec::new();
        collect(&folder, "", 2, &mut here);
        here.retain(|l| found.iter().all(|f| f.name != l.name));
        found.append(&mut here);
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Adds the data sets directly in `folder`, and in folders that are none themselves. Unreadable ones are passed over.
fn collect(folder: &Path, prefix: &str, levels: usize, found: &mut Vec<Listed>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), format!("{prefix}{}", entry.file_name().to_string_lossy()));
        if name.starts_with('.') {
            continue;
        }
        let Ok(Some(place)) = at(&path) else { continue };
        match claimed(&place) {
            Some(entry) => found.push(Listed { name, kind: entry.name, path: Some(path) }),
            None if levels > 1 && path.is_dir() => collect(&path, &format!("{name}/"), levels - 1, found),
            None => {}
        }
    }
}
