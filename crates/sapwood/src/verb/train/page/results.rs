//! What was found: accuracies, paired differences, what is mistaken for what, and the time it took.

use super::Sources;
use sapwood_report::{
    Axis, BarSeries, Bars, Cell, Column, Figure, Forest, HeatMap, Interval, KeyFigure, Section, Table, Unit,
};
use sapwood_train::cost::{LayerTime, MethodTime};
use sapwood_train::experiment::{MethodRecord, PairRecord, RunRecord};
use sapwood_train::preset::{NOTE, Published};

/// The table of the terminal, the verdicts and the differences seed by seed.
pub(super) fn section(from: &Sources<'_>) -> Section {
    let mut section = Section::new("Results").key_figures(key_figures(from)).table(table(from));
    let tested = from.report.comparisons.iter().filter(|c| c.paired.p_value.is_some());
    let verdicts: Vec<String> =
        tested.map(|c| format!("{} against {}: {}", c.a, c.b, c.paired.verdict().words())).collect();
    if !verdicts.is_empty() {
        section = section.list(verdicts);
    }
    if !from.report.comparisons.is_empty() {
        section = section.figure(differences(from));
    }
    if let Some(Published { no_drop, dropedge }) = from.report.published {
        section = section.note(format!(
            "Published: none {:.1} %, dropedge {:.1} %; {NOTE}.",
            100.0 * no_drop,
            100.0 * dropedge
        ));
    }
    for run in from.outcome.methods.iter().flat_map(|m| &m.runs) {
        if let Some(line) = broken(run) {
            section = section.warning(line);
        }
    }
    if from.outcome.interrupted {
        section = section.warning("Interrupted: some runs are missing, the last one was cut short.");
    }
    section
}

/// Where and why a run broke, if it did.
pub(super) fn broken(run: &RunRecord) -> Option<String> {
    let broken = run.broken.as_ref()?;
    let (method, seed, epoch, layer) = (&run.method, run.seed, broken.epoch, &broken.layer);
    let kept = if run.best_epoch.is_some() { "; earlier results are kept" } else { "" };
    Some(format!("{method}, seed {seed}: stopped in epoch {epoch}, {layer} gave a value that is no number{kept}."))
}

fn key_figures(from: &Sources<'_>) -> Vec<KeyFigure> {
    let data = &from.facts.data;
    let mut figures = Vec::new();
    if let Some(found) = from.outcome.methods.last().and_then(|m| Some((m, m.summary()?))) {
        let (method, summary) = found;
        let sd = summary.sd.map_or_else(String::new, |sd| format!("± {sd:.4} over {} seeds", summary.n));
        figures
            .push(KeyFigure::new(format!("test accuracy, {}", method.name), format!("{:.4}", summary.mean)).note(sd));
    }
    if let Some(against) = from.report.comparisons.iter().rfind(|c| c.b == "none") {
        let p = &against.paired;
        let interval = match p.p_value {
            Some(_) => format!("95 % interval {:+.4} to {:+.4}: {}", p.ci_low, p.ci_high, p.verdict().words()),
            None => sapwood_train::compare::NOT_TESTED.to_owned(),
        };
        figures.push(KeyFigure::new("difference to no sampling", format!("{:+.4}", p.mean_diff)).note(interval));
    }
    let parameters = sapwood_report::number::count(from.facts.estimate.parameters);
    figures.push(
        KeyFigure::new("graph", format!("{} nodes", sapwood_report::number::count(data.nodes as u64))).note(format!(
            "{} {}, {} classes",
            sapwood_report::number::count(data.pairs),
            from.facts.unit,
            data.classes
        )),
    );
    figures.push(KeyFigure::new("parameters", parameters).note(from.facts.feature_kind.clone()));
    figures
}

fn table(from: &Sources<'_>) -> Table {
    let columns = ["method", "mean", "sd", "min", "max", "macro F1", "epoch", "time an epoch"];
    let columns = columns.map(Column::new);
    let mut table = Table::new(format!("Test accuracy at the epoch chosen by {}, over the seeds", from.report.select))
        .columns(columns);
    for method in &from.outcome.methods {
        let runs = method.counted();
        let mean = |of: &dyn Fn(&RunRecord) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(|run| of(run)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let shown = |value: Option<f64>, digits| value.map_or_else(Cell::missing, |v| Cell::fixed(v, digits));
        let summary = method.summary();
        let seconds = mean(&|run| Some(run.epoch_s)).map_or_else(Cell::missing, |s| Cell::with_unit(s, &Unit::Seconds));
        table = table.row([
            Cell::text(&method.name),
            shown(summary.map(|s| s.mean), 4),
            shown(summary.and_then(|s| s.sd), 4),
            shown(summary.map(|s| s.min), 4),
            shown(summary.map(|s| s.max), 4),
            shown(mean(&|run| run.best.map(|best| best.test_macro_f1)), 4),
            shown(mean(&|run| run.best_epoch.map(f64::from)), 0),
            seconds,
        ]);
    }
    table.note("Macro F1, epoch and time are means over the seeds. The choice of the epoch can move results by two points. The time \
         includes draws and evaluations.")
}

/// Every comparison: the interval of the mean, and one dot a seed.
fn differences(from: &Sources<'_>) -> Figure {
    let axis = Axis::new("difference of test accuracy");
    let mut forest = Forest::new("Paired differences", axis).reference(0.0).sides("worse", "better");
    for comparison in &from.report.comparisons {
        let p = &comparison.paired;
        let note = p.p_value.map_or_else(|| sapwood_train::compare::NOT_TESTED.to_owned(), |p| format!("p = {p:.3}"));
        // Of fewer seeds than the test needs, an interval would claim what it cannot.
        let (low, high) = p.p_value.map_or((f64::NAN, f64::NAN), |_| (p.ci_low, p.ci_high));
        let row = Interval::new(format!("{} − {}", comparison.a, comparison.b), p.mean_diff, low, high);
        forest = forest.row(row.dots(by_seed(from, comparison)).note(note));
    }
    let tested = from.report.comparisons.iter().any(|c| c.paired.p_value.is_some());
    let bar = if tested {
        " The bar is the 95 % bootstrap interval of their mean; p is that of the sign-flip test."
    } else {
        ""
    };
    Figure::new(forest).caption(format!(
        "Run s of every method has the same split, initial weights and dropout, so that differences are taken seed by seed \
         (small dots; their mean is the large one).{bar}"
    ))
}

fn by_seed(from: &Sources<'_>, comparison: &PairRecord) -> Vec<f64> {
    let runs = |name: &str| from.outcome.methods.iter().find(|m| m.name == name).map_or(&[][..], |m| &m.runs);
    let both = runs(&comparison.a).iter().zip(runs(&comparison.b));
    both.filter_map(|(a, b)| Some(a.finished()? - b.finished()?)).collect()
}

/// What test nodes of each class were taken for, over the seeds of the method looked at.
pub(super) fn confusion(from: &Sources<'_>) -> Option<Section> {
    let method = from.outcome.methods.last()?;
    let classes = from.facts.data.classes;
    let mut sums = vec![0u64; classes * classes];
    for seen in method.counted().iter().filter_map(|run| run.inspection.as_ref()) {
        sums.iter_mut().zip(&seen.confusion).for_each(|(sum, count)| *sum += count);
    }
    if classes == 0 || sums.iter().all(|&count| count == 0) {
        return None;
    }
    let name = |class: usize| from.class_names.get(class).cloned().unwrap_or_else(|| class.to_string());
    let names: Vec<String> = (0..classes).map(name).collect();
    let mut map =
        HeatMap::new("Confusion matrix", "given", "true", names.clone()).unit(Unit::Count).shade_by_row_share();
    for (name, row) in names.iter().zip(sums.chunks(classes)) {
        map = map.row(name, row.iter().map(|&count| count as f64));
    }
    let caption = format!("Test nodes of {}, all seeds together; shaded by the share of their class.", method.name);
    let section = Section::new("What is mistaken for what").figure(Figure::new(map).caption(caption));
    Some(section.table(by_class(method, &names, &sums)))
}

fn by_class(method: &MethodRecord, names: &[String], sums: &[u64]) -> Table {
    let columns = ["class", "test nodes", "recall", "precision", "most often taken for"];
    let mut table = Table::new(format!("Classes, {}", method.name)).columns(columns);
    let (classes, seeds) = (names.len(), method.counted().len().max(1) as u64);
    for (class, row) in sums.chunks(classes).enumerate() {
        let has: u64 = row.iter().sum();
        let given: u64 = sums.iter().skip(class).step_by(classes).sum();
        let right = row[class];
        let share = |of: u64| if of == 0 { Cell::missing() } else { Cell::fixed(right as f64 / of as f64, 3) };
        let wrong = row.iter().enumerate().filter(|&(other, &count)| other != class && count > 0);
        let most = wrong.max_by_key(|&(other, &count)| (count, std::cmp::Reverse(other)));
        let taken = most.map_or_else(Cell::missing, |(other, _)| Cell::text(&names[other]));
        table = table.row([Cell::text(&names[class]), Cell::count(has / seeds), share(has), share(given), taken]);
    }
    table
}

/// How long an epoch took, method by method, beside what the machine's rates predict.
pub(super) fn time(from: &Sources<'_>) -> Option<Section> {
    let names: Vec<&str> = from.outcome.methods.iter().map(|m| m.name.as_str()).collect();
    let mean = |m: &MethodRecord| m.runs.iter().map(|run| run.epoch_s).sum::<f64>() / m.runs.len() as f64;
    let measured: Vec<f64> = from.outcome.methods.iter().map(mean).collect();
    if measured.iter().all(|s| !s.is_finite()) {
        return None;
    }
    let mut bars = Bars::new("Time of an epoch", Axis::new("time").unit(Unit::Seconds).from_zero(), names).horizontal();
    bars = bars.series(BarSeries::new("measured", measured));
    let predicted = from.report.predicted.as_ref();
    if let Some(predicted) = predicted {
        let of = |m: &MethodRecord| predicted.method(&m.name).map_or(f64::NAN, |time| time.epoch_s);
        bars = bars.series(BarSeries::new("predicted", from.outcome.methods.iter().map(of)));
    }
    let caption = "Mean over the epochs of all runs, evaluations and the close look at the end included.";
    let section = Section::new("Time").figure(Figure::new(bars).caption(caption));
    Some(match predicted.and_then(|predicted| predicted.methods.last()) {
        Some(time) => section.figure(layers(time)),
        None => {
            section.note("A machine file with rates (sapwood machine probe) would put predicted times beside these.")
        }
    })
}

/// Where the time of a training step is predicted to go, layer by layer; small ones together.
fn layers(time: &MethodTime) -> Figure {
    const MOST: usize = 16;
    let whole: f64 = time.layers.iter().map(|layer| layer.forward_s + layer.backward_s).sum();
    let mut order: Vec<_> = time.layers.iter().collect();
    order.sort_by(|a, b| (b.forward_s + b.backward_s).total_cmp(&(a.forward_s + a.backward_s)));
    let (shown, rest) = order.split_at(order.len().min(MOST));
    let sum = |of: fn(&LayerTime) -> f64| rest.iter().map(|layer| of(layer)).sum::<f64>();
    let other =
        (!rest.is_empty()).then(|| (format!("{} others", rest.len()), sum(|l| l.forward_s), sum(|l| l.backward_s)));
    let rows: Vec<(String, f64, f64)> =
        shown.iter().map(|l| (l.name.clone(), l.forward_s, l.backward_s)).chain(other).collect();
    let names = rows.iter().map(|row| row.0.clone());
    let axis = Axis::new("predicted time").unit(Unit::Seconds).from_zero();
    let bars = Bars::new(format!("Layers of a training step, {}", time.method), axis, names)
        .horizontal()
        .series(BarSeries::new("forward", rows.iter().map(|row| row.1)))
        .series(BarSeries::new("backward", rows.iter().map(|row| row.2)));
    let all = Unit::Seconds.format(whole);
    Figure::new(bars)
        .caption(format!("From the machine's rates; {all} in all, without the draw, the loss and the step."))
}
