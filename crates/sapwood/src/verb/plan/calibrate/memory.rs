//! `sapwood plan calibrate memory`: measured peaks to parameters and activations.

use crate::cli::{Context, Exit, Failure, Run};
use crate::verb::plan::stated::group;
use crate::verb::table::aligned;
use clap::Args;
use sapwood_plan::calibrate::memory::{self, Fit, Verdict};
use sapwood_plan::calibrate::{self, Constant, Measured, Undetermined};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Memory of parameters and activations, from the peaks of the stages of one or more runs
///
/// FILE is TOML as `sapwood plan calibrate guide` prints it, with measured peaks, or the YAML of MindFormers' dry runs
/// (pipeline_config, recompute_config, memory_usage). Exit code 1: the measurements do not determine the costs; what to measure
/// besides is printed in their place.
#[derive(Debug, Args)]
pub(super) struct Memory {
    /// The measurements, or `-`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Look for no memory that each stage has besides its layers
    #[arg(long)]
    no_constant: bool,
    /// The backward of a recomputed layer holds its activations once more
    #[arg(long)]
    transient: bool,
    /// Schedule of the runs, in place of what FILE says
    #[arg(long, value_name = "NAME")]
    schedule: Option<String>,
    /// Micro-batches of a step, in place of what FILE says
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    micro_batches: Option<u32>,
    /// Groups of micro-batches of interleaved schedules: first, or uniform:SIZE; in place of what FILE says
    #[arg(long, value_name = "RULE")]
    group: Option<String>,
}

/// Without costs where they are not determined.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    unknowns: Map<String, Value>,
    rank: usize,
    condition: Option<f64>,
    residual: Vec<f64>,
    head: Option<f64>,
    tail: Option<f64>,
    memory_unit: Option<String>,
    rows: Vec<Row>,
    inseparable: Vec<Vec<String>>,
    missing: Vec<Missing>,
    toml: Option<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    run: usize,
    stage: usize,
    peak: f64,
    fitted: f64,
}

#[derive(Serialize)]
struct Missing {
    /// The run that has the stage, none for a new one.
    run: Option<usize>,
    stage: usize,
    layers: Vec<u32>,
    recompute: Map<String, Value>,
    text: String,
}

impl Run for Memory {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let measured = self.measured()?;
        let (report, exit) = match memory::fit(&measured)? {
            Verdict::Found(fit) => (found(&measured, &fit), Exit::Done),
            Verdict::Undetermined(open) => (undetermined(&measured, &open), Exit::No),
        };
        report.warnings.iter().for_each(|warning| cx.warn(warning));
        cx.emit(&report, |out| print(&report, out))?;
        Ok(exit)
    }
}

impl Memory {
    fn measured(&self) -> Result<Measured, Failure> {
        let mut measured = calibrate::read(&self.file)?;
        if self.no_constant {
            measured.constant = Constant::No;
        }
        measured.transient |= self.transient;
        if let Some(schedule) = &self.schedule {
            measured.schedule.clone_from(schedule);
        }
        if let Some(micro_batches) = self.micro_batches {
            measured.micro_batches = Some(micro_batches as usize);
        }
        if let Some(rule) = &self.group {
            measured.group = group(rule)?;
        }
        Ok(measured)
    }
}

fn found(measured: &Measured, fit: &Fit) -> Report {
    let unknown = |unknown: &memory::Unknown| {
        (unknown.name.clone(), json!({"value": unknown.value, "ci95": unknown.ci95, "gain": unknown.gain}))
    };
    let row = |r: &memory::Residual| Row { run: r.run, stage: r.stage, peak: r.peak, fitted: r.fitted };
    Report {
        schema: "sapwood.plan.calibrate/1",
        unknowns: fit.unknowns.iter().map(unknown).collect(),
        rank: fit.rank,
        condition: Some(fit.condition),
        residual: fit.residuals.iter().map(|r| r.peak - r.fitted).collect(),
        head: fit.head,
        tail: fit.tail,
        memory_unit: measured.unit.clone(),
        rows: fit.residuals.iter().map(row).collect(),
        inseparable: Vec::new(),
        missing: Vec::new(),
        toml: Some(fit.toml(measured)),
        warnings: fit.warnings.clone(),
    }
}

fn undetermined(measured: &Measured, open: &Undetermined) -> Report {
    let missing = |m: &calibrate::Measurement| Missing {
        run: m.run,
        stage: m.stage,
        layers: m.layers.clone(),
        recompute: m.kinds.iter().map(|(kind, counts)| (kind.clone(), json!(counts))).collect(),
        text: m.to_string(),
    };
    let mut warnings = measured.warnings.clone();
    if open.without_constant {
        warnings.push("all other costs are determined if there is no constant: --no-constant".to_owned());
    }
    if !open.enough {
        warnings.push("no measurement with this schedule tells all of them apart: take another schedule".to_owned());
    }
    Report {
        schema: "sapwood.plan.calibrate/1",
        unknowns: open.unknowns.iter().map(|name| (name.clone(), Value::Null)).collect(),
        rank: open.rank,
        condition: None,
        residual: Vec::new(),
        head: None,
        tail: None,
        memory_unit: measured.unit.clone(),
        rows: Vec::new(),
        inseparable: open.inseparable.clone(),
        missing: open.measurements.iter().map(missing).collect(),
        toml: None,
        warnings,
    }
}

fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    match &report.toml {
        Some(toml) => {
            costs(report, out)?;
            write!(out, "\nfor a model description:\n\n{toml}")
        }
        None => open(report, out),
    }
}

fn costs(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let unit = report.memory_unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
    let shown = |value: &Value| value.as_f64().map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    let head =
        ["cost".to_owned(), format!("value{unit}"), "± 95 %".to_owned(), "moves by, per 1 in each peak".to_owned()];
    let unknowns = report.unknowns.iter();
    let mut rows = vec![head];
    rows.extend(unknowns.map(|(name, u)| [name.clone(), shown(&u["value"]), shown(&u["ci95"]), shown(&u["gain"])]));
    for (name, value) in [("head", report.head), ("tail", report.tail)] {
        rows.extend(value.map(|value| [name.to_owned(), format!("{value:.2}"), "-".to_owned(), "-".to_owned()]));
    }
    aligned(&rows, out)?;
    let condition = report.condition.unwrap_or(f64::INFINITY);
    writeln!(out, "rank {}, condition number {condition:.1}", report.rank)?;
    if report.unknowns.contains_key("constant") {
        writeln!(out, "head and tail contain the constant")?;
    }
    writeln!(out)?;
    let mut rows = vec![["run", "stage", "peak", "fitted", "residual"].map(String::from)];
    rows.extend(report.rows.iter().map(|row| {
        let numbers = [row.peak, row.fitted, row.peak - row.fitted].map(|value| format!("{value:.2}"));
        let [peak, fitted, residual] = numbers;
        [(row.run + 1).to_string(), row.stage.to_string(), peak, fitted, residual]
    }));
    aligned(&rows, out)
}

/// What is open, and what would settle it; no costs.
fn open(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let count = report.unknowns.len();
    writeln!(
        out,
        "the measurements do not determine the costs: they have rank {}, and {count} costs are unknown",
        report.rank
    )?;
    for group in &report.inseparable {
        match &group[..] {
            [one] => writeln!(out, "{one} is in no measurement")?,
            group => writeln!(out, "{} cannot be told apart", group.join(", "))?,
        }
    }
    for missing in &report.missing {
        writeln!(out, "measure the peak of {}", missing.text)?;
    }
    Ok(())
}
