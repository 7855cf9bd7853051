//! `sapwood plan calibrate times`: traces to times of layers.

use crate::cli::{Context, Exit, Failure, Run};
use crate::verb::table::aligned;
use clap::Args;
use sapwood_plan::calibrate::times::{self, Median, Options};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Forward and backward times of layers, from traces
///
/// Traces are Chrome trace events, as PyTorch's profiler writes them (JSON, or compressed), or tables of durations (CSV, such
/// as `nsys stats` writes). An event is about a layer if it is called forward:LAYER or backward:LAYER; fwd, bwd, LAYER_fwd and the like
/// do as well, backward:LAYER@KIND is one with recomputation, wgrad:LAYER a gradient of weights that runs apart. The median of
/// each is the answer, without warm-up and without what is further than 3 median absolute deviations from it.
#[derive(Debug, Args)]
pub(super) struct Times {
    /// Traces and tables, or `-`
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,
    /// A kind of layer and the names of its layers, `*` for any characters; without it layers are of one kind whose names
    /// differ in numbers alone (repeatable, the first that fits counts)
    #[arg(long, value_name = "KIND=PATTERN[,PATTERN..]", value_parser = layer)]
    layer: Vec<(String, Vec<String>)>,
    /// How often each layer runs before its times count
    #[arg(long, value_name = "N", default_value_t = 2)]
    warm_up: u32,
    /// The unit of tables that do not tell it
    #[arg(long, value_name = "UNIT", value_parser = ["ns", "us", "ms", "s"])]
    time_unit: Option<String>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    time_unit: Option<&'static str>,
    times: Vec<Row>,
    toml: String,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    layer: String,
    direction: &'static str,
    recompute: Option<String>,
    median: f64,
    count: usize,
    outliers: usize,
    warm_up: usize,
}

impl Run for Times {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let options = Options { warm_up: self.warm_up as usize, layers: self.layer, unit: self.time_unit };
        let found = times::read(&self.traces, &options)?;
        let report = Report {
            schema: "sapwood.plan.calibrate.times/1",
            time_unit: found.milliseconds.then_some("ms"),
            times: found.layers.iter().flat_map(rows).collect(),
            toml: found.toml(),
            warnings: found.warnings.clone(),
        };
        report.warnings.iter().for_each(|warning| cx.warn(warning));
        cx.emit(&report, |out| print(&report, out))?;
        Ok(Exit::Done)
    }
}

/// KIND=PATTERN,PATTERN
fn layer(text: &str) -> Result<(String, Vec<String>), String> {
    let (kind, patterns) = text.split_once('=').ok_or("write KIND=PATTERN, such as moe=layers.*")?;
    let patterns: Vec<String> = patterns.split(',').map(|pattern| pattern.trim().to_owned()).collect();
    if kind.trim().is_empty() || patterns.iter().any(String::is_empty) {
        return Err("neither the kind nor a pattern may be empty".to_owned());
    }
    Ok((kind.trim().to_owned(), patterns))
}

fn rows(layer: &times::LayerTimes) -> Vec<Row> {
    let row = |direction, recompute: Option<&String>, median: &Median| Row {
        layer: layer.name.clone(),
        direction,
        recompute: recompute.cloned(),
        median: median.value,
        count: median.count,
        outliers: median.outliers,
        warm_up: median.warm_up,
    };
    let mut rows = vec![row("forward", None, &layer.forward), row("backward", None, &layer.backward)];
    rows.extend(layer.weight.as_ref().map(|median| row("weight", None, median)));
    rows.extend(layer.recompute.iter().map(|(kind, median)| row("backward", Some(kind), median)));
    rows
}

fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let unit = report.time_unit.map_or_else(String::new, |unit| format!(" {unit}"));
    let mut rows =
        vec![["layer", "direction", &format!("median{unit}"), "of", "outliers", "warm-up"].map(String::from)];
    rows.extend(report.times.iter().map(|row| {
        let direction = match &row.recompute {
            Some(kind) => format!("{} ({kind})", row.direction),
            None => row.direction.to_owned(),
        };
        let [count, outliers, warm_up] = [row.count, row.outliers, row.warm_up].map(|n| n.to_string());
        [row.layer.clone(), direction, format!("{:.6}", row.median), count, outliers, warm_up]
    }));
    aligned(&rows, out)?;
    write!(out, "\nfor a model description:\n\n{}", report.toml)
}
