//! Which pairs of a graph stay in one draw. One file per sampler, one line in [`ALL`]; by that line a sampler is in the
//! conformance tests, on the command line and in the tables.
//!
//! A [`Sampler`] is prepared once for a graph and then answers each [`DrawKey`]. The answer depends on the graph, the
//! options and the key alone: never on threads, on the order of calls or on earlier draws. A sampler never sees a label
//! outside the training split ([`TrainLabels`] holds no other) and never changes the graph.

mod dropedge;
mod labels;
mod none;

pub use labels::TrainLabels;

use crate::draw::Scratch;
use crate::{BitMask, Error, Graph, Result};
use sapwood_skeleton::Exec;

/// Every sampler.
pub static ALL: &[Entry] = &[none::ENTRY, dropedge::ENTRY];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--sampler` takes it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Makes the sampler; refuses options out of range.
    pub new: fn(&SamplerOptions) -> Result<Box<dyn Sampler>>,
}

/// The registry line of `name` among `all`.
///
/// # Errors
/// [`Error::Unknown`] with the valid names and the nearest one.
pub fn find<'a>(all: &'a [Entry], name: &str) -> Result<&'a Entry> {
    all.iter().find(|e| e.name == name).ok_or_else(|| Error::unknown("sampler", name, all.iter().map(|e| e.name)))
}

/// What the user may choose about a sampler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplerOptions {
    /// Drop rate, 0 to 1: the share of the pairs that goes.
    pub p: f64,
}

impl Default for SamplerOptions {
    fn default() -> Self {
        SamplerOptions { p: 0.3 }
    }
}

/// Which draw: everything a draw's randomness depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DrawKey {
    /// Seed of the run.
    pub seed: u64,
    /// Epoch, or the optimiser step counted over the run.
    pub epoch: u32,
    /// Layer, below 4096; 0 when all layers share a draw.
    pub layer: u16,
    /// Micro-batch, below 4096.
    pub micro: u16,
}

impl DrawKey {
    /// The key of epoch `epoch` where all layers share the draw and a step is one micro-batch.
    pub fn of_epoch(seed: u64, epoch: u32) -> DrawKey {
        DrawKey { seed, epoch, layer: 0, micro: 0 }
    }

    /// The second key of the random streams: layer · 2^12 + micro.
    ///
    /// # Errors
    /// [`Error::Range`] when layer or micro is 4096 or more.
    pub fn b(&self) -> Result<u32> {
        let range = "below 4096 (the number of a layer, or of a micro-batch)";
        for (flag, value) in [("layer", self.layer), ("micro", self.micro)] {
            if value >= 4096 {
                return Err(Error::Range { flag, range, value: value.to_string() });
            }
        }
        Ok(u32::from(self.layer) << 12 | u32::from(self.micro))
    }
}

/// What one draw keeps.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Sampled<'a> {
    /// The whole graph, no random number used.
    All,
    /// The pairs whose bit is 1 (the arcs of a directed graph): both arcs of a pair stay or go together.
    Pairs(&'a BitMask),
}

impl Sampled<'_> {
    /// Whether unit `unit` stays.
    #[inline(always)]
    pub fn keeps(&self, unit: u32) -> bool {
        match self {
            Sampled::All => true,
            Sampled::Pairs(mask) => mask.get(unit as usize),
        }
    }

    /// How many of `units` stay.
    pub fn kept(&self, units: u64) -> u64 {
        match self {
            Sampled::All => units,
            Sampled::Pairs(mask) => mask.count_ones() as u64,
        }
    }
}

/// A way to choose the pairs that stay.
pub trait Sampler: Send + Sync {
    /// Does once what depends on the graph alone (scores, probabilities), so that a draw is cheap.
    ///
    /// # Errors
    /// When the graph and the options do not go together.
    fn prepare(&self, graph: &Graph, train: &TrainLabels) -> Result<Box<dyn Prepared>>;
}

/// A sampler that knows its graph.
pub trait Prepared: Send + Sync {
    /// Draws. The mask, if there is one, lies in `buffers`, whose storage is reused from draw to draw.
    ///
    /// # Errors
    /// When the key is out of range or the executor fails.
    fn kept<'a>(&self, exec: Exec<'_>, key: DrawKey, buffers: &'a mut DrawBuffers) -> Result<Sampled<'a>>;

    /// What is known before the first draw.
    fn facts(&self) -> SamplerFacts;
}

/// Storage of one draw at a time; nothing is allocated after the first draw of a graph.
#[derive(Debug, Default)]
pub struct DrawBuffers {
    /// Which units stay.
    pub mask: BitMask,
    /// What a draw needs on the way.
    pub scratch: Scratch,
}

/// What a prepared sampler says about itself.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SamplerFacts {
    /// Registry name.
    pub name: &'static str,
    /// Drop rate asked for.
    pub p: f64,
    /// Units of the graph: pairs, or arcs of a directed graph.
    pub units: u64,
    /// Units dropped in each draw.
    pub k: u64,
    /// k / units; 0 for a graph without edges.
    pub achieved_p: f64,
    /// Expected number of nodes without an edge, Σ_i Π_{e∋i} q_e, those of the full graph included.
    pub isolated_expected: f64,
}
