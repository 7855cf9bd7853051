//! `sapwood plan simulate`: exact time and memory of a schedule for given times of its virtual stages.

use crate::cli::{Context, Exit, Failure, Run};
use crate::verb::sampling::{choice, names};
use crate::verb::table::aligned;
use clap::Args;
use sapwood_plan::explain::{Bubble, bubble};
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::memory::Activations;
use sapwood_plan::simulate::path::Path;
use sapwood_plan::simulate::{Durations, Order, Span, Sweep, Timeline, Vectors, blocking, time};
use sapwood_plan::ticks::Ticks;
use serde::Serialize;
use std::io::Write;

/// Say exactly how long a schedule takes, how much each stage keeps in memory, and where the bubble is
///
/// Times are given as JSON, a list for each chunk with a number for each stage: [[2,2],[1,3]] is two chunks on two stages. All
/// times have one unit, whichever it is; activations likewise.
#[derive(Debug, Args)]
pub(super) struct Simulate {
    /// Forward times by chunk and stage, such as [[8,8,8,8.8]]
    #[arg(long, value_name = "JSON")]
    forward: String,
    /// Backward times likewise; where the schedule splits backwards, those of the input alone [default: twice the forward,
    /// or as long as it where they are split]
    #[arg(long, value_name = "JSON")]
    backward: Option<String>,
    /// Times of the gradients of weights, where the schedule splits backwards [default: the forward]
    #[arg(long, value_name = "JSON")]
    weight: Option<String>,
    /// What a forward keeps in memory for its backward [default: the forward time]
    #[arg(long, value_name = "JSON")]
    activation: Option<String>,
    /// Time of a transfer between stages
    #[arg(long, value_name = "TIME", default_value_t = 0.0, allow_negative_numbers = true)]
    link_time: f64,
    /// What a transfer delays: async (the receiver alone) or blocking (sender and receiver, as a rendezvous)
    #[arg(long, value_name = "MODE", default_value = "async", value_parser = ["async", "blocking"])]
    link: String,
    #[arg(long, value_name = "NAME", help = choice("Schedule", names(schedule::ALL, |e| e.name), "1f1b, or interleaved with several chunks"))]
    schedule: Option<String>,
    /// Micro-batches
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    micro_batches: u32,
    /// Groups of micro-batches of interleaved schedules: first, or uniform:SIZE
    #[arg(long, value_name = "RULE", default_value = "first")]
    group: String,
    /// Print every operation with its stage and time
    #[arg(long)]
    timeline: bool,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    makespan: f64,
    time_unit: Option<String>,
    schedule: String,
    group: Vec<usize>,
    stages: usize,
    chunks: usize,
    micro_batches: usize,
    stage: Vec<Stage>,
    bubble: Bubble,
    critical: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Vec<Step>>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Stage {
    stage: usize,
    peak: f64,
    busy: Option<f64>,
    idle_warmup: Option<f64>,
    idle_steady: Option<f64>,
    idle_drain: Option<f64>,
    critical_share: Option<f64>,
    chunk: Vec<Chunk>,
}

#[derive(Serialize)]
struct Chunk {
    chunk: usize,
    #[serde(rename = "virtual")]
    virtual_stage: usize,
    forward: f64,
    backward: f64,
    weight: f64,
}

#[derive(Serialize)]
struct Step {
    op: String,
    stage: usize,
    micro_batch: u32,
    start: f64,
    end: f64,
}

/// Numbers by chunk and stage.
type Matrix = Vec<Vec<f64>>;

impl Run for Box<Simulate> {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        if cx.flags.report.is_some() {
            return Err(Failure::usage("--report: simulate makes none"));
        }
        let report = self.report()?;
        cx.emit(&report, |out| print(&report, out))?;
        Ok(Exit::Done)
    }
}

impl Simulate {
    fn report(&self) -> Result<Report, Failure> {
        let forward = matrix("--forward", &self.forward)?;
        let (chunks, stages) = (forward.len(), forward[0].len());
        let like = |flag: &str, text: &Option<String>| -> Result<Option<Matrix>, Failure> {
            let Some(text) = text else { return Ok(None) };
            let found = matrix(flag, text)?;
            if (found.len(), found[0].len()) != (chunks, stages) {
                return Err(Failure::usage(format!(
                    "{flag}: {} x {}, not {chunks} x {stages}",
                    found.len(),
                    found[0].len()
                )));
            }
            Ok(Some(found))
        };
        let (backward, weight) = (like("--backward", &self.backward)?, like("--weight", &self.weight)?);
        let activation = like("--activation", &self.activation)?.unwrap_or_else(|| forward.clone());
        if !(self.link_time >= 0.0 && self.link_time.is_finite()) {
            return Err(Failure::usage(format!("--link-time {}: write 0 or more", self.link_time)));
        }
        let dims = Dims { stages, chunks, micro_batches: self.micro_batches as usize, group: group(&self.group)? };
        let name = self.schedule.as_deref().unwrap_or(if chunks > 1 { "interleaved" } else { "1f1b" });
        let order = Order::new(schedule::find(name)?, &dims)?;
        let split = order.shape().splits_backward;
        if weight.is_some() && !split {
            return Err(Failure::usage(format!("--weight: {name} does not split backwards")));
        }
        let scaled = |by: f64| forward.iter().map(|row| row.iter().map(|t| by * t).collect()).collect::<Matrix>();
        let backward = backward.unwrap_or_else(|| scaled(if split { 1.0 } else { 2.0 }));
        let weight = weight.unwrap_or_else(|| scaled(if split { 1.0 } else { 0.0 }));
        let times: Vec<f64> = [&forward, &backward, &weight].into_iter().flatten().flatten().copied().collect();
        let ticks = Ticks::of(times.iter().copied().chain([self.link_time]));
        let memory_ticks = Ticks::of(activation.iter().flatten().copied());
        let by_virtual = |ticks: Ticks, matrix: &Matrix| -> Result<Vec<u64>, Failure> {
            let of = |at: usize| {
                let (stage, chunk) = order.shape().placement.of(at, stages);
                ticks.from(matrix[chunk][stage])
            };
            Ok((0..dims.virtual_stages()).map(of).collect::<sapwood_plan::Result<_>>()?)
        };
        let mut operations = by_virtual(ticks, &forward)?;
        operations.extend(by_virtual(ticks, &backward)?);
        if split {
            operations.extend(by_virtual(ticks, &weight)?);
        }
        let mut durations = Durations::new(operations, dims.virtual_stages(), stages);
        durations.links[1..].fill(ticks.from(self.link_time)?);
        time::check(&order, &durations)?;
        let kept = by_virtual(memory_ticks, &activation)?;
        let memory = Activations { transient: vec![0; kept.len()], kept, constant: vec![0; stages] };
        let vectors = Vectors::new(&order);
        let peaks: Option<Vec<u64>> = (0..stages).map(|stage| vectors.peak(&order, stage, &memory)).collect();
        let peaks = peaks.ok_or_else(|| Failure::usage("--activation: the peaks are beyond 2^64 ticks"))?;
        let blocking = self.link == "blocking";
        let mut sweep = Sweep::new();
        let free = sweep.run(&order, &durations);
        let makespan = if blocking { blocking::makespan(&order, &durations)? } else { free };
        let path = Path::of(&order, &durations, &sweep);
        let timeline = (!blocking).then(|| Timeline::of(&order, &durations, &sweep, makespan));
        let steps = timeline.as_ref().map(|timeline| steps(timeline, ticks));
        let critical = timeline.as_ref().map_or_else(Vec::new, |timeline| critical(&order, &path, timeline, ticks));
        let stage = |stage: usize| {
            let usage = timeline.as_ref().map(|timeline| timeline.usage(stage));
            let shown =
                |of: fn(&sapwood_plan::simulate::Usage) -> u64| usage.as_ref().map(|usage| ticks.show(of(usage)));
            let own = critical.iter().filter(|step| step.stage == stage).map(|step| step.end - step.start);
            let chunk = |chunk: usize| Chunk {
                chunk,
                virtual_stage: order.shape().placement.virtual_stage(stage, chunk, stages),
                forward: forward[chunk][stage],
                backward: backward[chunk][stage],
                weight: weight[chunk][stage],
            };
            Stage {
                stage,
                peak: memory_ticks.show(peaks[stage]),
                busy: shown(|u| u.busy),
                idle_warmup: shown(|u| u.warmup),
                idle_steady: shown(|u| u.steady),
                idle_drain: shown(|u| u.drain),
                critical_share: (!blocking && makespan > 0).then(|| own.sum::<f64>() / ticks.show(makespan)),
                chunk: (0..chunks).map(chunk).collect(),
            }
        };
        Ok(Report {
            schema: "sapwood.plan.simulate/1",
            makespan: ticks.show(makespan),
            time_unit: None,
            schedule: name.to_owned(),
            group: if order.shape().groups { dims.group.sizes(stages, dims.micro_batches) } else { Vec::new() },
            stages,
            chunks,
            micro_batches: dims.micro_batches,
            stage: (0..stages).map(stage).collect(),
            bubble: bubble(&order, &durations, 0, blocking)?,
            critical,
            timeline: steps.filter(|_| self.timeline),
            warnings: Vec::new(),
        })
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

fn group(text: &str) -> Result<Grouping, Failure> {
    match text.split_once(':') {
        None if text == "first" => Ok(Grouping::First),
        Some(("uniform", size)) => match size.parse() {
            Ok(size) if size > 0 => Ok(Grouping::Uniform(size)),
            _ => Err(Failure::usage(format!("--group {text}: the size of a group is a number of micro-batches"))),
        },
        _ => Err(Failure::usage(format!("--group {text}: write first or uniform:SIZE"))),
    }
}

/// All operations, stage by stage.
fn steps(timeline: &Timeline, ticks: Ticks) -> Vec<Step> {
    let all = timeline.stages.iter().enumerate().flat_map(|(stage, spans)| spans.iter().map(move |span| (stage, span)));
    all.map(|(stage, span)| step(stage, span, ticks)).collect()
}

fn step(stage: usize, span: &Span, ticks: Ticks) -> Step {
    let (start, end) = (ticks.show(span.start), ticks.show(span.end));
    Step { op: span.op.to_string(), stage, micro_batch: span.op.micro_batch, start, end }
}

/// The operations of the critical path, from the first to the last.
fn critical(order: &Order, path: &Path, timeline: &Timeline, ticks: Ticks) -> Vec<Step> {
    path.ops(order).map(|(stage, position)| step(stage, &timeline.stages[stage][position], ticks)).collect()
}

fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "{}: {} stages, {} chunks, {} micro-batches: makespan {}",
        report.schedule, report.stages, report.chunks, report.micro_batches, report.makespan
    )?;
    let head = ["stage", "peak", "busy", "idle: warm-up", "steady", "drain", "critical"].map(String::from);
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| v.to_string());
    let row = |s: &Stage| {
        let share = s.critical_share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        [
            s.stage.to_string(),
            s.peak.to_string(),
            shown(s.busy),
            shown(s.idle_warmup),
            shown(s.idle_steady),
            shown(s.idle_drain),
            share,
        ]
    };
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(report.stage.iter().map(row)).collect();
    aligned(&rows, out)?;
    let b = &report.bubble;
    writeln!(
        out,
        "bubble {:.4} of the useful work = ideal {:.4} + imbalance {:.4} + recompute {:.4} + comm {:.4}",
        b.real, b.ideal, b.imbalance, b.recompute, b.comm
    )?;
    for step in report.timeline.iter().flatten() {
        writeln!(out, "stage {}  {:<10} {} to {}", step.stage, step.op, step.start, step.end)?;
    }
    Ok(())
}
