//! The report of a sweep: accuracy against the drop rate.

use super::results::broken;
use super::{banded, settings, start};
use crate::verb::train::report::Facts;
use sapwood_report::{Axis, Cell, Figure, Lines, Report, Section, Table};
use sapwood_train::Settings;
use sapwood_train::experiment::{MethodRecord, Outcome};

/// The report of `found`, rate by rate.
pub(in crate::verb::train) fn page(
    facts: &Facts,
    chosen: &Settings,
    found: &[(f64, &Outcome)],
    command: &str,
) -> Report {
    let names: Vec<&str> = chosen.methods().collect();
    let mut lines = Lines::new("Test accuracy", Axis::new("share of the pairs that is dropped"), Axis::new("accuracy"));
    let columns = std::iter::once("drop rate").chain(names.iter().copied());
    let mut table = Table::new("Mean test accuracy over the seeds").columns(columns);
    for name in &names {
        let points = found.iter().filter_map(|(p, outcome)| Some((*p, accuracies(outcome, name)?)));
        lines = lines.series(banded(name, points));
    }
    for (p, outcome) in found {
        let mean = |name: &&str| {
            let summary = method(outcome, name).and_then(MethodRecord::summary);
            summary.map_or_else(Cell::missing, |s| match s.sd {
                Some(sd) => Cell::figure(format!("{:.4} ± {sd:.4}", s.mean)),
                None => Cell::fixed(s.mean, 4),
            })
        };
        table = table.row(std::iter::once(Cell::number(*p)).chain(names.iter().map(mean)));
    }
    let caption =
        "Means over the seeds; bands from the lowest to the highest. A method that drops nothing is trained once.";
    let mut section = Section::new("Results").figure(Figure::new(lines).caption(caption)).table(table);
    for (p, outcome) in found {
        for line in outcome.methods.iter().flat_map(|m| &m.runs).filter_map(broken) {
            section = section.warning(format!("p = {p}: {line}"));
        }
    }
    start(facts, chosen).section(section).section(settings(facts, chosen, command))
}

fn method<'a>(outcome: &'a Outcome, name: &str) -> Option<&'a MethodRecord> {
    outcome.methods.iter().find(|m| m.name == name)
}

fn accuracies(outcome: &Outcome, name: &str) -> Option<Vec<f64>> {
    let runs = &method(outcome, name)?.runs;
    let found: Vec<f64> = runs.iter().filter_map(|run| Some(run.best?.test_acc)).collect();
    (!found.is_empty()).then_some(found)
}
