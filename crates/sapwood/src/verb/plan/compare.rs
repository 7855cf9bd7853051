//! `sapwood plan compare`: ours beside published planners, each plan judged by the same exact simulator.

use super::given::Given;
use super::search::{Search, limit};
use super::tables::numbers;
use crate::cli::{Context, Exit, Failure, Run};
use crate::verb::table::aligned;
use clap::Args;
use sapwood_files::interrupt;
use sapwood_plan::baseline::{self, Answer, Entry};
use sapwood_plan::outcome::{self, Outcome};
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::Order;
use sapwood_plan::solve::{self as choose, Express, Request};
use serde::Serialize;
use std::io::Write;
use std::time::Instant;

/// Compare with published planners: Megatron-LM's uniform cut, PipeDream, Merak, AdaPipe, SAPP
///
/// Every plan is judged by the same exact simulator with its true peaks of memory. Planners without chunks are asked for one
/// chunk, the others for every number of chunks; the best plan that fits is shown.
#[derive(Debug, Args)]
pub(super) struct Compare {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    search: Search,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    time_unit: Option<String>,
    memory_unit: &'static str,
    rows: Vec<Row>,
    complete: bool,
    interrupted: bool,
    measured: Measured,
}

#[derive(Serialize)]
struct Row {
    planner: &'static str,
    schedule: Option<String>,
    chunks: Option<usize>,
    makespan: Option<f64>,
    /// Makespan by ours.
    ratio: Option<f64>,
    peak: Option<f64>,
    /// Whether every peak is within its cap.
    feasible: Option<bool>,
    /// Time of recomputation of a micro-batch, of all stages.
    recompute_time: Option<f64>,
    /// Why there is no plan.
    reason: Option<String>,
}

#[derive(Serialize)]
struct Measured {
    rows_s: Vec<f64>,
}

/// A plan that was judged.
struct Judged {
    order: Order,
    outcome: Outcome,
    recomputation: u64,
    fits: bool,
}

impl Run for Box<Compare> {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let model = self.given.model(cx)?;
        let problem = self.given.problem(cx, model, self.given.stages(None)?)?;
        let request = self.search.request(cx, &self.given, &problem, Express::Any)?;
        interrupt::install()?;
        let start = Instant::now();
        let limit = limit(self.search.time_limit.as_deref())?;
        let stop = || interrupt::requested() || limit.is_some_and(|limit| start.elapsed().as_secs_f64() >= limit);
        let runtime = cx.runtime()?;
        let (mut rows, mut rows_s) = (Vec::new(), Vec::new());
        let solved = choose::solve(runtime.exec(), &request, &stop)?;
        let ours = solved.best.map(|best| -> Result<Judged, Failure> {
            let recomputation = problem.recomputation(&best.layout.counts(&problem)?);
            Ok(Judged { order: best.order, outcome: best.outcome, recomputation, fits: true })
        });
        let ours = ours.transpose()?;
        let reason = solved.failure.filter(|_| ours.is_none()).map(|why| why.to_string());
        let makespan = ours.as_ref().map(|ours| ours.outcome.makespan);
        rows.push(row("sapwood", &request, ours.as_ref(), makespan, reason));
        rows_s.push(start.elapsed().as_secs_f64());
        for entry in baseline::ALL {
            if interrupt::requested() {
                break;
            }
            let start = Instant::now();
            let (judged, reason) = best_of(entry, &request)?;
            rows.push(row(entry.name, &request, judged.as_ref(), makespan, reason));
            rows_s.push(start.elapsed().as_secs_f64());
        }
        let interrupted = interrupt::requested();
        let report = Report {
            schema: "sapwood.plan.compare/1",
            time_unit: problem.model().time_unit.clone(),
            memory_unit: problem.model().memory_unit.name(),
            complete: solved.complete && !interrupted,
            interrupted,
            rows,
            measured: Measured { rows_s },
        };
        cx.emit(&report, |out| print(&report, out))?;
        Ok(match makespan {
            _ if interrupted => Exit::Interrupted,
            None => Exit::No,
            Some(_) => Exit::Done,
        })
    }
}

/// The best plan of a baseline over the numbers of chunks: one that fits before one that does not.
fn best_of(entry: &Entry, request: &Request<'_>) -> Result<(Option<Judged>, Option<String>), Failure> {
    let problem = request.problem;
    let (mut best, mut reason): (Option<Judged>, _) = (None, None);
    for &chunks in &request.chunks {
        let stages = problem.caps().len();
        let dims = Dims { stages, chunks, micro_batches: request.micro_batches, group: Grouping::First };
        if problem.accepts(&dims).is_err() {
            continue;
        }
        let plan = match entry.plan(problem, &dims, &baseline::Options::default())? {
            Answer::None(why) => {
                reason.get_or_insert(why);
                continue;
            }
            Answer::Plan(plan) => plan,
        };
        let counts = plan.layout.counts(problem)?;
        let order = Order::new(schedule::find(plan.schedule)?, &dims)?;
        let outcome = outcome::simulate(problem, &order, &counts, request.rendezvous)?;
        let fits = outcome.exceeding(problem).is_empty();
        let judged = Judged { order, outcome, recomputation: problem.recomputation(&counts), fits };
        let key = |judged: &Judged| (!judged.fits, judged.outcome.makespan);
        if best.as_ref().is_none_or(|best| key(&judged) < key(best)) {
            best = Some(judged);
        }
    }
    let reason = reason.filter(|_| best.is_none());
    Ok((best, reason))
}

fn row(
    planner: &'static str,
    request: &Request<'_>,
    judged: Option<&Judged>,
    ours: Option<u64>,
    reason: Option<String>,
) -> Row {
    let (time, memory) = (request.problem.time(), request.problem.memory());
    let peak = |judged: &Judged| judged.outcome.peaks.iter().map(|peak| peak.total()).max().unwrap_or(0);
    Row {
        planner,
        schedule: judged.map(|judged| judged.order.name().to_owned()),
        chunks: judged.map(|judged| judged.order.dims().chunks),
        makespan: judged.map(|judged| time.show(judged.outcome.makespan)),
        ratio: judged.zip(ours).map(|(judged, ours)| judged.outcome.makespan as f64 / ours as f64),
        peak: judged.map(|judged| memory.show(peak(judged))),
        feasible: judged.map(|judged| judged.fits),
        recompute_time: judged.map(|judged| time.show(judged.recomputation)),
        reason,
    }
}

fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let peak = if report.memory_unit.is_empty() { "peak".to_owned() } else { format!("peak {}", report.memory_unit) };
    let head =
        ["planner", "schedule", "chunks", "makespan", "by ours", &peak, "fits", "recomputation"].map(String::from);
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let column = |of: fn(&Row) -> Option<f64>| numbers(report.rows.iter().map(of));
    let (makespans, peaks) = (column(|row| row.makespan), column(|row| row.peak));
    let recomputation = column(|row| row.recompute_time);
    let shown = |(at, row): (usize, &Row)| {
        [
            row.planner.to_owned(),
            text(row.schedule.clone()),
            text(row.chunks.map(|chunks| chunks.to_string())),
            makespans[at].clone(),
            text(row.ratio.map(|ratio| format!("{ratio:.4}"))),
            peaks[at].clone(),
            text(row.feasible.map(|fits| if fits { "yes" } else { "no" }.to_owned())),
            recomputation[at].clone(),
        ]
    };
    let rows: Vec<_> = std::iter::once(head).chain(report.rows.iter().enumerate().map(shown)).collect();
    aligned(&rows, out)?;
    for row in &report.rows {
        if let Some(reason) = &row.reason {
            writeln!(out, "{}: {reason}", row.planner)?;
        }
    }
    Ok(())
}
