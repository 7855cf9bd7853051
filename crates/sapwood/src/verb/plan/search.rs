//! Flags of a search: what may be chosen, and for how long.

use super::given::Given;
use super::stated::group;
use crate::cli::{Context, Failure};
use clap::Args;
use sapwood_plan::problem::Problem;
use sapwood_plan::schedule;
use sapwood_plan::solve::{Express, Group, Proof, Request};

/// Numbers of chunks that `auto` tries.
const CHUNKS: [usize; 4] = [1, 2, 3, 4];

/// Schedules that `auto` tries.
const SCHEDULES: &str = "1f1b,interleaved,interleaved-lm";

/// What may be chosen, and for how long.
#[derive(Debug, Args)]
pub(super) struct Search {
    /// Chunks of each stage that may be taken: numbers, or auto (1 to 4)
    #[arg(long, value_name = "N,..|auto", default_value = "auto")]
    pub(super) chunks: String,
    /// Schedules that may be taken: names, or auto (1f1b, interleaved, interleaved-lm)
    #[arg(long, value_name = "NAME,..|auto", default_value = "auto")]
    pub(super) schedule: String,
    /// Groups of micro-batches of interleaved schedules: first, uniform:SIZE, or auto
    #[arg(long, value_name = "RULE", default_value = "auto")]
    pub(super) group: String,
    /// How a plan is proven to be good: lp (linear relaxation with critical-path cuts), mip (branch and bound after the
    /// search: closer, and slower; with HiGHS on large models, if it is built in) or none
    #[arg(long, value_name = "PROOF", default_value = "lp", value_parser = ["lp", "mip", "none"])]
    pub(super) bound: String,
    /// Part of the makespan above the lower bound at which the search may end, such as 0.01
    #[arg(long, value_name = "F", default_value_t = 0.01, allow_negative_numbers = true)]
    pub(super) gap: f64,
    /// Moves that are tried in all
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub(super) moves: u64,
    /// Time after which the best plan so far is the answer, such as 60s
    #[arg(long, value_name = "TIME")]
    pub(super) time_limit: Option<String>,
}

impl Search {
    /// The request that the flags make.
    pub(super) fn request<'a>(
        &self,
        cx: &Context,
        given: &Given,
        problem: &'a Problem,
        express: Express,
    ) -> Result<Request<'a>, Failure> {
        if !(0.0..1.0).contains(&self.gap) {
            return Err(Failure::usage(format!("--gap {}: from 0 on, below 1", self.gap)));
        }
        let schedules = if self.schedule == "auto" { SCHEDULES } else { self.schedule.as_str() };
        let number = |text: &str| match text.trim().parse() {
            Ok(chunks) if chunks > 0 => Ok(chunks),
            _ => Err(Failure::usage(format!("--chunks {}: numbers from 1 on, or auto", self.chunks))),
        };
        let chunks: Vec<usize> = match self.chunks.as_str() {
            "auto" => CHUNKS.to_vec(),
            list => list.split(',').map(number).collect::<Result<_, _>>()?,
        };
        Ok(Request {
            problem,
            micro_batches: given.micro_batches(None)?,
            schedules: schedules.split(',').map(|name| schedule::find(name.trim())).collect::<Result<_, _>>()?,
            chunks,
            group: if self.group == "auto" { Group::Auto } else { Group::Of(group(&self.group)?) },
            express,
            proof: match self.bound.as_str() {
                "lp" => Proof::Lp,
                "mip" => Proof::Mip,
                _ => Proof::None,
            },
            gap: self.gap,
            moves: self.moves,
            seed: cx.flags.seed,
            rendezvous: given.rendezvous(),
            until: None,
            start: None,
        })
    }
}

/// Seconds of a time limit.
pub(super) fn limit(text: Option<&str>) -> Result<Option<f64>, Failure> {
    let limit = text.map(sapwood_machine::units::seconds).transpose();
    limit.map_err(|why| Failure::usage(format!("--time-limit: {why}")))
}
