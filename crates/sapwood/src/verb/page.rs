//! What verbs that write files of their own share: a place for a file, a report written, the command that made it.

use crate::cli::{Context, Failure};
use sapwood_report::Report;
use std::path::Path;

/// Refuses a path that cannot become a file of a kind, before the work is done: a file of that kind begins with `beginning`.
pub(crate) fn check_place(flag: &str, path: &Path, beginning: &str) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let why = match () {
        () if path == Path::new("-") => "a file is needed, not standard output",
        () if path.is_dir() => "it is a folder",
        () if !folder.is_dir() => "its folder is not there",
        () => return Ok(sapwood_files::check_replaceable(path, beginning)?),
    };
    Err(Failure::usage(format!("{flag} {}: {why}", path.display())))
}

/// Writes a report.
pub(crate) fn write(cx: &Context, path: &Path, report: &Report) -> Result<(), Failure> {
    let text = report.html();
    sapwood_files::write_atomic(path, |out| out.write_all(text.as_bytes()))?;
    cx.note(&format!("report: {}", path.display()));
    Ok(())
}

/// How the program was called, as a line of a shell.
pub(crate) fn command() -> String {
    let quoted = |word: String| match word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=.,:/+".contains(c)) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    std::iter::once("sapwood".to_owned()).chain(std::env::args().skip(1).map(quoted)).collect::<Vec<_>>().join(" ")
}
