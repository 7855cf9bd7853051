//! `sapwood compile`: tensor programs and single reductions, planned, explained, run, checked and timed.
//!
//! `source` makes the program, `tensors` fills, reads and writes its inputs and outputs, `report` is what is printed.

mod report;
mod source;
mod tensors;

use crate::cli::{Context, Exit, Failure, Run};
use clap::{Args, ValueEnum};
use report::{Measured, Report};
use sapwood_reduce::exec::cpu::Executable;
use sapwood_reduce::program::Check;
use sapwood_reduce::{Accum, Determinism, NanPolicy, Options, ReducePlan, Tensor, TensorView};
use sapwood_skeleton::Runtime;
use source::Source;
use std::path::PathBuf;
use std::time::Instant;
use tensors::{Fill, Held};

/// Compile a tensor program, an ONNX model or one reduction: fused passes over memory, any axes without a transpose.
///
/// SOURCE is MODEL.onnx, a text PROGRAM.tp, or - (program text on stdin); or --reduce, --shape and --axes describe one
/// reduction. Without --run, --check or --bench the plan is printed. Exit code 1: a mismatch in --check.
#[derive(Debug, Args)]
pub(crate) struct Compile {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    run: Running,
}

/// What the compiler may do.
#[derive(Debug, Args)]
#[command(next_help_heading = "Compiling")]
struct How {
    /// Where to run: cpu
    #[arg(long, value_name = "cpu|interp|opencl|cuda", default_value = "cpu")]
    target: String,
    /// What may vary between runs; on the CPU nothing does at any level
    #[arg(
        long,
        value_enum,
        value_name = "fast|run-to-run|portable",
        default_value = "run-to-run",
        hide_possible_values = true
    )]
    determinism: Level,
    /// What NaN does in maxima and minima
    #[arg(long, value_enum, value_name = "propagate|ignore", default_value = "propagate", hide_possible_values = true)]
    nan: Nan,
    /// How sums accumulate: native, or compensated (twice the precision)
    #[arg(long, value_enum, value_name = "native|compensated", default_value = "native", hide_possible_values = true)]
    accum: Sums,
    /// Every operation a pass of its own
    #[arg(long)]
    no_fuse: bool,
    /// Explain each kernel: form, operations, bytes, error bound, why it stands apart
    #[arg(long)]
    explain: bool,
    #[arg(long, value_name = "DIR", hide = true)]
    emit: Option<PathBuf>,
    #[arg(long, value_name = "N", hide = true)]
    tune: Option<u32>,
    #[arg(long, hide = true)]
    combine: Option<String>,
    #[arg(long, hide = true)]
    tile: Option<String>,
    #[arg(long, hide = true)]
    split: Option<String>,
}

/// What is run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
struct Running {
    /// Run once and print each output's sum and bits
    #[arg(long)]
    run: bool,
    /// Read an input from a file (.npy, or a tensor of ONNX, .pb); inputs without one are filled
    #[arg(long, value_name = "NAME=FILE.npy")]
    input: Vec<String>,
    /// Write an output to a file (runs)
    #[arg(short, long, value_name = "NAME=FILE.npy")]
    out: Vec<String>,
    /// How to fill inputs: hash (a fixed scramble of the index), ones, zeros, uniform ([0, 1) by --seed)
    #[arg(
        long,
        value_enum,
        value_name = "hash|ones|zeros|uniform",
        default_value = "hash",
        hide_possible_values = true
    )]
    fill: Fill,
    /// Run, and compare with the slow reference in double precision; exit code 1 beyond the error bound
    #[arg(long)]
    check: bool,
    /// Time N runs after warming up [default: 20]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    bench: Option<u32>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    Fast,
    RunToRun,
    Portable,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Nan {
    Propagate,
    Ignore,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sums {
    Native,
    Compensated,
}

impl How {
    fn options(&self) -> Options {
        Options {
            determinism: match self.determinism {
                Level::Fast => Determinism::Fast,
                Level::RunToRun => Determinism::RunToRun,
                Level::Portable => Determinism::Portable,
            },
            nan: match self.nan {
                Nan::Propagate => NanPolicy::Propagate,
                Nan::Ignore => NanPolicy::Ignore,
            },
            accum: match self.accum {
                Sums::Native => Accum::Native,
                Sums::Compensated => Accum::Compensated,
            },
            fuse: !self.no_fuse,
        }
    }

    /// What only devices will have.
    fn check(&self) -> Result<(), Failure> {
        let later = [
            ("--emit", self.emit.is_some()),
            ("--tune", self.tune.is_some()),
            ("--combine", self.combine.is_some()),
            ("--tile", self.tile.is_some()),
            ("--split", self.split.is_some()),
        ];
        if let Some((flag, _)) = later.iter().find(|f| f.1) {
            return Err(Failure::usage(format!("{flag}: not built yet"))
                .hint("it belongs to devices; the CPU has no such choice"));
        }
        match self.target.as_str() {
            "cpu" => Ok(()),
            "interp" | "opencl" | "cuda" => {
                Err(Failure::usage(format!("--target {}: not built yet", self.target)).hint("use --target cpu"))
            }
            other => Err(Failure::usage(format!("--target {other}: no such target")).hint("use --target cpu")),
        }
    }
}

impl Run for Compile {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        self.how.check()?;
        let held = tensors::read_inputs(&self.run.input)?;
        let mut made = self.source.program(&held)?;
        tensors::follow(&mut made.program, &held)?;
        let options = self.how.options();
        let plan = sapwood_reduce::compile(&made.program, &options)?;
        let runtime = cx.runtime()?;
        let mut report = Report::new(&made, &plan, &options, runtime.exec().threads());
        let runs = self.run.run || self.run.check || self.run.bench.is_some() || !self.run.out.is_empty();
        let mut exit = Exit::Done;
        if runs {
            made.refuse_gaps()?;
            let ran = self.run.carry_out(cx, &runtime, &plan, held, &made.known)?;
            let ok = ran.check.iter().flatten().all(|c| c.ok);
            exit = if ok { Exit::Done } else { Exit::No };
            report.add(&plan.program, ran, self.run.run);
        }
        cx.emit(&report, |out| if self.how.explain || !runs { report.explain(out) } else { report.print(out) })?;
        Ok(exit)
    }
}

/// What a run left.
struct Ran {
    outputs: Vec<Tensor>,
    check: Option<Vec<Check>>,
    measured: Option<Measured>,
}

impl Running {
    fn carry_out(
        &self,
        cx: &Context,
        runtime: &Runtime,
        plan: &ReducePlan,
        held: Vec<Held>,
        known: &[String],
    ) -> Result<Ran, Failure> {
        let p = &plan.program;
        let names = tensors::named_outputs(p, &self.out)?;
        let inputs = tensors::inputs(p, held, known, self.fill, cx.flags.seed)?;
        let views = inputs.iter().map(Held::view).collect::<Result<Vec<_>, Failure>>()?;
        let mut executable = Executable::new(plan)?;
        let outputs = executable.run(runtime.exec(), &views)?;
        let measured = self.bench.map(|n| time(&mut executable, runtime, &views, n, plan)).transpose()?;
        let check = if self.check { Some(p.compare(&views, &outputs)?) } else { None };
        tensors::write(&names, &outputs)?;
        Ok(Ran { outputs, check, measured })
    }
}

/// Times `runs` runs, after two to warm up.
fn time(
    executable: &mut Executable,
    runtime: &Runtime,
    views: &[TensorView<'_>],
    runs: u32,
    plan: &ReducePlan,
) -> Result<Measured, Failure> {
    let mut outputs = executable.run(runtime.exec(), views)?;
    let mut seconds = Vec::with_capacity(runs as usize);
    for turn in 0..runs + 2 {
        let start = Instant::now();
        executable.run_into(runtime.exec(), views, &mut outputs)?;
        if turn > 1 {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(Measured::new(seconds, plan.bytes_bound()))
}
