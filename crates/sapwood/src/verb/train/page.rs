//! The HTML report of `sapwood train`: what was found, how sure it is, and why it may be so.
//!
//! Every number comes from the [`Report`] that the table is printed from, or from the runs themselves; nothing is computed
//! anew but means over seeds. Each section is a function in `page/`; one with nothing to say is left out.

mod curves;
mod graph;
mod results;
mod sweep;

use super::report::{Facts, Report};
use crate::cli::{Context, Failure};
use crate::verb::page::check_place;
use sapwood_graph::structure::Statistics;
use sapwood_report as html;
use sapwood_train::Settings;
use sapwood_train::experiment::Outcome;
use std::path::{Path, PathBuf};

pub(super) use graph::{Probabilities, probabilities};
pub(super) use sweep::page as sweep_page;

/// What a report is made of.
pub(super) struct Sources<'a> {
    pub(super) facts: &'a Facts,
    pub(super) settings: &'a Settings,
    pub(super) report: &'a Report<'a>,
    pub(super) outcome: &'a Outcome,
    pub(super) structure: &'a [Statistics],
    pub(super) probabilities: &'a [Probabilities],
    pub(super) class_names: &'a [String],
    /// How the program was called.
    pub(super) command: String,
}

/// The report of a call without any argument, in the folder at hand.
const BARE: &str = "sapwood-train.html";

/// Where the report goes: where `--report` says, which must be a place for it before anything is trained; a call without any
/// argument leaves one in the folder at hand if that can be written.
pub(super) fn place(cx: &Context) -> Result<Option<PathBuf>, Failure> {
    match &cx.flags.report {
        Some(path) => check_place("--report", path, html::BEGINNING).map(|()| Some(path.clone())),
        None if std::env::args_os().len() == 2 => Ok(Some(PathBuf::from(BARE)).filter(|path| {
            writable(Path::new(".")) && sapwood_files::check_replaceable(path, html::BEGINNING).is_ok()
        })),
        None => Ok(None),
    }
}

/// Whether a file can be made in `folder`.
fn writable(folder: &Path) -> bool {
    std::fs::metadata(folder).is_ok_and(|folder| !folder.permissions().readonly())
}

/// The report of an experiment.
pub(super) fn page(from: &Sources<'_>) -> html::Report {
    let mut page = start(from.facts, from.settings);
    let sections = [
        Some(results::section(from)),
        curves::section(from),
        curves::stability(from),
        graph::section(from),
        graph::smoothing(from),
        results::confusion(from),
        results::time(from),
        Some(settings(from.facts, from.settings, &from.command)),
    ];
    for section in sections.into_iter().flatten() {
        page = page.section(section);
    }
    page
}

/// Title and headline.
fn start(facts: &Facts, settings: &Settings) -> html::Report {
    html::Report::new(format!(
        "{}: {}-{} with {}",
        facts.data.name, facts.model.name, facts.model.layers, settings.sampler
    ))
    .subtitle(facts.headline())
    .made_by(concat!("sapwood ", env!("CARGO_PKG_VERSION")))
}

/// Every choice of the runs, and what they ran on.
fn settings(facts: &Facts, settings: &Settings, command: &str) -> html::Section {
    let mut table = html::Table::new("Every setting, resolved").columns(["setting", "value"]);
    let written = serde_json::to_value(settings).unwrap_or_default();
    for (name, value) in written.as_object().into_iter().flatten() {
        let shown = match value {
            serde_json::Value::Null => "–".to_owned(),
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        table = table.row([html::Cell::text(name), html::Cell::text(shown)]);
    }
    html::Section::new("How to repeat this")
        .paragraph(
            "The same command on the same data gives the same numbers to the last bit, on any number of threads.",
        )
        .code(command)
        .paragraph(html::Prose::new("Data digest (SHA-256): ").code(&facts.data.sha256))
        .details("All settings", [html::Block::Table(table)])
}

/// Mean, smallest and largest of some numbers.
fn spread(values: &[f64]) -> (f64, (f64, f64)) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (mean, (low, high))
}

/// A line through the means of several columns of numbers, one column an x, and the band from the smallest to the largest.
fn banded(name: &str, columns: impl IntoIterator<Item = (f64, Vec<f64>)>) -> html::Series {
    let (mut points, mut band) = (Vec::new(), Vec::new());
    for (x, values) in columns {
        let (mean, range) = spread(&values);
        points.push((x, mean));
        band.push(range);
    }
    html::Series::new(name, points).band(band)
}
