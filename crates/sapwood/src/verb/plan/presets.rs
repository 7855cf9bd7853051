//! `sapwood plan presets`: what the planner knows by name.

use crate::cli::{Context, Exit, Failure, Run};
use crate::verb::table::aligned;
use clap::Args;
use sapwood_plan::{baseline, export, import, model, recompute, schedule};
use serde::Serialize;

/// List what the planner knows by name
#[derive(Debug, Args)]
pub(super) struct Presets {
    /// Also schedules, readers, importers, exporters, baselines and kinds of recomputation
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    /// Models that can be planned by name; none yet.
    models: Vec<String>,
    #[serde(flatten)]
    all: Option<All>,
}

#[derive(Serialize)]
struct All {
    schedules: Vec<&'static str>,
    readers: Vec<&'static str>,
    importers: Vec<&'static str>,
    exporters: Vec<&'static str>,
    baselines: Vec<&'static str>,
    recomputation: Vec<&'static str>,
}

impl Run for Presets {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let report = Report {
            schema: "sapwood.plan.presets/1",
            models: Vec::new(),
            all: self.all.then(|| All {
                schedules: schedule::ALL.iter().map(|e| e.name).collect(),
                readers: model::readers::ALL.iter().map(|e| e.name).collect(),
                importers: import::ALL.iter().map(|e| e.name).collect(),
                exporters: export::ALL.iter().map(|e| e.name).collect(),
                baselines: baseline::ALL.iter().map(|e| e.name).collect(),
                recomputation: recompute::all().map(|e| e.name).collect(),
            }),
        };
        cx.emit(&report, |out| {
            let mut rows: Vec<[String; 3]> = Vec::new();
            let mut add = |what: &str, name: &str, summary: &str| rows.push([what, name, summary].map(str::to_owned));
            if self.all {
                schedule::ALL.iter().for_each(|e| add("schedule", e.name, e.summary));
                model::readers::ALL.iter().for_each(|e| add("reader", e.name, e.summary));
                import::ALL.iter().for_each(|e| add("importer", e.name, e.summary));
                export::ALL.iter().for_each(|e| add("exporter", e.name, e.summary));
                baseline::ALL.iter().for_each(|e| add("baseline", e.name, e.summary));
                recompute::all().for_each(|e| add("recomputation", e.name, e.summary));
            }
            if rows.is_empty() {
                return writeln!(out, "no models yet: describe yours with measured costs; --all lists everything else");
            }
            aligned(&rows, out)
        })?;
        Ok(Exit::Done)
    }
}
