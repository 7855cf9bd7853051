//! Plans written for frameworks: all texts are made before anything is written.

use crate::cli::Failure;
use crate::verb::page::check_place;
use sapwood_plan::export::{self, Plan};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

/// `KIND=PATH` of the command line.
#[derive(Debug, Clone)]
pub(super) struct Export {
    pub(super) kind: String,
    path: String,
}

impl FromStr for Export {
    type Err = String;

    fn from_str(text: &str) -> Result<Export, String> {
        match text.split_once('=') {
            Some((kind, path)) if !kind.is_empty() && !path.is_empty() => {
                Ok(Export { kind: kind.to_owned(), path: path.to_owned() })
            }
            _ => Err("write KIND=PATH, such as megatron=- or mindformers=plan.yaml".to_owned()),
        }
    }
}

impl Export {
    /// Refuses a kind that is not there.
    pub(super) fn check(&self) -> Result<(), Failure> {
        export::find(&self.kind)?;
        Ok(())
    }
}

/// Refuses places that cannot have what goes there, and one place for two texts, before any work is done. Files that are
/// replaced must look like what replaces them.
pub(super) fn check_places(exports: &[Export], out: Option<&Path>) -> Result<(), Failure> {
    let mut all: Vec<(&str, &Path)> = out.iter().map(|path| ("--out", *path)).collect();
    let files = exports.iter().filter(|export| export.path != "-");
    all.extend(files.map(|export| ("--export", Path::new(&export.path))));
    let real = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        folder.canonicalize().map(|folder| folder.join(path.file_name().unwrap_or_default()))
    };
    for (at, (flag, path)) in all.iter().enumerate() {
        let beginning = if *flag == "--out" { BEGINNING } else { "" };
        check_place(flag, path, beginning)?;
        let place = real(path)?;
        let twice = all[..at].iter().any(|(_, other)| real(other).is_ok_and(|other| other == place));
        if twice {
            return Err(Failure::usage(format!("{flag} {}: another output goes there", path.display())));
        }
    }
    Ok(())
}

/// How the file of `--out` begins.
const BEGINNING: &str = "{\n  \"schema\": \"sapwood.plan.";

/// What was written.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Exported {
    kind: String,
    path: String,
    size_bytes: usize,
    /// The text itself, where it goes to stdout.
    text: Option<String>,
}

/// A text and where it goes.
pub(super) struct Written {
    export: Export,
    text: String,
}

/// The texts of a plan.
pub(super) fn texts(exports: &[Export], plan: &Plan<'_>) -> Result<Vec<Written>, Failure> {
    let text = |export: &Export| -> Result<Written, Failure> {
        let text = export::write(export::find(&export.kind)?, plan).map_err(|why| {
            let failure = Failure::from(why);
            match export.kind.as_str() {
                framework @ ("megatron" | "mindformers") => failure.hint(format!("--express {framework}")),
                _ => failure,
            }
        })?;
        Ok(Written { export: export.clone(), text })
    };
    exports.iter().map(text).collect()
}

/// Writes them; those for stdout are part of the JSON object where one is printed.
pub(super) fn write(all: &[Written], json: bool) -> Result<(), Failure> {
    for written in all {
        if written.export.path != "-" {
            sapwood_files::write_atomic(Path::new(&written.export.path), |out| out.write_all(written.text.as_bytes()))?;
        } else if !json {
            std::io::stdout().lock().write_all(written.text.as_bytes())?;
        }
    }
    Ok(())
}

/// What the JSON object says of them.
pub(super) fn listed(all: &[Written]) -> Vec<Exported> {
    let one = |written: &Written| Exported {
        kind: written.export.kind.clone(),
        path: written.export.path.clone(),
        size_bytes: written.text.len(),
        text: (written.export.path == "-").then(|| written.text.clone()),
    };
    all.iter().map(one).collect()
}
