//! `sapwood plan export`: a plan that is there already, written for a framework.

use super::exports::{self, Export, Exported};
use crate::cli::{Context, Exit, Failure, Run};
use clap::Args;
use sapwood_plan::export::Plan;
use sapwood_plan::import;
use sapwood_plan::schedule::Grouping;
use serde::Serialize;
use std::path::PathBuf;

/// Write a plan for a framework: megatron, mindformers or plan_json
#[derive(Debug, Args)]
pub(super) struct ExportPlan {
    /// The plan, as --out wrote it
    #[arg(value_name = "PLAN.json")]
    plan: PathBuf,
    /// What to write and where; - is stdout
    #[arg(value_name = "KIND=PATH", required = true)]
    exports: Vec<Export>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    files: Vec<Exported>,
}

impl Run for ExportPlan {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        exports::check_places(cx, &[&self.plan], &self.exports, None)?;
        let place = self.plan.display();
        let text = String::from_utf8(sapwood_files::read(&self.plan)?);
        let text = text.map_err(|_| Failure::usage(format!("{place}: no UTF-8 text")))?;
        let model = import::plan_model(&text).map_err(|why| Failure::usage(format!("{place}: {why}")))?;
        let found = import::read(import::find("plan_json")?, &text, &model, &import::Options::default());
        let found = found.map_err(|why| Failure::usage(format!("{place}: {why}")))?;
        let plan = Plan {
            model: &model,
            layout: &found.layout,
            schedule: found.schedule.unwrap_or("1f1b"),
            stages: found.stages,
            chunks: found.chunks,
            micro_batches: found.micro_batches.unwrap_or(1),
            group: found.group.map_or(Grouping::First, Grouping::Uniform),
        };
        let written = exports::texts(&self.exports, &plan)?;
        exports::write(&written, cx.flags.json)?;
        let report = Report { schema: "sapwood.plan.export/1", files: exports::listed(&written) };
        cx.emit(&report, |_| Ok(()))?;
        Ok(Exit::Done)
    }
}
