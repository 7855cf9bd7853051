//! `sapwood plan`: pipelines of very large networks. Without a sub-verb it chooses a plan; the sub-verbs are in `plan/`.

mod calibrate;
mod compare;
mod explain;
mod export;
mod exports;
mod given;
mod page;
mod presets;
mod search;
mod simulate;
mod solve;
mod stated;
mod tables;

use crate::cli::{Context, Exit, Failure, Run};
use clap::{Args, Subcommand};

/// Choose the cut, the recomputation and the schedule of a pipeline together, and prove how good the plan is.
///
/// `sapwood plan MODEL` chooses; the sub-verbs judge and explain plans that are there already. The model is a description
/// with measured times and memory of its layers.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Plan {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    solve: solve::Solve,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say exactly how long a plan takes, how much each stage keeps in memory, and where the bubble is
    Simulate(Box<simulate::Simulate>),
    /// Say why a plan takes as long as it does: where the bubble is, what would help, what differs from another plan
    Explain(Box<explain::Explain>),
    /// Compare with published planners: Megatron-LM's uniform cut, PipeDream, Merak, AdaPipe, SAPP
    Compare(Box<compare::Compare>),
    /// List what the planner knows by name
    Presets(presets::Presets),
    /// Write a plan for a framework: megatron, mindformers or plan_json
    Export(export::ExportPlan),
    /// Find out what layers cost, from measured peaks of memory and from traces
    Calibrate(calibrate::Calibrate),
}

impl Run for Box<Plan> {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let draws = matches!(self.command, None | Some(Command::Simulate(_) | Command::Explain(_)));
        if cx.flags.report.is_some() && !draws {
            return Err(Failure::usage("--report: only `sapwood plan MODEL`, `simulate` and `explain` make reports")
                .hint("sapwood plan simulate MODEL --plan PLAN.json --report FILE.html"));
        }
        match self.command {
            None => self.solve.run(cx),
            Some(Command::Simulate(flags)) => flags.run(cx),
            Some(Command::Explain(flags)) => flags.run(cx),
            Some(Command::Compare(flags)) => flags.run(cx),
            Some(Command::Presets(flags)) => flags.run(cx),
            Some(Command::Export(flags)) => flags.run(cx),
            Some(Command::Calibrate(flags)) => flags.run(cx),
        }
    }
}
