//! The table for people: accuracies with their spread, and only what the paired runs allow one to say.

use super::cost::NO_RATES;
use super::report::{Method, Report, Run, RunTime};
use crate::verb::table::aligned;
use sapwood_machine::units;
use sapwood_train::Estimate;
use sapwood_train::compare::NOT_TESTED;
use sapwood_train::cost::Predicted;
use sapwood_train::preset::{NOTE, Published};
use std::io::{Result, Write};

/// Writes the table and what has to be said with it.
pub(super) fn print(report: &Report<'_>, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{}", report.headline)?;
    let rows: Vec<[String; 7]> =
        std::iter::once(head(report)).chain((0..report.methods.len()).map(|i| row(report, i))).collect();
    aligned(&rows, out)?;
    notes(report, out)
}

fn head(report: &Report<'_>) -> [String; 7] {
    let against = format!("vs {}", reference(report));
    ["method", "test acc (mean ± sd)", "min", "spread", &against, "isolated", "s/epoch"].map(String::from)
}

/// What the others are compared with in their rows: no sampling, or the first method where that is not among them.
fn reference<'a>(report: &Report<'a>) -> &'a str {
    let first = report.methods.first().map_or("none", |m| m.name);
    if report.methods.len() < 2 || report.methods.iter().any(|m| m.name == "none") { "none" } else { first }
}

fn row(report: &Report<'_>, i: usize) -> [String; 7] {
    let method = &report.methods[i];
    let seconds = mean_epoch(report, method.name);
    [
        method.name.to_owned(),
        accuracy(method),
        method.min.map_or_else(|| "-".into(), |v| format!("{v:.4}")),
        method.min.zip(method.max).map_or_else(|| "-".into(), |(min, max)| format!("{:.4}", max - min)),
        against(report, reference(report), method.name),
        report.sampler[i].isolated_mean.map_or_else(|| "-".into(), |v| format!("{v:.1}")),
        seconds.map_or_else(|| "-".into(), |s| format!("{s:.4}")),
    ]
}

fn accuracy(method: &Method<'_>) -> String {
    match (method.mean, method.sd) {
        (Some(mean), Some(sd)) => format!("{mean:.4} ± {sd:.4}"),
        (Some(mean), None) => format!("{mean:.4}"),
        _ => "no result".into(),
    }
}

/// Mean over the runs of a method.
fn mean_epoch(report: &Report<'_>, method: &str) -> Option<f64> {
    let times = report.runs.iter().zip(&report.measured.runs).filter(|(run, _)| run.method == method);
    let (sum, n) = times.fold((0.0, 0u32), |(sum, n), (_, RunTime { epoch_s, .. })| (sum + epoch_s, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

fn against(report: &Report<'_>, reference: &str, method: &str) -> String {
    let found =
        report.comparisons.iter().find(|c| (c.a == method && c.b == reference) || (c.b == method && c.a == reference));
    let Some(comparison) = found else { return "-".into() };
    let p = &comparison.paired;
    let Some(p_value) = p.p_value else { return NOT_TESTED.into() };
    let (diff, low, high) =
        if comparison.a == method { (p.mean_diff, p.ci_low, p.ci_high) } else { (-p.mean_diff, -p.ci_high, -p.ci_low) };
    format!("Δ {diff:+.4} [{low:+.4}, {high:+.4}] p={p_value:.3}")
}

/// How many seeds were paired, or run where nothing was compared.
fn seeds(report: &Report<'_>) -> String {
    let paired = report.comparisons.iter().map(|c| c.paired.n).min();
    let (n, kind) = paired.map_or((report.seeds as usize, ""), |n| (n, "paired "));
    format!("{n} {kind}seed{}", if n == 1 { "" } else { "s" })
}

fn notes(report: &Report<'_>, out: &mut dyn Write) -> Result<()> {
    for comparison in report.comparisons.iter().filter(|c| c.paired.p_value.is_some()) {
        writeln!(out, "{} against {}: {}", comparison.a, comparison.b, comparison.paired.verdict().words())?;
    }
    if let Some(Published { no_drop, dropedge }) = report.published {
        writeln!(out, "published: none {no_drop:.3}, dropedge {dropedge:.3}; {NOTE}")?;
    }
    let seeds = if report.interrupted { String::new() } else { format!("; {}", seeds(report)) };
    writeln!(out, "epoch chosen by {} (the choice can move results by 2 points){seeds}", report.select)?;
    if let Some(compared) = report.compared {
        let (predicted, measured) = (seconds(compared.predicted_s), seconds(compared.measured_s));
        writeln!(out, "predicted {predicted}, measured {measured} (ratio {:.2})", compared.ratio())?;
    }
    print_broken("", &report.runs, out)?;
    if report.interrupted {
        let (runs, last) = (report.runs.len(), last_run(report));
        let last = last.map_or_else(String::new, |r| {
            format!(", the last one, {} seed {}, after {} epochs", r.method, r.seed, r.epochs)
        });
        writeln!(out, "interrupted: {runs} runs{last}")?;
    }
    Ok(())
}

/// The run that ran last: seeds are the outer loop, runs are listed method by method.
fn last_run<'a, 'r>(report: &'a Report<'r>) -> Option<&'a Run<'r>> {
    let of = |method: &str| report.runs.iter().filter(|run| run.method == method).collect::<Vec<_>>();
    let lists = report.methods.iter().map(|method| of(method.name));
    // The last of the longest lists.
    lists.max_by_key(Vec::len)?.pop()
}

/// Writes where and why runs broke, if any did; `which` begins each line.
pub(super) fn print_broken(which: &str, runs: &[Run<'_>], out: &mut dyn Write) -> Result<()> {
    for run in runs {
        if let Some(broken) = run.broken {
            let (epoch, layer) = (broken.epoch, &broken.layer);
            let kept = if run.best_epoch.is_some() { "; earlier results kept" } else { "" };
            writeln!(
                out,
                "{which}{} seed {}: stopped in epoch {epoch}, {layer} gave a value that is no number{kept}",
                run.method, run.seed
            )?;
        }
    }
    Ok(())
}

/// Three digits and a unit: `12.3 s`.
fn seconds(value: f64) -> String {
    let digits = format!("{value:.2e}").parse().unwrap_or(value);
    units::print_seconds(digits)
}

/// Writes how long it would take.
pub(super) fn print_predicted(predicted: Option<&Predicted>, seeds: u32, out: &mut dyn Write) -> Result<()> {
    let Some(predicted) = predicted else { return writeln!(out, "time         {NO_RATES}") };
    for method in &predicted.methods {
        writeln!(out, "epoch        {} predicted with {}", seconds(method.epoch_s), method.method)?;
    }
    let (many, total) = (if seeds == 1 { "" } else { "s" }, seconds(predicted.total_s));
    writeln!(out, "time         {total} predicted for {seeds} run{many} of each method")
}

/// Writes what a run would take.
pub(super) fn print_estimate(headline: &str, estimate: &Estimate, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{headline}")?;
    writeln!(out, "parameters   {}", estimate.parameters)?;
    let parts = [
        ("weights", estimate.parameter_bytes),
        ("activations", estimate.activation_bytes),
        ("features", estimate.feature_bytes),
        ("graph", estimate.graph_bytes),
        ("scratch", estimate.scratch_bytes),
        ("total", estimate.total_bytes),
    ];
    for (name, bytes) in parts {
        writeln!(out, "{name:<11}  {}", units::print_bytes(bytes))?;
    }
    Ok(())
}
