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
    /// What it would change to use the memory that a stage has free, and on top of that one layer less in each virtual stage
    /// and more memory on each stage
    #[arg(long)]
    gradients: bool,
    /// The formulas of times, memory and makespan, with their values
    #[arg(long)]
    formulas: bool,
    /// What differs from another plan: a file of --out, a MindFormers YAML, flags of Megatron-LM, or a layout string, whose
    /// layers recompute nothing
    #[arg(long, value_name = "FILE|FLAGS|STRING", allow_hyphen_values = true)]
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
    against: Option<Against>,
    diff: Vec<Difference>,
    warnings: Vec<String>,
}

/// What the other plan was taken for.
#[derive(Serialize)]
struct Against {
    schedule: String,
    stages: usize,
    chunks: usize,
    micro_batches: usize,
    /// What all its layers were taken to recompute, where that was not stated.
    assumed_recompute: Option<&'static str>,
}

impl Run for Box<Explain> {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let planned = self.stated.read(cx, &self.given)?;
        let dims = planned.order.dims();
        let other = self.against.as_deref().map(|text| Stated::of(text, (dims.stages, dims.micro_batches)));
        let against = other.as_ref().and_then(Stated::file);
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
        let (against, diff) = match &other {
            Some(other) => self.against(cx, other, &summary).map(|(against, diff)| (Some(against), diff))?,
            None => (None, Vec::new()),
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
            against,
            diff,
            summary,
            warnings: warnings.clone(),
        };
        warnings.iter().for_each(|warning| cx.warn(warning));
        page::write(
            cx,
            page::Sources::of(&planned, &outcome, &report.summary).explained(&report.gradients, &report.diff),
        )?;
        cx.emit(&report, |out| print(&report, out))?;
        exceeding(cx, &planned, &outcome)
    }
}

impl Explain {
    /// The other plan and what differs in it.
    fn against(&self, cx: &Context, other: &Stated, summary: &Summary) -> Result<(Against, Vec<Difference>), Failure> {
        let planned = other.read(cx, &self.given)?;
        let outcome = judge(&planned, &self.given)?;
        let size = self.given.micro_batch_size;
        let theirs = Summary::new(&planned.problem, &planned.order, &planned.layout, &outcome, size)?;
        let against = Against {
            schedule: theirs.schedule.clone(),
            stages: theirs.stages,
            chunks: theirs.chunks,
            micro_batches: theirs.micro_batches,
            assumed_recompute: other.is_layout().then_some("none"),
        };
        Ok((against, explain::diff(summary, &theirs)))
    }
}

fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    tables::plan(&report.summary, out)?;
    critical(report, out)?;
    gradients(&report.gradients, out)?;
    for formula in &report.formulas {
        let stage = formula.stage.map_or_else(|| "plan".to_owned(), |stage| format!("stage {stage}"));
        writeln!(out, "{stage}: {} = {}", formula.name, formula.expression)?;
        writeln!(out, "    = {} = {}", formula.substituted, formula.value)?;
    }
    if let Some(other) = &report.against {
        let Against { schedule, stages, chunks, micro_batches, .. } = other;
        writeln!(out, "the other plan: {schedule}, {stages} stages, {chunks} chunks, {micro_batches} micro-batches")?;
        if let Some(kind) = other.assumed_recompute {
            writeln!(out, "a layout string tells no recomputation: {kind} was assumed; flags of Megatron-LM tell it")?;
        }
        if report.diff.is_empty() {
            writeln!(out, "it is the same")?;
        }
    }
    if !report.diff.is_empty() {
        let shown = |d: &Difference| {
            let stage = d.stage.map_or_else(|| "all".to_owned(), |s| s.to_string());
            let sides = [&d.from, &d.to].map(|text| match text.parse() {
                Ok(number) if !d.what.starts_with("bubble") => tables::number(number),
                _ => text.clone(),
            });
            let [from, to] = sides;
            [stage, d.what.clone(), from, to]
        };
        let head = ["stage", "what", "this plan", "the other"].map(String::from);
        let rows: Vec<_> = std::iter::once(head).chain(report.diff.iter().map(shown)).collect();
        aligned(&rows, out)?;
    }
    Ok(())
}

/// The largest gains, and how to see the others.
fn gradients(all: &[Gradient], out: &mut dyn Write) -> std::io::Result<()> {
    let Some(shown) = all.get(..all.len().min(PRINTED)).filter(|shown| !shown.is_empty()) else { return Ok(()) };
    let changes = tables::numbers(shown.iter().map(|gradient| Some(gradient.makespan_change)));
    let row = |(gradient, change): (&Gradient, String)| {
        let sign = if gradient.makespan_change > 0.0 { "+" } else { "" };
        [gradient.change.clone(), format!("{sign}{change}")]
    };
    let head = ["change", "makespan"].map(String::from);
    let rows: Vec<_> = std::iter::once(head).chain(shown.iter().zip(changes).map(row)).collect();
    aligned(&rows, out)?;
    if let Some(next) = all.get(shown.len()) {
        let (more, of, best) = (all.len() - shown.len(), all.len(), tables::number(next.makespan_change));
        writeln!(out, "{more} more changes of {of}, the best of them {best}: --json has all")?;
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
