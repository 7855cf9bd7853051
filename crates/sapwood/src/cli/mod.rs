//! The frame of the command line: what every verb shares. Start with [`main`]; a verb implements [`Run`].

mod context;
mod failure;
pub(crate) mod resources;

pub(crate) use context::Context;
pub(crate) use failure::Failure;

use crate::verb::Verb;
use clap::{Args, CommandFactory, Parser};
use std::path::PathBuf;
use std::process::ExitCode;

/// What a verb does with its parsed arguments.
pub(crate) trait Run {
    /// Runs the verb; results go through [`Context::emit`].
    fn run(self, cx: &Context) -> Result<Exit, Failure>;
}

/// How a verb ended when nothing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done: 0.
    Done,
    /// The answer is no (not converged, mismatch): 1.
    No,
    /// Interrupted, partial result kept: 130.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        match exit {
            Exit::Done => ExitCode::SUCCESS,
            Exit::No => ExitCode::from(1),
            Exit::Interrupted => ExitCode::from(130),
        }
    }
}

/// Version and the features built in.
const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\nfeatures: ", env!("SAPWOOD_FEATURES"));

/// Scale the training of neural networks.
///
/// Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 the answer is no, 2 wrong use, bad input or
/// missing resources, 130 interrupted with the partial result kept.
#[derive(Debug, Parser)]
#[command(name = "sapwood", version, long_version = LONG_VERSION, max_term_width = 110, arg_required_else_help = true)]
pub(crate) struct Program {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    verb: Verb,
}

/// Flags that mean the same for every verb.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Worker threads: a number, `physical` (cores) or `logical` (hardware threads) [default: the machine's cores]
    #[arg(long, global = true, value_name = "N|physical|logical")]
    pub(crate) threads: Option<String>,
    /// Seed of all random numbers; run s of several uses seed + s
    #[arg(long, global = true, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Machine description: a file, `preset:NAME`, a preset's bare name, or `-` [default: $SAPWOOD_MACHINE, else discovered]
    #[arg(long, global = true, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    /// Write what was found as one HTML file that needs no network (train, plan)
    #[arg(long, global = true, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// No progress and no notes on stderr
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// More notes on stderr
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// Parses the command line and runs the verb.
pub(crate) fn main() -> ExitCode {
    let program = Program::parse();
    let cx = Context::new(program.common);
    let checked = if matches!(program.verb, Verb::Doctor(_)) { Ok(()) } else { check_start(&cx, &program.verb) };
    let outcome = checked.and_then(|()| program.verb.run(&cx));
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}

/// The definition of the command line, for completions and man pages.
pub(crate) fn command() -> clap::Command {
    Program::command()
}

/// What cannot be worked with: a report of a verb that makes none, several ranks, an instruction set that is not there.
fn check_start(cx: &Context, verb: &Verb) -> Result<(), Failure> {
    if cx.flags.report.is_some() && !matches!(verb, Verb::Train(_) | Verb::Plan(_)) {
        return Err(Failure::usage("--report: only `sapwood train` and `sapwood plan` make reports yet")
            .hint("use --json and plot from it"));
    }
    sapwood_skeleton::launch::refuse_ranks()?;
    sapwood_skeleton::isa::check()?;
    Ok(())
}
