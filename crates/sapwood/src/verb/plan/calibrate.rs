//! `sapwood plan calibrate`: what layers cost, from measurements. `memory` takes peaks apart, `times` reads traces, `guide`
//! says what to measure.

mod guide;
mod memory;
mod times;

use crate::cli::{Context, Exit, Failure, Run};
use clap::{Args, Subcommand};

/// Find out what layers cost, from measured peaks of memory and from traces
#[derive(Debug, Args)]
pub(super) struct Calibrate {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Memory of parameters and activations, from the peaks of the stages of one or more runs
    Memory(memory::Memory),
    /// Forward and backward times of layers, from traces
    Times(times::Times),
    /// Say which runs to measure, so that their peaks determine all costs
    #[command(long_flag = "guide")]
    Guide(guide::Guide),
}

impl Run for Calibrate {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        match self.command {
            Command::Memory(flags) => flags.run(cx),
            Command::Times(flags) => flags.run(cx),
            Command::Guide(flags) => flags.run(cx),
        }
    }
}
