//! What is measured of the planner, and what it is to reach.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use sapwood_machine::fit::median;
use sapwood_plan::bound::{self, lower_bound};
use sapwood_plan::model::{Model, readers};
use sapwood_plan::problem::Problem;
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::search;
use sapwood_plan::simulate::{Durations, LANES, Order, Sweep, Vectors, Wide};
use sapwood_skeleton::Exec;

use super::super::contest::{Agreement, BoxError, Contender, Job, Ours, contest};
use super::super::data;
use super::super::peer::Peer;
use super::table::Measure;
use crate::cli::Context;

/// Stages, chunks and micro-batches of the sweeps, and the seconds that one is to take, if there is a target.
pub(super) static SWEEPS: &[([usize; 3], Option<f64>)] = &[([16, 2, 32], None), ([64, 4, 512], Some(3e-4))];

/// The reference instance: its file in a data folder, its stages, micro-batches and memory in its unit.
const REFERENCE: &str = "plan/llama70b-sapp.json";
const STAGES: usize = 16;
const MICRO_BATCHES: usize = 32;
const CAP: f64 = 56_000.0;

/// Chunks, makespan, moves, and the seconds in which the search is to find it.
static REACHED: &[(usize, u64, u64, f64)] =
    &[(1, 93_777, 2_000_000, 0.5), (2, 82_750, 10_000_000, 5.0), (2, 81_958, 40_000_000, 30.0)];

/// Chunks, and the seconds that the bound is to take.
static BOUNDS: &[(usize, f64)] = &[(1, 0.3), (2, 3.0)];

/// Moves of the search whose speed is measured, and how many there are to be in a second.
const MOVES: u64 = 1_000_000;
const MOVES_PER_S: f64 = 3e6;

/// Most rounds of what takes seconds.
const FEW: usize = 3;

/// What measuring needs.
pub(super) struct Bench<'a> {
    cx: &'a Context,
    /// One worker.
    alone: Exec<'a>,
    /// All workers.
    all: Exec<'a>,
    reps: usize,
    /// The reference instance, if its file is there.
    reference: Option<Problem>,
}

/// A sweep that is ready.
pub(super) struct Case {
    pub(super) label: String,
    /// The order as the twin reads it.
    pub(super) file: PathBuf,
    operations: usize,
    target: Option<f64>,
    job: SweepJob,
}

struct SweepJob {
    order: Order,
    durations: Durations<u64>,
    sweep: Sweep<u64>,
}

impl Job for SweepJob {
    fn iterate(&mut self, _: &str) -> Result<(), BoxError> {
        std::hint::black_box(self.sweep.run(&self.order, &self.durations));
        Ok(())
    }

    fn check(&mut self, _: &str) -> Result<Vec<f64>, BoxError> {
        Ok(vec![self.sweep.run(&self.order, &self.durations) as f64])
    }
}

/// The same sweep for as many partitions as go side by side, which is how the search runs it.
struct WideJob {
    order: Order,
    durations: Durations<Wide<u32>>,
    sweep: Sweep<Wide<u32>>,
}

/// Its name among the contenders.
const WIDE: &str = "side by side";

impl WideJob {
    fn of(job: &SweepJob) -> Result<WideJob, BoxError> {
        let wide = |times: &[u64]| -> Result<Vec<_>, BoxError> {
            times.iter().map(|&time| Ok(Wide([u32::try_from(time)?; LANES]))).collect()
        };
        let Durations { operations, links, tails } = &job.durations;
        let durations = Durations { operations: wide(operations)?, links: wide(links)?, tails: wide(tails)? };
        Ok(WideJob { order: job.order.clone(), durations, sweep: Sweep::new() })
    }
}

impl Job for WideJob {
    fn iterate(&mut self, _: &str) -> Result<(), BoxError> {
        std::hint::black_box(self.sweep.run(&self.order, &self.durations));
        Ok(())
    }

    fn check(&mut self, _: &str) -> Result<Vec<f64>, BoxError> {
        let makespans = self.sweep.run(&self.order, &self.durations).0;
        let same = makespans.iter().all(|makespan| *makespan == makespans[0]);
        Ok(vec![if same { f64::from(makespans[0]) } else { f64::NAN }])
    }
}

impl<'a> Bench<'a> {
    pub(super) fn new(cx: &'a Context, alone: Exec<'a>, all: Exec<'a>, reps: usize) -> Result<Bench<'a>, BoxError> {
        let file = data(cx, "reference instance", REFERENCE);
        let model = file.map(|file| readers::read(&file, &readers::Options::default())).transpose()?;
        let reference = model.map(|model: Model| Problem::new(model, &[CAP; STAGES], &[])).transpose()?;
        Ok(Bench { cx, alone, all, reps, reference })
    }

    /// A sweep of the interleaved schedule, with durations that differ, written to `file` for the twin.
    pub(super) fn sweep(
        &self,
        &([stages, chunks, micro_batches], target): &([usize; 3], Option<f64>),
        file: &Path,
    ) -> Result<Case, BoxError> {
        let order = interleaved(stages, chunks, micro_batches)?;
        let k = order.dims().virtual_stages();
        let times = (0..2 * k as u64).map(|at| (100 + at * 7 % 13) * (1 + at / k as u64)).collect();
        let durations = Durations::new(times, k, stages);
        std::fs::write(file, bytes(&order, &durations))?;
        let label = format!("S {stages} V {chunks} M {micro_batches}");
        let job = SweepJob { order, durations, sweep: Sweep::new() };
        Ok(Case { label, file: file.to_owned(), operations: job.order.len(), target, job })
    }

    /// Our sweep, several at once, and the twins', in turns.
    pub(super) fn beside(&self, case: Case, twins: &mut [Peer]) -> Result<Vec<Measure>, BoxError> {
        let mut wide = Ours { name: WIDE, threads: 1, job: WideJob::of(&case.job)? };
        let mut ours = Ours { name: "sapwood", threads: 1, job: case.job };
        let mut field: Vec<&mut dyn Contender> = vec![&mut ours, &mut wide];
        field.extend(twins.iter_mut().map(|twin| twin as &mut dyn Contender));
        let same = Agreement::Relative(0.0);
        let (rows, lost) = contest("sweep", &case.label, case.operations as u64, &mut field, self.reps, &same);
        lost.iter().for_each(|line| self.cx.warn(line));
        let (label, operations, lanes) = (&case.label, case.operations as f64, LANES as f64);
        // What a twin's time is to be divided by for as many partitions as go side by side.
        let wide = rows.iter().find(|row| row.system == WIDE).map(|row| row.ratio_to_sapwood / lanes);
        let measure = |row: &super::super::table::Row| {
            let (value, of) = (row.median_wall_s, |what: String, value, unit| Measure {
                ok: row.ok,
                ..Measure::new(what, 1, row.reps, value, unit)
            });
            match row.system.as_str() {
                "sapwood" => {
                    let sweep = of(format!("exact sweep, {label}"), value, "s");
                    let sweep = case.target.map_or(sweep.clone(), |target| sweep.at_most(target));
                    vec![sweep, of(format!("operations of it in a second, {label}"), operations / value, "/s")]
                }
                WIDE => {
                    let what = format!("operations in a second, {LANES} partitions {WIDE}, {label}");
                    vec![of(what, lanes * operations / value, "/s")]
                }
                twin => {
                    let ratio = |what: String, value| of(what, value, "×");
                    let one = ratio(format!("time of {twin} by ours, {label}"), row.ratio_to_sapwood).at_least(1.0);
                    let many = wide.map(|wide| {
                        let what = format!("time of {twin} by ours, {LANES} partitions {WIDE}, {label}");
                        ratio(what, row.ratio_to_sapwood / wide).at_least(1.0)
                    });
                    [one].into_iter().chain(many).collect()
                }
            }
        };
        Ok(rows.iter().flat_map(measure).collect())
    }

    /// All that has a target and no twin.
    pub(super) fn targets(&self) -> Result<Vec<Measure>, BoxError> {
        let mut rows = Vec::new();
        if let Some(problem) = &self.reference {
            rows.push(self.moves(problem)?);
            for reached in REACHED {
                rows.push(self.reached(problem, reached)?);
            }
            for bound in BOUNDS {
                rows.push(self.bound(problem, bound)?);
            }
        }
        rows.extend(self.largest()?);
        Ok(rows)
    }

    /// How many moves are proposed in a second.
    fn moves(&self, problem: &Problem) -> Result<Measure, BoxError> {
        let (order, vectors) = ready(2)?;
        let options = search::Options { moves: MOVES, ..search::Options::default() };
        let once = || -> Result<f64, BoxError> {
            let start = Instant::now();
            let found = search::solve(self.alone, problem, &order, &vectors, &options, &|| false)?;
            Ok(found.moves as f64 / start.elapsed().as_secs_f64())
        };
        let value = medians(self.reps, once)?;
        let what = format!("moves that the search proposes in a second, S {STAGES} V 2 M {MICRO_BATCHES}");
        Ok(Measure::new(what, 1, self.reps, value, "/s").at_least(MOVES_PER_S))
    }

    /// Seconds until the search has a plan as good as is asked for.
    fn reached(
        &self,
        problem: &Problem,
        &(chunks, makespan, moves, target): &(usize, u64, u64, f64),
    ) -> Result<Measure, BoxError> {
        let (order, vectors) = ready(chunks)?;
        let ticks = problem.time().from(makespan as f64)?;
        let options = search::Options { moves, target: ticks, ..search::Options::default() };
        let mut found = u64::MAX;
        let once = || -> Result<f64, BoxError> {
            let start = Instant::now();
            found = search::solve(self.all, problem, &order, &vectors, &options, &|| false)?.makespan;
            Ok(start.elapsed().as_secs_f64())
        };
        let reps = self.reps.min(FEW);
        let value = medians(reps, once)?;
        let what = format!("reference, V {chunks}: search to {makespan}, of {} million moves", moves / 1_000_000);
        let row = Measure::new(what, self.all.threads(), reps, value, "s").at_most(target);
        Ok(Measure { ok: found <= ticks, ..row })
    }

    /// Seconds of the lower bound.
    fn bound(&self, problem: &Problem, &(chunks, target): &(usize, f64)) -> Result<Measure, BoxError> {
        let (order, vectors) = ready(chunks)?;
        let mut converged = false;
        let once = || -> Result<f64, BoxError> {
            let start = Instant::now();
            converged = lower_bound(problem, &order, &vectors, &bound::Options::default(), &|| false)?.converged;
            Ok(start.elapsed().as_secs_f64())
        };
        let reps = self.reps.min(FEW);
        let value = medians(reps, once)?;
        let row = Measure::new(format!("reference, V {chunks}: bound with all cuts"), 1, reps, value, "s");
        Ok(Measure { ok: converged, ..row.at_most(target) })
    }

    /// The largest sizes, as a process of its own: its time and its memory.
    fn largest(&self) -> Result<Vec<Measure>, BoxError> {
        let folder = tempfile::tempdir()?;
        let model = folder.path().join("model.toml");
        std::fs::write(&model, large_model())?;
        let threads = self.all.threads();
        let arguments =
            "--stages 64 --chunks 4 --micro-batches 512 --schedule interleaved --memory 56000MB --moves 50000";
        let (mut peak, mut plans) = (None, true);
        let once = || -> Result<f64, BoxError> {
            let start = Instant::now();
            let ran = Command::new(std::env::current_exe()?)
                .args(["plan".as_ref(), model.as_os_str()])
                .args(arguments.split(' '))
                .args(["--json", "--quiet", "--threads", &threads.to_string()])
                .stdin(Stdio::null())
                .stderr(Stdio::inherit())
                .output()?;
            let took = start.elapsed().as_secs_f64();
            let answer: serde_json::Value = serde_json::from_slice(&ran.stdout)?;
            peak = answer["measured"]["peak_rss_bytes"].as_f64().or(peak);
            plans &= answer["makespan"].is_number();
            Ok(took)
        };
        let value = medians(FEW.min(self.reps), once)?;
        let what = "S 64 V 4 M 512, 50 000 moves:";
        let time = Measure::new(format!("{what} whole solve"), threads, FEW.min(self.reps), value, "s").at_most(10.0);
        let mut rows = vec![Measure { ok: plans, ..time }];
        let memory = |peak| Measure::new(format!("{what} memory"), threads, 1, peak, "B").at_most(2e8);
        rows.extend(peak.map(memory));
        Ok(rows)
    }
}

/// The median of a number of rounds.
fn medians(reps: usize, once: impl FnMut() -> Result<f64, BoxError>) -> Result<f64, BoxError> {
    let values: Vec<f64> = std::iter::repeat_with(once).take(reps).collect::<Result<_, _>>()?;
    Ok(median(&values).unwrap_or(f64::NAN))
}

fn interleaved(stages: usize, chunks: usize, micro_batches: usize) -> Result<Order, BoxError> {
    let dims = Dims { stages, chunks, micro_batches, group: Grouping::First };
    let name = if chunks == 1 { "1f1b" } else { "interleaved" };
    Ok(Order::new(schedule::find(name)?, &dims)?)
}

/// Order and moments of the reference instance.
fn ready(chunks: usize) -> Result<(Order, Vectors), BoxError> {
    let order = interleaved(STAGES, chunks, MICRO_BATCHES)?;
    let vectors = Vectors::new(&order);
    Ok((order, vectors))
}

/// An order with durations, as `bench/peers-c/sweep.c` reads it.
fn bytes(order: &Order, durations: &Durations<u64>) -> Vec<u8> {
    let lists = [&durations.operations, &durations.links, &durations.tails];
    let sizes = [order.len(), order.dims().stages, lists[0].len(), lists[1].len()];
    let mut out: Vec<u8> = sizes.iter().flat_map(|&size| (size as u64).to_ne_bytes()).collect();
    let steps = order.steps().flat_map(|step| [step.awaits, step.duration, order.link(step) as u32, step.stage]);
    out.extend(steps.flat_map(u32::to_ne_bytes));
    out.extend(lists.into_iter().flatten().flat_map(|time| time.to_ne_bytes()));
    out
}

/// The layers of the reference instance, 512 of them: two for each virtual stage.
fn large_model() -> String {
    let mut text = "[unit]\nmemory = \"MB\"\n".to_owned();
    let ends = |name: &str, time: u32, memory: u32| {
        format!(
            "[[segment]]\nname = \"{name}\"\nkind = \"{name}\"\nforward = {time}\nparameters_mem = {memory}\n\
             activation = {{ none = 0 }}\n"
        )
    };
    text += &ends("embedding", 13, 9236);
    let _ = writeln!(
        text,
        "[[segment]]\nname = \"body\"\nkind = \"dense\"\ncount = 512\nforward = 100\nparameters_mem = 1710\n\
         activation = {{ none = 994, selective = 739, both = 403, full = 32 }}\n\
         extra = {{ selective = 8, both = 33, full = 100 }}"
    );
    text + &ends("loss", 113, 5794)
}
