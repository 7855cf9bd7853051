//! `sapwood machine probe`: the machine at hand with measured rates, as a table and as a machine file.
//!
//! Nothing is written unless all was measured; the file appears whole or not at all.

use super::products::Products;
use super::rates;
use crate::cli::{Context, Exit, Failure};
use crate::verb::bench::host::{Host, host};
use clap::Args;
use sapwood_files::interrupt;
use sapwood_machine::{Discover, Header, Kernel, Measurement, Rates, Tree, Workers, facts, units};
use sapwood_skeleton::probe::{Outcome, Probe, Sizes};
use sapwood_skeleton::{Runtime, isa};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Longest budget: more samples than that make no better figure.
const MOST: Duration = Duration::from_secs(3600);

/// The flags of the verb.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Machine file to write, with the rates [default: only print them]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How long to measure: a number and a unit like 1s
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = budget)]
    budget: Duration,
    /// Machine file of this machine that gets the rates [default: discovered]
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
}

/// Reads a budget.
fn budget(text: &str) -> Result<Duration, String> {
    let seconds = units::seconds(text).map_err(|why| why.to_string())?;
    let print = |time: Duration| units::print_seconds(time.as_secs_f64());
    let budget = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    if budget < Probe::LEAST {
        return Err(format!("too short to measure anything, write {} or more", print(Probe::LEAST)));
    }
    if budget > MOST {
        return Err(format!("longer than is of use, write {} or less", print(MOST)));
    }
    Ok(budget)
}

#[derive(Serialize)]
struct Report<'t> {
    schema: &'static str,
    path: Option<&'t Path>,
    budget_s: f64,
    threads: usize,
    levels: Vec<&'t str>,
    measured: Taken,
}

#[derive(Serialize)]
struct Taken {
    noisy: bool,
    spent_s: f64,
    host: Host,
    values: Vec<rates::ValueView>,
}

pub(super) fn probe(cx: &Context, flags: &Flags) -> Result<Exit, Failure> {
    let base = base(cx, flags.base.as_deref())?;
    if cfg!(debug_assertions) {
        cx.warn("this is no release build: its rates are too low (cargo build --release)");
    }
    // `-` is where the text goes anyway
    let file = flags.out.as_deref().filter(|file| *file != Path::new("-"));
    file.map_or(Ok(()), can_be_written)?;
    interrupt::install()?;
    let host = host();
    if host.busy() {
        cx.warn("the machine is busy: its rates will be too low");
    }
    let runtime = Runtime::threads(base.leaf_count())?;
    cx.note(&format!("measuring for {}", units::print_seconds(flags.budget.as_secs_f64())));
    let Some(Outcome { rates, spent_s }) = measure(cx, &runtime, flags.budget)? else {
        cx.note("interrupted: nothing is written");
        return Ok(Exit::Interrupted);
    };
    if spent_s > 1.1 * flags.budget.as_secs_f64() {
        let spent = units::print_seconds(units::rounded(spent_s));
        cx.warn(&format!("took {spent}, longer than asked for: a few samples of everything need that on this machine"));
    }
    let tree = base.with_rates(header(&base, &rates, &host), rates)?;
    if let Some(file) = file {
        sapwood_files::write_atomic(file, |out| out.write_all(tree.write().as_bytes()))?;
        cx.note(&format!("{}: written", file.display()));
    }
    emit(cx, flags, &tree, file, spent_s, host)?;
    Ok(Exit::Done)
}

/// The description that gets the rates.
fn base(cx: &Context, file: Option<&Path>) -> Result<Tree, Failure> {
    if cx.flags.machine.is_some() {
        return Err(Failure::usage("--machine: the machine at hand is measured, whatever is described")
            .hint("--base FILE adds the rates to a description of this machine"));
    }
    let usable = facts(&Discover::default())?.affinity;
    let Some(file) = file else {
        let workers: Workers = match cx.flags.threads.as_deref() {
            Some(text) => text.parse().map_err(|why| Failure::usage(format!("--threads: {why}")))?,
            None => Workers::default(),
        };
        let tree = Tree::discover(&Discover { workers, ..Discover::default() })?;
        if tree.leaf_count() > usable {
            cx.warn(&format!("--threads {}: this process may use {usable} processors", tree.leaf_count()));
        }
        return Ok(tree);
    };
    if cx.flags.threads.is_some() {
        return Err(Failure::usage("--threads: --base says how many workers there are"));
    }
    let tree = Tree::read(file)?;
    if tree.leaf_count() > usable {
        let (name, workers) = (file.display(), tree.leaf_count());
        return Err(Failure::usage(format!("{name}: {workers} workers, but this process may use {usable} processors"))
            .hint("a machine can be measured only on itself"));
    }
    Ok(tree)
}

/// Fails now rather than after the measurement; leaves nothing behind.
fn can_be_written(file: &Path) -> Result<(), Failure> {
    let fail = |why: String| Err(Failure::usage(format!("{}: cannot be written: {why}", file.display())));
    match std::fs::metadata(file) {
        Ok(there) if there.is_dir() => fail("it is a folder".to_owned()),
        Ok(there) if !there.is_file() => Ok(()),
        _ => {
            let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
            tempfile::tempfile_in(folder).map_or_else(|why| fail(why.to_string()), |_| Ok(()))
        }
    }
}

/// The rates of our kernels on the workers of `runtime`; none if the user stopped it.
fn measure(cx: &Context, runtime: &Runtime, budget: Duration) -> Result<Option<Outcome>, Failure> {
    let exec = runtime.exec();
    let sizes = Sizes::new(&facts(&Discover::default())?, exec.threads(), budget);
    if !sizes.beyond_caches {
        let hint = "stream, read and gather may come from a cache: use a longer --budget or more memory";
        cx.warn(&format!("operands of {} are too small, {hint}", units::print_bytes(sizes.memory_bytes)));
    }
    let mut probe = Probe::of_this_machine(exec, budget, &sizes)?;
    probe.add(Products::new(exec, &sizes)?);
    Ok(probe.run(exec, &interrupt::requested)?)
}

/// What the new file says of itself.
fn header(base: &Tree, rates: &Rates, host: &Host) -> Header {
    let old = base.header();
    let source = old.source.as_deref().map(|source| source.replace("nothing measured", "rates measured by sapwood"));
    let versions = [("sapwood", env!("CARGO_PKG_VERSION")), ("isa", isa::level().name())];
    let measured = Measurement {
        date: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| date(since.as_secs() / 86400)),
        host: Some(base.name().to_owned()),
        cpu: host.cpu.clone(),
        versions: versions.map(|(name, version)| (name.to_owned(), version.to_owned())).into(),
        noisy: rates.noisy(),
    };
    Header { source, measured: Some(measured), ..old.clone() }
}

/// Year, month and day (UTC) of the day number `days` since 1970.
fn date(days: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, left + 1)
}

fn emit(
    cx: &Context,
    flags: &Flags,
    tree: &Tree,
    file: Option<&Path>,
    spent_s: f64,
    host: Host,
) -> Result<(), Failure> {
    let Some(rates) = tree.rates() else { return Ok(()) };
    let report = Report {
        schema: "sapwood.machine.probe/1",
        path: file,
        budget_s: flags.budget.as_secs_f64(),
        threads: tree.leaf_count(),
        levels: tree.levels().iter().map(|level| level.name.as_str()).collect(),
        measured: Taken { noisy: rates.noisy(), spent_s, host, values: rates::values(tree) },
    };
    cx.emit(&report, |out| {
        if flags.out.as_deref() == Some(Path::new("-")) {
            return out.write_all(tree.write().as_bytes());
        }
        rates::print(rates, out)?;
        let samples = rates.all.values().chain(rates.one.values()).map(|rate| rate.samples).min().unwrap_or(0);
        let [spent, budget] = [spent_s, report.budget_s].map(|s| units::print_seconds(units::rounded(s)));
        writeln!(out, "\n{samples} samples of each in {spent} of {budget}; medians ± median absolute deviations")?;
        if let Some(kernel) = Kernel::ALL.iter().find(|kernel| !rates.all.contains_key(kernel)) {
            writeln!(out, "{kernel} took no time that the clock could tell, it is left out")?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let known = [(0, "1970-01-01"), (59, "1970-03-01"), (789, "1972-02-29"), (11016, "2000-02-29")];
        let later = [(19_723, "2024-01-01"), (20_788, "2026-12-01"), (47_540, "2100-02-28"), (47_541, "2100-03-01")];
        for (days, text) in known.into_iter().chain(later) {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn budgets_have_bounds() {
        assert_eq!(budget("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(budget("200 ms"), Ok(Duration::from_millis(200)));
        assert!(budget("199 ms").unwrap_err().contains("write 200 ms or more"));
        assert!(budget("0").unwrap_err().contains("too short"));
        assert!(budget("3601 s").unwrap_err().contains("write 3600 s or less"));
        assert!(budget("1e300 s").unwrap_err().contains("or less"));
        assert!(budget("1").unwrap_err().contains("has no unit"));
    }
}
