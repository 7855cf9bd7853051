//! Schedules: in which order each stage runs the forwards and backwards of its virtual stages. One file per schedule, one line
//! in [`ALL`].
//!
//! A schedule is data: a list of operations for each stage, run in the order given. It contains every operation of the
//! stage's virtual stages exactly once. Rules of a schedule stand in its file and nowhere else; times do not appear here.

mod gpipe;
mod interleaved;
mod interleaved_lm;
mod one_f_one_b;
mod zb_h1;

mod group;
mod op;

pub use group::Grouping;
pub use op::{Kind, Op};

use crate::{Error, Result};

/// Every schedule.
pub static ALL: &[Entry] = &[gpipe::ENTRY, one_f_one_b::ENTRY, interleaved::ENTRY, interleaved_lm::ENTRY, zb_h1::ENTRY];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--schedule` takes it.
    pub name: &'static str,
    /// One sentence, with the source.
    pub summary: &'static str,
    /// Where virtual stages lie and what is run apart.
    pub shape: Shape,
    /// Whether it can run so many stages, chunks and micro-batches; the reason if not.
    pub accepts: fn(&Dims) -> std::result::Result<(), String>,
    /// The operations of each stage in their order, for sizes that are accepted.
    pub orders: fn(&Dims) -> Vec<Vec<Op>>,
}

/// Where virtual stages lie, and what is run apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The placement of virtual stages.
    pub placement: Placement,
    /// Whether the gradient of the weights is an operation of its own.
    pub splits_backward: bool,
    /// Whether more than one chunk makes sense.
    pub chunks: bool,
    /// Whether micro-batches are taken in groups ([`Dims::group`]).
    pub groups: bool,
    /// The bubble that it has at best.
    pub ideal: Ideal,
}

/// The bubble of a schedule whose virtual stages all take the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ideal {
    /// (S − 1)/(V·M).
    Pipeline,
    /// What a simulation finds.
    Simulated,
}

/// Which stage holds which virtual stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Virtual stage v·S + s is chunk v of stage s.
    Looped,
    /// Two chunks: the first S virtual stages go down the stages, the others back.
    VShape,
}

impl Placement {
    /// (stage, chunk) of a virtual stage.
    pub fn of(self, virtual_stage: usize, stages: usize) -> (usize, usize) {
        match self {
            Placement::VShape if virtual_stage >= stages => (2 * stages - 1 - virtual_stage, 1),
            _ => (virtual_stage % stages, virtual_stage / stages),
        }
    }

    /// The virtual stage of a chunk of a stage.
    pub fn virtual_stage(self, stage: usize, chunk: usize, stages: usize) -> usize {
        match self {
            Placement::VShape if chunk == 1 => 2 * stages - 1 - stage,
            _ => chunk * stages + stage,
        }
    }
}

/// The sizes that a schedule is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dims {
    /// Stages.
    pub stages: usize,
    /// Chunks of each stage.
    pub chunks: usize,
    /// Micro-batches.
    pub micro_batches: usize,
    /// How micro-batches are grouped, where the schedule does that.
    pub group: Grouping,
}

impl Dims {
    /// Stages × chunks.
    pub fn virtual_stages(&self) -> usize {
        self.stages * self.chunks
    }
}

/// The schedule called `name`.
///
/// # Errors
/// With the valid names and the nearest one.
pub fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter().find(|e| e.name == name).ok_or_else(|| Error::unknown("schedule", name, ALL.iter().map(|e| e.name)))
}

/// Refuses more than one chunk.
fn one_chunk(dims: &Dims) -> std::result::Result<(), String> {
    if dims.chunks == 1 { Ok(()) } else { Err("it has one chunk per stage".to_owned()) }
}

/// Warm-up forwards, then a forward and a backward in turns, then what is left: `forwards` and `backwards` are the order of each.
fn pairs(warmup: usize, forwards: &[Op], backwards: &[Op]) -> Vec<Op> {
    let warmup = warmup.min(forwards.len());
    let (first, steady) = forwards.split_at(warmup);
    let mut ops = Vec::with_capacity(forwards.len() + backwards.len());
    ops.extend_from_slice(first);
    for (forward, backward) in steady.iter().zip(backwards) {
        ops.extend([*forward, *backward]);
    }
    ops.extend_from_slice(&backwards[steady.len().min(backwards.len())..]);
    ops
}
