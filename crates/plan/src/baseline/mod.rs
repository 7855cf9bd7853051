//! Baselines: how others plan, for comparison and as starts of a search. One file per planner, one line in [`ALL`].
//!
//! A planner follows its published method with that method's own model of time and memory, and says where it is our
//! reconstruction. What it answers is judged by [`crate::simulate`] like any other plan: its objective is no makespan, and a
//! planner whose model of memory is no bound may exceed the caps. Nothing here simulates time.
//!
//! What the planners share: `sequence` is the body as one list of layers with what their ranges cost, `cut` finds cuts of it.
//! No planner knows of work at the end of a step (`Model::tails`).

mod adapipe;
mod cut;
mod megatron;
mod merak;
mod pipedream;
mod sapp;
mod sequence;

use crate::layout::Layout;
use crate::problem::Problem;
use crate::schedule::Dims;
use crate::{Error, Result};

/// Every planner.
pub static ALL: &[Entry] = &[megatron::ENTRY, pipedream::ENTRY, merak::ENTRY, adapipe::ENTRY, sapp::ENTRY];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as reports have it.
    pub name: &'static str,
    /// One sentence, with the source.
    pub summary: &'static str,
    plan: fn(&Problem, &Dims, &Options) -> Result<Answer>,
}

/// Most layers of a body that a planner looks at.
const MOST: u32 = 1 << 14;

impl Entry {
    /// Its plan for a problem on stages, chunks and micro-batches; none for more than 2¹⁴ layers. Deterministic, on one
    /// thread.
    ///
    /// # Errors
    /// [`Error::Problem`] as [`Problem::accepts`], [`Error::TooLarge`] for sums that are no u64. That a planner has no plan
    /// is no error.
    pub fn plan(&self, problem: &Problem, dims: &Dims, options: &Options) -> Result<Answer> {
        match problem.body_layers() {
            layers if layers > MOST => {
                Ok(Answer::None(format!("{layers} layers are too many: it takes {MOST} at most")))
            }
            _ => (self.plan)(problem, dims, options),
        }
    }
}

/// How much work a planner may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Most steps of its dynamic programs. A step is an entry that is looked at, some nanoseconds.
    pub nodes: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { nodes: 200_000_000 }
    }
}

/// What a planner answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Its plan.
    Plan(Plan),
    /// It has none, and why.
    None(String),
}

/// A plan of a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The partition.
    pub layout: Layout,
    /// The schedule that it is meant for.
    pub schedule: &'static str,
    /// What the planner minimises, in ticks of time; none for one that minimises nothing.
    pub objective: Option<u64>,
    /// Whether its objective is proved to be least; not so if the nodes were spent before.
    pub proved: bool,
}

/// The planner called `name`.
///
/// # Errors
/// With the valid names and the nearest one.
pub fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter().find(|e| e.name == name).ok_or_else(|| Error::unknown("baseline", name, ALL.iter().map(|e| e.name)))
}

/// The answer of planners that know one chunk per stage, where there are more.
fn one_chunk(dims: &Dims) -> Option<Answer> {
    (dims.chunks > 1).then(|| Answer::None(format!("chunks are not its: one per stage, not {}", dims.chunks)))
}

/// The answer where the nodes are spent.
fn spent() -> Answer {
    Answer::None("no plan within the node limit".to_owned())
}

/// The nodes of [`Options`] that are left.
#[derive(Debug, Clone, Copy)]
struct Nodes(u64);

/// That none are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spent;

impl Nodes {
    /// Takes some of them.
    fn spend(&mut self, nodes: usize) -> std::result::Result<(), Spent> {
        self.0 = self.0.checked_sub(nodes as u64).ok_or(Spent)?;
        Ok(())
    }
}
