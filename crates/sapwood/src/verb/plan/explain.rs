//! `sapwood plan explain`: why a plan takes as long as it does, and what would change it.

use super::given::Given;
use super::simulate::{exceeding, judge};
use super::stated::{Planned, Stated};
use super::{exports, page, tables};
use crate::cli::{Context, Exit, Failure, Run};
use crate::verb::table::aligned;
use clap::Args;
use sapwood_plan::explain::{self, Difference, Formula, Gradient};
use sapwood_plan::report::{self, Step, Summary};
use sapwood_plan::simulate::Vectors;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Gains that are printed.
const PRINTED: usize = 8;

/// Say why a plan takes as long as it does: where the bubble is, what would help, what differs from another plan
///
/// The plan is stated by --layout, --megatron-flags (the flags of a running job, read as Megatron-LM reads them), --plan or
/// --yaml. Exit code 1: a stage exceeds its memory.
#[derive(Debug, Args)]
pub(super) struct Explain {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    stated: Stated,
    /// What one layer less in each virtual stage and more memory on each stage would change
    #[arg(long)]
    gradients: bool,
    /// The formulas of times, memory and makespan, with their values
    #[arg(long)]
    formulas: bool,
    /// What differs from another plan: a file that --out wrote, or a layout string
    #[arg(long, value_name = "PLAN|STRING")]
    against: Option<String>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    #[serde(flatten)]
    summary: Summary,
    critical: Vec<Step>,
    gradients: Vec<Gradient>,
    formulas: Vec<Formula>,
    diff: Vec<Difference>,
    warnings: Vec<String>,
}

impl Run for Box<Explain> {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let planned = self.stated.read(cx, &self.given)?;
        let against = self.against.as_deref().map(Path::new);
        let inputs: Vec<&Path> = self.given.file().into_iter().chain(self.stated.file()).chain(against).collect();
        exports::check_places(cx, &inputs, &[], None)?;
        let outcome = judge(&planned, &self.given)?;
        let Planned { problem, order, layout, warnings } = &planned;
        let summary = Summary::new(problem, order, layout, &outcome, self.given.micro_batch_size)?;
        let gradients = if self.gradients {
            explain::gradients(problem, order, &Vectors::new(order), &layout.counts(problem)?)?
        } else {
            Vec::new()
        };
        let report = Report {
            schema: "sapwood.plan.explain/1",
            critical: outcome.trace.as_ref().map_or_else(Vec::new, |trace| report::critical(problem, order, trace)),
            gradients,
            formulas: if self.formulas {
                explain::formulas(problem, order, &layout.counts(problem)?, &outcome)?
            } else {
                Vec::new()
            },
            diff: self.against(cx, &summary)?,
            summary,
            warnings: warnings.clone(),
        };
        warnings.iter().for_each(|warning| cx.warn(warning));
        page::write(cx, page::Sources::of(&planned, &outcome, &report.summary, &report.gradients))?;
        cx.emit(&report, |out| print(&report, self.against.is_some(), out))?;
        exceeding(cx, &planned, &outcome)
    }
}

impl Explain {
    /// What differs from the other plan.
    fn against(&self, cx: &Context, summary: &Summary) -> Result<Vec<Difference>, Failure> {
        let Some(other) = &self.against else { return Ok(Vec::new()) };
        let stated = Stated::of(other);
        let planned = stated.read(cx, &self.given.with_stages(summary.stages))?;
        let outcome = judge(&planned, &self.given)?;
        let size = self.given.micro_batch_size;
        let other = Summary::new(&planned.problem, &planned.order, &planned.layout, &outcome, size)?;
        Ok(explain::diff(summary, &other))
    }
}

fn print(report: &Report, compared: bool, out: &mut dyn Write) -> std::io::Result<()> {
    tables::plan(&report.summary, out)?;
    critical(report, out)?;
    if !report.gradients.is_empty() {
        let shown = |gradient: &Gradient| [gradient.change.clone(), format!("{:+}", gradient.makespan_change)];
        let head = ["change", "makespan"].map(String::from);
        let rows: Vec<_> = std::iter::once(head).chain(report.gradients.iter().take(PRINTED).map(shown)).collect();
        aligned(&rows, out)?;
    }
    for formula in &report.formulas {
        let stage = formula.stage.map_or_else(|| "plan".to_owned(), |stage| format!("stage {stage}"));
        writeln!(out, "{stage}: {} = {}", formula.name, formula.expression)?;
        writeln!(out, "    = {} = {}", formula.substituted, formula.value)?;
    }
    if compared && report.diff.is_empty() {
        writeln!(out, "the other plan is the same")?;
    }
    if !report.diff.is_empty() {
        let shown = |d: &Difference| {
            [d.stage.map_or_else(|| "all".to_owned(), |s| s.to_string()), d.what.clone(), d.from.clone(), d.to.clone()]
        };
        let head = ["stage", "what", "this plan", "the other"].map(String::from);
        let rows: Vec<_> = std::iter::once(head).chain(report.diff.iter().map(shown)).collect();
        aligned(&rows, out)?;
    }
    Ok(())
}

/// The critical path in a line: how often it runs what on which stage.
fn critical(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let stages = report.summary.stage.iter().filter_map(|stage| Some((stage.stage, stage.critical_share?)));
    let mut shares: Vec<(usize, f64)> = stages.collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let named = |&(stage, share): &(usize, f64)| format!("stage {stage} {:.1} %", 100.0 * share);
    let named: Vec<String> = shares.iter().take(3).map(named).collect();
    if named.is_empty() {
        return Ok(());
    }
    writeln!(out, "critical path: {} operations; most of it on {}", report.critical.len(), named.join(", "))
}
