//! Plans written for frameworks: all texts are made before anything is written.

use crate::cli::{Context, Failure};
use crate::verb::page::check_place;
use sapwood_plan::export::{self, Plan};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
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

/// Refuses, before any work is done, places that cannot have what goes there, that of an input, and one place for two
/// outputs, the report among them. Files that are replaced must look like what replaces them.
pub(super) fn check_places(
    cx: &Context,
    inputs: &[&Path],
    exports: &[Export],
    out: Option<&Path>,
) -> Result<(), Failure> {
    let mut all = Vec::new();
    for export in exports {
        let entry = export::find(&export.kind)?;
        if export.path != "-" {
            all.push(("--export", Path::new(&export.path), entry.beginning));
        }
    }
    if let Some(path) = out {
        all.push(("--out", path, export::find("plan_json")?.beginning));
    }
    all.extend(cx.flags.report.as_deref().map(|path| ("--report", path, sapwood_report::BEGINNING)));
    let mut taken: Vec<(PathBuf, &str)> =
        inputs.iter().filter_map(|path| Some((path.canonicalize().ok()?, "it is an input"))).collect();
    for (flag, path, beginning) in all {
        let wrong = |why: &str| Failure::usage(format!("{flag} {}: {why}", path.display()));
        let place = real(path);
        if let Some((_, why)) = taken.iter().find(|(other, _)| Some(other) == place.as_ref()) {
            return Err(wrong(why));
        }
        check_place(flag, path, beginning)?;
        // A device takes any number of texts.
        taken.extend(
            place.filter(|place| place.is_file() || !place.exists()).map(|place| (place, "another output goes there")),
        );
    }
    Ok(())
}

/// Where a path leads; the file need not be there.
fn real(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    path.canonicalize()
        .or_else(|_| Ok::<_, std::io::Error>(folder.canonicalize()?.join(path.file_name().unwrap_or_default())))
        .ok()
}

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
