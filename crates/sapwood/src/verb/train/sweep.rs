//! `--sweep p=…`: the same experiment at several drop rates, and how much the choice of the rate matters.
//!
//! A method that drops nothing is trained at the first rate alone. What is reported of a method is the mean over its seeds
//! at each rate, and the standard deviation of these means over the rates.

use super::progress::Progress;
use super::report::{
    Data, Facts, Measured, Method as MethodRow, Model, Pair, Run, Sampler, method, pair, run as run_of, sampler,
};
use super::save::Plan;
use super::table::print_broken;
use super::{announce, exit, page};
use crate::cli::{Context, Exit, Failure};
use crate::verb::table::aligned;
use sapwood_graph::Rates;
use sapwood_graph::structure::Statistics;
use sapwood_skeleton::Exec;
use sapwood_train::checkpoint::Source;
use sapwood_train::experiment::{self, Outcome};
use sapwood_train::trainer::Method;
use sapwood_train::{Log, Number, Problem, Registries, Settings};
use serde::Serialize;
use std::path::Path;
use std::str::FromStr;
use std::time::Instant;

/// The rates, ascending as given.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sweep(Vec<f64>);

impl FromStr for Sweep {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Sweep, Failure> {
        let wrong = |why: &str| {
            Failure::usage(format!("--sweep {text}: {why}")).hint("write p=0.1:0.9:0.1 (from, to, step) or p=0.1,0.3")
        };
        let Some(list) = text.strip_prefix("p=") else {
            let layers = text.starts_with("layers=");
            return Err(wrong(if layers { "layers cannot be swept yet" } else { "only p can be swept" }));
        };
        let number = |text: &str| text.parse::<f64>().map_err(|_| wrong(&format!("'{text}' is not a number")));
        let rates = match list.split(':').map(number).collect::<Result<Vec<f64>, Failure>>() {
            Ok(parts) if parts.len() == 3 => {
                let (from, to, step) = (parts[0], parts[1], parts[2]);
                let count = ((to - from) / step + 1e-9).floor();
                if !(step > 0.0 && (0.0..1000.0).contains(&count)) {
                    return Err(wrong("the step must be above 0 and lead from the first rate to the last"));
                }
                // 0.1 + 2·0.1 is not 0.3: rates are what they look like.
                (0..=count as u32).map(|i| ((from + f64::from(i) * step) * 1e12).round() / 1e12).collect()
            }
            _ => list.split(',').map(number).collect::<Result<Vec<f64>, Failure>>()?,
        };
        match rates.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            Some(bad) => Err(wrong(&format!("{bad} is no drop rate from 0 to 1"))),
            None => Ok(Sweep(rates)),
        }
    }
}

impl Sweep {
    /// The rates.
    pub(super) fn rates(&self) -> &[f64] {
        &self.0
    }
}

/// The settings of each rate.
pub(super) fn at_rates(settings: &Settings, rates: &[f64]) -> Vec<Settings> {
    let at = |&p: &f64| {
        let mut settings = settings.clone();
        settings.options.rates = Rates::Const(p);
        settings
    };
    rates.iter().map(at).collect()
}

/// Leaves out the methods that drop nothing at rate `p`: they were trained at the first rate. At a rate of 0 nobody drops
/// anything, and nobody is left out.
pub(super) fn leave_out_constant(methods: &mut Vec<Method>, p: f64) {
    methods.retain(|method| p == 0.0 || method.facts().k > 0 || method.facts().p > 0.0);
}

/// The JSON object of a sweep.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    data: &'a Data,
    model: &'a Model,
    settings: &'a Settings,
    sweep: Vec<AtRate<'a>>,
    methods: Vec<MethodRow<'a>>,
    select: &'static str,
    complete: bool,
    interrupted: bool,
    measured: Measured,
}

#[derive(Serialize)]
struct AtRate<'a> {
    p: f64,
    sampler: Vec<Sampler>,
    runs: Vec<Run<'a>>,
    methods: Vec<MethodRow<'a>>,
    paired: Vec<Pair<'a>>,
}

/// Where things go and come from.
pub(super) struct Files<'a> {
    pub(super) plan: Plan,
    pub(super) source: Source<'a>,
    pub(super) log: Option<&'a Path>,
}

/// What one rate gave.
struct Found {
    p: f64,
    outcome: Outcome,
    structure: Vec<Statistics>,
}

/// Trains at every rate and prints the report.
pub(super) fn run<T: Number>(
    cx: &Context,
    exec: Exec<'_>,
    sweep: &Sweep,
    (problem, facts, mut settings): (&Problem<T>, &Facts, Settings),
    files: Files<'_>,
    start: Instant,
) -> Result<Exit, Failure> {
    if files.log.is_some() && files.plan.resumes() {
        return Err(Failure::usage("--log beside --sweep and --resume: lines do not say at which rate they are")
            .hint("leave --log out"));
    }
    let mut savings = Vec::new();
    for (p, settings) in sweep.0.iter().zip(at_rates(&settings, &sweep.0)) {
        savings.extend(files.plan.open(&settings, files.source, Some(&format!("p-{p}")))?);
    }
    files.plan.must_find(cx, &savings, &settings)?;
    let log = files.log.map(Log::create).transpose()?;
    let mut progress = Progress::new(cx, &settings, sweep.0.len(), log);
    let mut found: Vec<Found> = Vec::new();
    for (at, &p) in sweep.0.iter().enumerate() {
        settings.options.rates = Rates::Const(p);
        let mut methods = experiment::methods(exec, problem, &settings, Registries::default())?;
        if at > 0 {
            leave_out_constant(&mut methods, p);
        }
        methods.iter().for_each(|method| announce(cx, &method.facts(), facts.unit, &settings.options.rates));
        let outcome = experiment::run(exec, problem, &settings, &methods, savings.get(at), &mut progress)?;
        let structure = experiment::structure(exec, problem, &settings, &methods)?;
        let interrupted = outcome.interrupted;
        found.push(Found { p, outcome, structure });
        if interrupted {
            break;
        }
    }
    progress.finish();
    let report = report(facts, &settings, &found, sweep.0.len(), start.elapsed().as_secs_f64());
    cx.emit(&report, |out| {
        writeln!(out, "{}", facts.headline())?;
        aligned(&table(&report), out)?;
        writeln!(out, "mean test accuracy at each p; sd over p says how much the choice of p matters")?;
        report.sweep.iter().try_for_each(|at| print_broken(&format!("p={} ", at.p), &at.runs, out))
    })?;
    if let Some(path) = &cx.flags.report {
        let outcomes: Vec<(f64, &Outcome)> = found.iter().map(|f| (f.p, &f.outcome)).collect();
        crate::verb::page::write(
            cx,
            path,
            &page::sweep_page(facts, &settings, &outcomes, &crate::verb::page::command()),
        )?;
    }
    progress.failure()?;
    Ok(exit(found.iter().map(|f| &f.outcome)))
}

fn report<'a>(facts: &'a Facts, settings: &'a Settings, found: &'a [Found], rates: usize, total_s: f64) -> Report<'a> {
    let at_rate = |f: &'a Found| AtRate {
        p: f.p,
        sampler: f.outcome.methods.iter().enumerate().map(|(i, m)| sampler(m, f.structure.get(i))).collect(),
        runs: f.outcome.methods.iter().flat_map(|m| &m.runs).map(run_of).collect(),
        methods: f.outcome.methods.iter().map(method).collect(),
        paired: f.outcome.paired.iter().map(pair).collect(),
    };
    let interrupted = found.iter().any(|f| f.outcome.interrupted);
    Report {
        schema: "sapwood.train/1",
        data: &facts.data,
        model: &facts.model,
        settings,
        sweep: found.iter().map(at_rate).collect(),
        methods: settings.methods().map(|name| over_rates(name, found)).collect(),
        select: settings.select.name,
        complete: found.len() == rates && found.iter().all(|f| f.outcome.complete()),
        interrupted,
        measured: Measured::of(found.iter().map(|f| &f.outcome), None, total_s),
    }
}

/// The seed means of a method over the rates: their mean, standard deviation, smallest and largest.
fn over_rates<'a>(name: &'a str, found: &[Found]) -> MethodRow<'a> {
    let means = || found.iter().flat_map(|f| f.outcome.methods.iter().filter(|m| m.name == name));
    let means: Vec<f64> = means().filter_map(|m| Some(m.summary()?.mean)).collect();
    let n = means.len() as f64;
    let mean = (n > 0.0).then(|| means.iter().sum::<f64>() / n);
    let squares = mean.map(|mean| means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>());
    MethodRow {
        name,
        mean,
        sd: None,
        min: means.iter().copied().reduce(f64::min),
        max: means.iter().copied().reduce(f64::max),
        p_sensitivity: squares.filter(|_| n > 1.0).map(|s| (s / (n - 1.0)).sqrt()),
    }
}

/// One row a rate, one column a method, and at the foot the spread over the rates.
fn table(report: &Report<'_>) -> Vec<Vec<String>> {
    let shown = |value: Option<f64>| value.map_or_else(|| "-".into(), |v| format!("{v:.4}"));
    let names = report.methods.iter().map(|m| m.name.to_owned());
    let mut rows = vec![std::iter::once("p".to_owned()).chain(names).collect::<Vec<_>>()];
    for at in &report.sweep {
        let mean = |m: &MethodRow<'_>| shown(at.methods.iter().find(|other| other.name == m.name).and_then(|m| m.mean));
        rows.push(std::iter::once(at.p.to_string()).chain(report.methods.iter().map(mean)).collect());
    }
    let spread = report.methods.iter().map(|m| shown(m.p_sensitivity));
    rows.push(std::iter::once("sd over p".to_owned()).chain(spread).collect());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_what_they_look_like() {
        let rates = |text: &str| text.parse::<Sweep>().map(|s| s.0).map_err(|e| e.to_string());
        assert_eq!(rates("p=0.1:0.9:0.1").unwrap(), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
        assert_eq!(rates("p=0.5,0.25").unwrap(), [0.5, 0.25]);
        assert_eq!(rates("p=0.3").unwrap(), [0.3]);
        for (text, why) in [
            ("0.3", "only p"),
            ("layers=2,4", "layers cannot be swept yet"),
            ("p=0.1:0.9:0", "the step"),
            ("p=0.9:0.1:0.1", "the step"),
            ("p=0.5,x", "'x' is not a number"),
            ("p=0.5,1.5", "1.5 is no drop rate"),
            ("p=NaN", "NaN is no drop rate"),
        ] {
            assert!(rates(text).unwrap_err().contains(why), "{text}");
        }
    }
}
