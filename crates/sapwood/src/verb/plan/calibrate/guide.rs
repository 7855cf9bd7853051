//! `sapwood plan calibrate guide`: which runs to measure.

use crate::cli::{Context, Exit, Failure, Run};
use crate::verb::plan::stated::group;
use clap::Args;
use sapwood_plan::calibrate::guide::{self, Wanted};
use sapwood_plan::schedule::Grouping;
use sapwood_plan::solve::Express;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Say which runs to measure, so that their peaks determine all costs
///
/// What is printed is the file that `sapwood plan calibrate memory` takes once measured peaks stand in place of "-". It has the
/// fewest runs that determine all costs, and of those that were tried the ones that errors of measurement disturb least.
#[derive(Debug, Args)]
pub(super) struct Guide {
    /// Stages
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    stages: u32,
    /// Layers of the model between its head and its tail
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..))]
    layers: u32,
    /// Chunks of each stage
    #[arg(long, value_name = "V", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    chunks: u32,
    /// Kinds of recomputation whose memory is looked for, besides none
    #[arg(long, value_name = "KIND,..", default_value = "full", value_delimiter = ',')]
    recompute: Vec<String>,
    /// Schedule of the runs [default: 1f1b, or interleaved with several chunks]
    #[arg(long, value_name = "NAME")]
    schedule: Option<String>,
    /// Micro-batches of a step [default: a multiple of the stages, so many that more change nothing]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    micro_batches: Option<u32>,
    /// Groups of micro-batches of interleaved schedules: first, or uniform:SIZE
    #[arg(long, value_name = "RULE", default_value = "first")]
    group: String,
    /// Look for no memory that each stage has besides its layers
    #[arg(long)]
    no_constant: bool,
    /// The backward of a recomputed layer holds its activations once more
    #[arg(long)]
    transient: bool,
    /// Only runs that this framework can state: any, megatron (one setting of recomputation a run) or mindformers
    #[arg(long, value_name = "FRAMEWORK", default_value = "any", value_parser = ["any", "megatron", "mindformers"])]
    express: String,
    /// How many layers a chunk may have more or less than an equal share [default: a third of it]
    #[arg(long, value_name = "N")]
    spread: Option<u32>,
    /// Runs [default: as few as it takes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    runs: Option<u32>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    rank: usize,
    condition: f64,
    /// By cost, how far it moves if each peak is wrong by 1.
    gains: Map<String, Value>,
    runs: usize,
    toml: String,
}

impl Run for Guide {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let found = guide::search(&self.wanted()?)?;
        let report = Report {
            schema: "sapwood.plan.calibrate.guide/1",
            rank: found.rank,
            condition: found.condition,
            gains: found.gains.iter().map(|(name, gain)| (name.clone(), json!(gain))).collect(),
            runs: found.measured.runs.len(),
            toml: found.toml(),
        };
        cx.emit(&report, |out| {
            let gains: Vec<String> = found.gains.iter().map(|(name, gain)| format!("{name} {gain:.2}")).collect();
            writeln!(
                out,
                "# {} costs, condition number {:.1}; write measured peaks in place of \"-\"",
                found.rank, found.condition
            )?;
            writeln!(out, "# if each peak is wrong by 1, a cost is wrong by at most: {}", gains.join(", "))?;
            write!(out, "{}", report.toml)
        })?;
        Ok(Exit::Done)
    }
}

impl Guide {
    fn wanted(&self) -> Result<Wanted, Failure> {
        let default = if self.chunks > 1 { "interleaved" } else { "1f1b" };
        let grouping: Grouping = group(&self.group)?;
        Ok(Wanted {
            stages: self.stages as usize,
            chunks: self.chunks as usize,
            layers: self.layers as usize,
            schedule: self.schedule.as_deref().unwrap_or(default).to_owned(),
            micro_batches: self.micro_batches.map(|m| m as usize),
            group: grouping,
            kinds: self.recompute.iter().map(|kind| kind.trim().to_owned()).filter(|kind| !kind.is_empty()).collect(),
            constant: !self.no_constant,
            transient: self.transient,
            express: match self.express.as_str() {
                "megatron" => Express::Megatron,
                "mindformers" => Express::Mindformers,
                _ => Express::Any,
            },
            spread: self.spread,
            runs: self.runs.map(|runs| runs as usize),
        })
    }
}
