//! What `sapwood bench plan` prints: each measure with its target and how many times as good as the target it is.

use std::io::Write;

use serde::Serialize;

use super::super::host::Host;
use super::super::table::{System, heading};
use crate::cli::{Context, Exit, Failure};
use crate::verb::table::aligned;

/// One thing that was measured (`rows` of `sapwood.bench.plan/1`).
#[derive(Debug, Clone, Serialize)]
pub(super) struct Measure {
    /// What was measured.
    pub(super) measure: String,
    /// On how many threads.
    pub(super) threads: usize,
    /// How often.
    pub(super) reps: usize,
    /// Median.
    pub(super) value: f64,
    /// Unit of the value: s, B, /s, or × for a ratio.
    pub(super) unit: &'static str,
    /// What it is to be, if there is a target.
    pub(super) target: Option<f64>,
    /// How many times as good as the target: 1 and above meets it.
    pub(super) share: Option<f64>,
    /// The result was what it has to be.
    pub(super) ok: bool,
}

impl Measure {
    /// A measure without a target.
    pub(super) fn new(measure: String, threads: usize, reps: usize, value: f64, unit: &'static str) -> Measure {
        Measure { measure, threads, reps, value, unit, target: None, share: None, ok: true }
    }

    /// The value is to be this or more.
    pub(super) fn at_least(self, target: f64) -> Measure {
        Measure { share: Some(self.value / target), target: Some(target), ..self }
    }

    /// The value is to be this or less.
    pub(super) fn at_most(self, target: f64) -> Measure {
        Measure { share: Some(target / self.value), target: Some(target), ..self }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    tool: &'static str,
    systems: Vec<System>,
    measured: Measured,
}

#[derive(Debug, Serialize)]
struct Measured {
    host: Host,
    rows: Vec<Measure>,
}

/// Prints the report; exit code 1 if a result is not what it has to be. A target that is missed is no failure.
pub(super) fn emit(cx: &Context, systems: Vec<System>, host: Host, rows: Vec<Measure>) -> Result<Exit, Failure> {
    let report = Report { schema: "sapwood.bench.plan/1", tool: "plan", systems, measured: Measured { host, rows } };
    cx.emit(&report, |out| text(&report, out))?;
    let right = report.measured.rows.iter().all(|row| row.ok);
    Ok(if right { Exit::Done } else { Exit::No })
}

fn text(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    heading(&report.systems, &report.measured.host, out)?;
    let mut cells = vec![["measure", "threads", "median", "target", "of target", ""].map(str::to_owned)];
    for row in &report.measured.rows {
        let verdict = match (row.ok, row.share) {
            (false, _) => "DIFFERENT RESULT",
            (true, Some(share)) if share < 1.0 => "missed",
            _ => "",
        };
        cells.push([
            row.measure.clone(),
            row.threads.to_string(),
            amount(row.value, row.unit),
            row.target.map_or_else(String::new, |target| amount(target, row.unit)),
            row.share.map_or_else(String::new, |share| format!("{share:.2}×")),
            verdict.to_owned(),
        ]);
    }
    aligned(&cells, out)?;
    writeln!(
        out,
        "of target: how many times as good; medians of a shared machine, so seconds say little of another one"
    )
}

/// A value with its unit, in three digits.
fn amount(value: f64, unit: &str) -> String {
    let (scale, prefix) = match unit {
        "×" => return format!("{value:.2}×"),
        _ if value >= 1e9 => (1e-9, "G"),
        _ if value >= 1e6 => (1e-6, "M"),
        _ if value >= 1e3 => (1e-3, "k"),
        _ if value < 1e-3 => (1e6, "µ"),
        _ if value < 1.0 => (1e3, "m"),
        _ => (1.0, ""),
    };
    let scaled = value * scale;
    let digits = if scaled >= 100.0 {
        0
    } else if scaled >= 10.0 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {prefix}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_say_how_many_times_as_good() {
        let value = |value| Measure::new("a".to_owned(), 1, 1, value, "s");
        assert_eq!(value(2.0).at_most(3.0).share, Some(1.5));
        assert_eq!(value(2.0).at_least(4.0).share, Some(0.5));
    }

    #[test]
    fn amounts_have_three_digits_and_a_prefix() {
        let cases =
            [(3.214e-4, "s", "321 µs"), (0.0123, "s", "12.3 ms"), (1.5, "s", "1.50 s"), (3.1e6, "/s", "3.10 M/s")];
        for (value, unit, text) in cases {
            assert_eq!(amount(value, unit), text);
        }
        assert_eq!(amount(1.0449, "×"), "1.04×");
    }
}
