//! How training went: losses and accuracies epoch by epoch, and how restless they were.

use super::{Sources, banded};
use sapwood_report::{Axis, BarSeries, Bars, Cell, Figure, Lines, Section, Series, Table};
use sapwood_train::History;
use sapwood_train::experiment::MethodRecord;
use std::collections::BTreeMap;

/// Curves over the epochs, one line a method, the seeds as a band.
pub(super) fn section(from: &Sources<'_>) -> Option<Section> {
    if from.outcome.methods.iter().all(|m| m.runs.iter().all(|run| run.history.epochs() == 0)) {
        return None;
    }
    let mut accuracy = Lines::new("Validation accuracy", Axis::new("epoch"), Axis::new("accuracy"));
    let mut validation = Lines::new("Validation loss", Axis::new("epoch"), Axis::new("loss").log());
    let mut training = Lines::new("Training loss", Axis::new("epoch"), Axis::new("loss").log());
    for method in &from.outcome.methods {
        accuracy = accuracy.series(evaluated(method, |history| &history.val_acc));
        validation = validation.series(evaluated(method, |history| &history.val_loss));
        training = training.series(every_epoch(method, |history| &history.train_loss));
    }
    let band = "Lines are means over the seeds, bands go from the lowest to the highest seed.";
    let section = Section::new("Learning curves")
        .figure(Figure::new(accuracy).caption(band))
        .figure(Figure::new(validation).caption("Dropout off, on the whole graph."))
        .figure(Figure::new(training).caption("Dropout on, on the sampled graph, before the step of each epoch."));
    Some(match rates(from) {
        Some(figure) => section.figure(figure),
        None => section,
    })
}

/// The learning rate, where it changes.
fn rates(from: &Sources<'_>) -> Option<Figure> {
    let history = &from.outcome.methods.first()?.runs.first()?.history;
    let changes = history.lr.windows(2).any(|w| w[0] != w[1]);
    let lines = Lines::new("Learning rate", Axis::new("epoch"), Axis::new("learning rate"));
    let series = Series::counted("learning rate", 1, history.lr.iter().copied());
    changes.then(|| Figure::new(lines.series(series)).caption("The same for every method and seed."))
}

/// A column of the histories at the epochs that were evaluated.
fn evaluated(method: &MethodRecord, of: impl Fn(&History) -> &Vec<f64>) -> Series {
    let mut columns: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in method.counted() {
        for (&epoch, &value) in run.history.evaluated.iter().zip(of(&run.history)) {
            columns.entry(epoch).or_default().push(value);
        }
    }
    banded(&method.name, columns.into_iter().map(|(epoch, values)| (f64::from(epoch), values)))
}

/// A column of the histories at every epoch.
fn every_epoch(method: &MethodRecord, of: impl Fn(&History) -> &Vec<f64>) -> Series {
    let runs = method.counted();
    let last = runs.iter().map(|run| of(&run.history).len()).max().unwrap_or(0);
    let column = |at: usize| runs.iter().filter_map(|run| of(&run.history).get(at).copied()).collect();
    banded(&method.name, (0..last).map(|at| (at as f64 + 1.0, column(at))))
}

/// Spread over the seeds, and of the validation loss at the end.
pub(super) fn stability(from: &Sources<'_>) -> Option<Section> {
    let mut table = Table::new("How much results scatter").columns([
        "method",
        "sd of test accuracy over seeds",
        "sd of validation loss at the end",
    ]);
    let mut restless = Vec::new();
    for method in &from.outcome.methods {
        let ends: Vec<f64> = method.counted().iter().filter_map(|run| run.history.val_loss_sd()).collect();
        let mean = (!ends.is_empty()).then(|| ends.iter().sum::<f64>() / ends.len() as f64);
        let shown = |value: Option<f64>| value.map_or_else(Cell::missing, Cell::number);
        table = table.row([Cell::text(&method.name), shown(method.summary().and_then(|s| s.sd)), shown(mean)]);
        restless.push(mean.unwrap_or(f64::NAN));
    }
    if restless.iter().all(|v| v.is_nan()) {
        return None;
    }
    let names = from.outcome.methods.iter().map(|m| m.name.as_str());
    let bars = Bars::new("Restlessness at the end", Axis::new("sd of validation loss").from_zero(), names).horizontal();
    let caption = "Standard deviation of the validation loss over the evaluations of the last 50 epochs, or of all where there \
         are fewer; mean over seeds.";
    let section = Section::new("Stability").table(table);
    Some(section.figure(Figure::new(bars.series(BarSeries::new("sd", restless))).caption(caption)))
}
