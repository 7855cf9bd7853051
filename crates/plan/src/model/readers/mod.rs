//! Readers of model descriptions. One file per format, one line in [`ALL`].

mod own_toml;
mod sapp_json;

use super::Model;
use crate::{Error, Result};
use std::path::Path;

/// Every reader.
pub static ALL: &[Entry] = &[own_toml::ENTRY, sapp_json::ENTRY];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name of the format.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Whether a text looks like it.
    pub recognises: fn(&str) -> bool,
    /// Reads a text; messages name the place in it.
    pub read: fn(&str, &Options) -> std::result::Result<Model, String>,
}

/// What the user says about a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The time of a layer in a SAPP file is forward and backward together.
    pub sapp_total: bool,
    /// A recomputed layer needs the memory of its activations once more while its backward runs.
    pub transient: bool,
}

/// Reads a model description of any known format, compressed or not.
///
/// # Errors
/// [`Error::Files`] when it cannot be read, [`Error::Model`] when it is of no known format or wrong.
pub fn read(path: &Path, options: &Options) -> Result<Model> {
    let bytes = sapwood_files::read(path)?;
    parse(&path.display().to_string(), &bytes, options)
}

/// The same of bytes that are called `name`.
///
/// # Errors
/// [`Error::Model`].
pub fn parse(name: &str, bytes: &[u8], options: &Options) -> Result<Model> {
    let wrong = |what: String| Error::Model { file: name.to_owned(), what };
    let text = std::str::from_utf8(bytes).map_err(|e| wrong(format!("no UTF-8 text: {e}")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let known = || ALL.iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
    let entry = ALL.iter().find(|e| (e.recognises)(text));
    let entry = entry.ok_or_else(|| wrong(format!("no known description of a model; formats: {}", known())))?;
    (entry.read)(text, options).map_err(wrong)
}
