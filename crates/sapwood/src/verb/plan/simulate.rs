//! `sapwood plan simulate`: exact time and memory of a plan, or of given times of virtual stages.

use super::given::Given;
use super::stated::{Planned, Stated, group};
use super::{exports, page, tables};
use crate::cli::{Context, Exit, Failure, Run};
use clap::Args;
use sapwood_plan::layout::{self, Layout};
use sapwood_plan::model::{KindCost, MemoryUnit, Model, Role, Segment};
use sapwood_plan::outcome::{self, Outcome};
use sapwood_plan::problem::Problem;
use sapwood_plan::report::{self, Step, Summary};
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::Order;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Say exactly how long a plan takes, how much each stage keeps in memory, and where the bubble is
///
/// A plan of a MODEL is stated by --layout, --megatron-flags, --plan or --yaml. Without a model, --forward gives times as JSON,
/// a list for each chunk with a number for each stage: [[2,2],[1,3]] is two chunks on two stages. All times have one unit,
/// whichever it is; activations likewise. Exit code 1: a stage exceeds its memory.
#[derive(Debug, Args)]
pub(super) struct Simulate {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    stated: Stated,
    #[command(flatten)]
    raw: Raw,
    /// Print every operation with its stage and time
    #[arg(long)]
    timeline: bool,
}

/// Times without a model.
#[derive(Debug, Args)]
struct Raw {
    /// Forward times by chunk and stage, such as [[8,8,8,8.8]]; in place of a model
    #[arg(long, value_name = "JSON", conflicts_with_all = ["model", "plan_of", "recompute", "sapp_time",
        "transient", "allow_empty", "megatron_multi_loss"])]
    forward: Option<String>,
    /// Backward times likewise; where the schedule splits backwards, those of the input alone [default: twice the forward,
    /// or as long as it where they are split]
    #[arg(long, value_name = "JSON", requires = "forward")]
    backward: Option<String>,
    /// Times of the gradients of weights, where the schedule splits backwards [default: the forward]
    #[arg(long, value_name = "JSON", requires = "forward")]
    weight: Option<String>,
    /// What a forward keeps in memory for its backward [default: the forward time]
    #[arg(long, value_name = "JSON", requires = "forward")]
    activation: Option<String>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    #[serde(flatten)]
    summary: Summary,
    critical: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Vec<Step>>,
    warnings: Vec<String>,
}

/// Numbers by chunk and stage.
type Matrix = Vec<Vec<f64>>;

impl Run for Box<Simulate> {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let planned = match &self.raw.forward {
            Some(forward) => self.raw(cx, forward)?,
            None if self.given.has_model() => self.stated.read(cx, &self.given)?,
            None => {
                return Err(Failure::usage("neither a model nor --forward is given")
                    .hint("sapwood plan simulate --forward '[[8,8,8,8.8]]' --micro-batches 16"));
            }
        };
        let inputs: Vec<&Path> = self.given.file().into_iter().chain(self.stated.file()).collect();
        exports::check_places(cx, &inputs, &[], None)?;
        let outcome = judge(&planned, &self.given)?;
        let Planned { problem, order, layout, warnings } = &planned;
        let trace = outcome.trace.as_ref();
        let report = Report {
            schema: "sapwood.plan.simulate/1",
            summary: Summary::new(problem, order, layout, &outcome, self.given.micro_batch_size)?,
            critical: trace.map_or_else(Vec::new, |trace| report::critical(problem, order, trace)),
            timeline: trace.filter(|_| self.timeline).map(|trace| report::timeline(problem, trace)),
            warnings: warnings.clone(),
        };
        warnings.iter().for_each(|warning| cx.warn(warning));
        page::write(cx, page::Sources::of(&planned, &outcome, &report.summary))?;
        cx.emit(&report, |out| print(&report, out))?;
        exceeding(cx, &planned, &outcome)
    }
}

/// The verdict on a stated plan.
pub(super) fn judge(planned: &Planned, given: &Given) -> Result<Outcome, Failure> {
    let counts = planned.layout.counts(&planned.problem)?;
    Ok(outcome::simulate(&planned.problem, &planned.order, &counts, given.rendezvous())?)
}

/// Says which stages exceed their memory.
pub(super) fn exceeding(cx: &Context, planned: &Planned, outcome: &Outcome) -> Result<Exit, Failure> {
    let (problem, unit) = (&planned.problem, planned.problem.model().memory_unit.name());
    let over = outcome.exceeding(problem);
    for &stage in &over {
        let memory = problem.memory();
        let shown = |ticks: u64| tables::number(memory.show(ticks));
        let (peak, cap) = (shown(outcome.peaks[stage].total()), shown(problem.caps()[stage]));
        cx.note(&format!("stage {stage} does not fit: its peak is {peak} {unit}, its memory {cap} {unit}"));
    }
    Ok(if over.is_empty() { Exit::Done } else { Exit::No })
}

impl Simulate {
    /// The plan of times without a model: a pinned segment for each virtual stage.
    fn raw(&self, cx: &Context, forward: &str) -> Result<Planned, Failure> {
        let forward = matrix("--forward", forward)?;
        let (chunks, stages) = (forward.len(), forward[0].len());
        let like = |flag: &str, text: &Option<String>| -> Result<Option<Matrix>, Failure> {
            let Some(text) = text else { return Ok(None) };
            let found = matrix(flag, text)?;
            if (found.len(), found[0].len()) == (chunks, stages) {
                return Ok(Some(found));
            }
            Err(Failure::usage(format!("{flag}: {} x {}, not {chunks} x {stages}", found.len(), found[0].len())))
        };
        let (backward, weight) = (like("--backward", &self.raw.backward)?, like("--weight", &self.raw.weight)?);
        let activation = like("--activation", &self.raw.activation)?;
        let grouping = self.stated.group.as_deref().map_or(Ok(Grouping::First), group)?;
        let dims = Dims { stages, chunks, micro_batches: self.given.micro_batches(None)?, group: grouping };
        self.given.stages(Some(stages))?;
        let name = self.stated.schedule.as_deref().unwrap_or(if chunks > 1 { "interleaved" } else { "1f1b" });
        let order = Order::new(schedule::find(name)?, &dims)?;
        let split = order.shape().splits_backward;
        if weight.is_some() && !split {
            return Err(Failure::usage(format!("--weight: {name} does not split backwards")));
        }
        let segment = |at: usize| {
            let (stage, chunk) = order.shape().placement.of(at, stages);
            let at_or = |matrix: &Option<Matrix>, default: f64| matrix.as_ref().map_or(default, |m| m[chunk][stage]);
            let time = forward[chunk][stage];
            let weight = if split { at_or(&weight, time) } else { 0.0 };
            let kind =
                KindCost { name: "none".into(), activation: at_or(&activation, time), extra: 0.0, transient: 0.0 };
            Segment {
                name: format!("virtual stage {at}"),
                role: Role::At(at),
                count: 1,
                forward: time,
                backward: at_or(&backward, if split { time } else { 2.0 * time }) + weight,
                weight,
                parameters: 0.0,
                kinds: vec![kind],
            }
        };
        let k = dims.virtual_stages();
        let model = Model {
            name: "times".to_owned(),
            segments: (0..k).map(segment).collect(),
            constant: Vec::new(),
            tails: Vec::new(),
            link: self.given.link_time.unwrap_or(0.0),
            time_unit: self.given.time_unit.clone(),
            memory_unit: MemoryUnit::Raw,
            warnings: Vec::new(),
        };
        if !(model.link >= 0.0 && model.link.is_finite()) {
            return Err(Failure::usage(format!("--link-time {}: write 0 or more", model.link)));
        }
        let caps = self.given.caps(cx, &model, stages)?;
        let problem = Problem::new(model, &caps, &[])?.allow_empty();
        let run = |segment| vec![layout::Run { segment, kind: 0, count: 1 }];
        let layout = Layout { chunks: (0..k).map(run).collect() };
        Ok(Planned { problem, order, layout, warnings: Vec::new() })
    }
}

/// A JSON list of lists of numbers, all as long as each other.
fn matrix(flag: &str, text: &str) -> Result<Matrix, Failure> {
    let wrong =
        |what: String| Failure::usage(format!("{flag}: {what}")).hint("a list for each chunk, such as [[2,2],[1,3]]");
    let found: Matrix = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    let stages = found.first().map_or(0, Vec::len);
    if stages == 0 || found.iter().any(|row| row.len() != stages) {
        return Err(wrong("every chunk needs one number for each stage".to_owned()));
    }
    match found.iter().flatten().find(|t| **t < 0.0) {
        Some(bad) => Err(wrong(format!("{bad} is below 0"))),
        None => Ok(found),
    }
}

fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    tables::plan(&report.summary, out)?;
    let steps = || report.timeline.iter().flatten();
    let mut times = tables::numbers(steps().flat_map(|step| [step.start, step.end]).map(Some)).into_iter();
    for step in steps() {
        let (start, end) = (times.next().unwrap_or_default(), times.next().unwrap_or_default());
        writeln!(out, "stage {}  {:<10} {start} to {end}", step.stage, step.op)?;
    }
    Ok(())
}
