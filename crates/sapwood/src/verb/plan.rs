//! `sapwood plan`: schedules of pipelines, simulated exactly. The sub-verbs are in `plan/`.

mod simulate;

use crate::cli::{Context, Exit, Failure, Run};
use clap::{Args, Subcommand};

/// Plan pipelines: simulate schedules of forwards and backwards exactly.
///
/// The search for a partition is built in the library `sapwood::plan`; its sub-verb is not there yet.
#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say exactly how long a schedule takes, how much each stage keeps in memory, and where the bubble is
    Simulate(Box<simulate::Simulate>),
}

impl Run for Plan {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        match self.command {
            Command::Simulate(flags) => flags.run(cx),
        }
    }
}
