//! What a benchmark prints: `sapwood.bench/1` and a table with the same rows.
//!
//! Ratios come first: on a shared machine they are the result, seconds are only how they came about.

use std::io::Write;

use serde::Serialize;

pub(crate) use super::contest::Row;
use super::host::Host;
use crate::cli::{Context, Exit, Failure};

/// A system that took part.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct System {
    /// Name, as in the rows.
    pub(crate) name: String,
    /// Version of it (and of what it stands on).
    pub(crate) version: String,
}

/// The result of one benchmark.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    schema: &'static str,
    /// Which tool.
    tool: &'static str,
    /// Who took part; ours first.
    systems: Vec<System>,
    /// Everything that a clock had a part in.
    measured: Measured,
}

#[derive(Debug, Serialize)]
struct Measured {
    host: Host,
    rows: Vec<Row>,
}

/// Ours, as the first of the systems.
pub(crate) fn ours(name: &str) -> System {
    System { name: name.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// Prints the report; exit code 1 if a system's result differs from ours.
pub(crate) fn emit(
    cx: &Context,
    tool: &'static str,
    systems: Vec<System>,
    host: Host,
    rows: Vec<Row>,
) -> Result<Exit, Failure> {
    let report = Report { schema: "sapwood.bench/1", tool, systems, measured: Measured { host, rows } };
    cx.emit(&report, |out| text(&report, out))?;
    let same = report.measured.rows.iter().all(|row| row.ok);
    Ok(if same { Exit::Done } else { Exit::No })
}

/// Who took part, and on what.
pub(crate) fn heading(systems: &[System], host: &Host, out: &mut dyn Write) -> std::io::Result<()> {
    let systems: Vec<String> = systems.iter().map(|s| format!("{} {}", s.name, s.version)).collect();
    writeln!(out, "{}", systems.join(", "))?;
    let cores = host.cores.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let load = host.load1.map_or_else(|| "unknown".to_owned(), |l| format!("{l:.2}"));
    writeln!(
        out,
        "{}, {cores} processors, load {load} at the start; shared machine, compare ratios only",
        host.cpu.as_deref().unwrap_or("unknown processor")
    )
}

fn text(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    heading(&report.systems, &report.measured.host, out)?;
    let width = report.measured.rows.iter().map(|row| row.case.len()).max().unwrap_or(0).max(4);
    writeln!(
        out,
        "{:width$}  {:>9}  {:<15} {:>7}  {:>8}  {:>10}  {:>10}  {:>10}",
        "case", "nodes", "system", "threads", "ratio", "median", "min", "cpu"
    )?;
    for row in &report.measured.rows {
        let wrong = if row.ok { "" } else { "  DIFFERENT RESULT" };
        writeln!(
            out,
            "{:width$}  {:>9}  {:<15} {:>7}  {:>7.2}×  {:>10}  {:>10}  {:>10}{wrong}",
            row.case,
            row.n,
            row.system,
            row.threads,
            row.ratio_to_sapwood,
            ms(row.median_wall_s),
            ms(row.min_wall_s),
            ms(row.min_cpu_s)
        )?;
    }
    for system in &report.systems[1..] {
        if let Some(mean) = geometric_mean(&report.measured.rows, &system.name) {
            writeln!(out, "{:width$}  {:>9}  {:<15} {:>7}  {mean:>7.2}×", "geometric mean", "", system.name, "")?;
        }
    }
    writeln!(out, "ratio: wall time by sapwood's in the same round, median over the rounds; above 1 sapwood is faster")
}

/// Geometric mean of a system's ratios over all its rows; none without rows.
fn geometric_mean(rows: &[Row], system: &str) -> Option<f64> {
    let logs: Vec<f64> = rows.iter().filter(|row| row.system == system).map(|row| row.ratio_to_sapwood.ln()).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

fn ms(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(system: &str, ratio_to_sapwood: f64, ok: bool) -> Row {
        let (case, system) = ("cora k=16".to_owned(), system.to_owned());
        let (n, threads, reps, distinct_results) = (2708, 2, 9, 1);
        let (min_wall_s, median_wall_s, min_cpu_s) = (1e-3, 2e-3, 5e-4);
        Row {
            case,
            n,
            system,
            threads,
            reps,
            min_wall_s,
            median_wall_s,
            min_cpu_s,
            distinct_results,
            ns_per_pair: None,
            ratio_to_sapwood,
            ok,
        }
    }

    fn report() -> Report {
        let system = |name: &str| System { name: name.to_owned(), version: "1.17".to_owned() };
        let host = Host { cpu: None, cores: Some(2), load1: Some(0.5), shared: true };
        let rows = vec![row("sapwood", 1.0, true), row("scipy", 4.0, true), row("scipy", 1.0, false)];
        let systems = vec![system("sapwood"), system("scipy"), system("torch")];
        Report { schema: "sapwood.bench/1", tool: "sparse", systems, measured: Measured { host, rows } }
    }

    #[test]
    fn the_table_has_a_line_per_row_the_means_and_every_doubt() {
        let mut out = Vec::new();
        text(&report(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.starts_with("sapwood 1.17, scipy 1.17, torch 1.17\nunknown processor, 2 processors, load 0.50"),
            "{text}"
        );
        assert_eq!(text.matches("cora k=16").count(), 3);
        assert_eq!(text.matches("DIFFERENT RESULT").count(), 1);
        let mean: Vec<&str> = text.lines().filter(|line| line.starts_with("geometric mean")).collect();
        assert!(mean.len() == 1 && mean[0].contains("scipy") && mean[0].ends_with("2.00×"), "{text}");
    }

    #[test]
    fn the_json_has_the_members_of_its_schema_in_order() {
        let json = serde_json::to_value(report()).unwrap();
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(keys(&json), "schema tool systems measured");
        assert_eq!(keys(&json["systems"][0]), "name version");
        assert_eq!(keys(&json["measured"]), "host rows");
        assert_eq!(keys(&json["measured"]["host"]), "cpu cores load1 shared");
        let row = "case n system threads reps min_wall_s median_wall_s min_cpu_s distinct_results ratio_to_sapwood ok";
        assert_eq!(keys(&json["measured"]["rows"][0]), row);
        let with_pairs = serde_json::to_value(Row { ns_per_pair: Some(4.5), ..report().measured.rows[0].clone() });
        let with_pairs = keys(&with_pairs.unwrap());
        assert_eq!(with_pairs, row.replace(" ratio", " ns_per_pair ratio"));
    }
}
