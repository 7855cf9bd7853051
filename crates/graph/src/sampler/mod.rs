//! Which pairs of a graph stay in one draw. One file per sampler, one line in [`ALL`]; by that line a sampler is in the
//! conformance tests, on the command line and in the tables.
//!
//! A [`Sampler`] is prepared once for a graph and then answers each [`DrawKey`]. The answer depends on the graph, the
//! options and the key alone: never on threads, on the order of calls or on earlier draws. A sampler never sees a label
//! outside the training split ([`TrainLabels`] holds no other) and never changes the graph.

mod degree;
mod dropedge;
mod dropedge_arcs;
mod dropmessage;
mod dropnode;
mod dropsens;
mod facts;
mod gca_pagerank;
mod labels;
mod none;
mod options;
mod ppr_diffusion;
mod ranked;
mod rates;
mod units;

pub use facts::{AutoDirection, ProbabilityFacts, SamplerFacts};
pub use labels::TrainLabels;
pub use options::{Diffusion, Direction, Per, SamplerOptions, Stratify};
pub use rates::Rates;

use crate::draw::{Quotas, Scratch};
use crate::{BitMask, Error, Graph, Result};
use sapwood_skeleton::Exec;
use std::sync::Arc;

/// Every sampler.
pub static ALL: &[Entry] = &[
    none::ENTRY,
    dropedge::ENTRY,
    ranked::ENTRY,
    degree::ENTRY,
    dropedge_arcs::ENTRY,
    dropnode::ENTRY,
    dropmessage::ENTRY,
    dropsens::ENTRY,
    gca_pagerank::ENTRY,
    ppr_diffusion::ENTRY,
    ppr_diffusion::WITH_DROPEDGE,
];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--sampler` takes it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The sampler's flags that it reads, beside those of rates and layers; a user who gives another one is told.
    pub reads: &'static [&'static str],
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

/// Refuses an option that `sampler` cannot follow.
fn refuse(options: &SamplerOptions, sampler: &str, flag: &'static str, wrong: bool, range: &'static str) -> Result<()> {
    if !wrong {
        return Ok(());
    }
    let given = match flag {
        "--p" => options.rates.to_string(),
        _ if options.per == Per::LayerNested => "layer-nested".to_owned(),
        _ => format!("{:?}", options.per).to_lowercase(),
    };
    Err(Error::Range { flag, range, value: format!("{given} with --sampler {sampler}") })
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

/// What one draw leaves.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Sampled<'a> {
    /// The whole graph, no random number used.
    All,
    /// The units whose bit is 1: both arcs of a pair stay or go together.
    Pairs(&'a BitMask),
    /// Of a directed graph the arcs whose bit is 1, then as many bits as there are self-loops.
    Arcs(&'a BitMask),
    /// The whole graph, but only the nodes whose bit is 1 have features, multiplied by `scale`.
    Rows {
        /// One bit per node.
        mask: &'a BitMask,
        /// Factor of what stays.
        scale: f64,
    },
    /// The whole graph, but each coordinate of each message goes with probability `p` and is divided by 1 − p otherwise.
    Messages {
        /// Drop rate of a coordinate.
        p: f64,
    },
}

impl Sampled<'_> {
    /// Whether unit `unit` stays.
    #[inline(always)]
    pub fn keeps(&self, unit: u32) -> bool {
        match self {
            Sampled::Pairs(mask) | Sampled::Arcs(mask) => mask.get(unit as usize),
            Sampled::All | Sampled::Rows { .. } | Sampled::Messages { .. } => true,
        }
    }

    /// How many of `units` stay.
    pub fn kept(&self, units: u64) -> u64 {
        match self {
            Sampled::Pairs(mask) => mask.count_ones() as u64,
            Sampled::Arcs(mask) => (0..units as usize).filter(|&unit| mask.get(unit)).count() as u64,
            Sampled::All | Sampled::Rows { .. } | Sampled::Messages { .. } => units,
        }
    }
}

/// A way to choose what stays.
pub trait Sampler: Send + Sync {
    /// Does once what depends on the graph alone (scores, probabilities), so that a draw is cheap.
    ///
    /// # Errors
    /// When the graph and the options do not go together.
    fn prepare(&self, exec: Exec<'_>, graph: &Arc<Graph>, train: &TrainLabels) -> Result<Box<dyn Prepared>>;
}

/// A sampler that knows its graph.
pub trait Prepared: Send + Sync {
    /// Draws. The mask, if there is one, lies in `buffers`, whose storage is reused from draw to draw. Epochs count from
    /// 1; layer 0 is the draw that all layers share.
    ///
    /// # Errors
    /// When the key is out of range or the executor fails.
    fn kept<'a>(&self, exec: Exec<'_>, key: DrawKey, buffers: &'a mut DrawBuffers) -> Result<Sampled<'a>>;

    /// What is known before the first draw.
    fn facts(&self) -> SamplerFacts;

    /// What is known of the draw of `key`: [`Prepared::facts`] at the rate of its epoch and layer.
    ///
    /// # Errors
    /// As [`Prepared::kept`].
    fn facts_at(&self, _: Exec<'_>, key: DrawKey) -> Result<SamplerFacts> {
        key.b()?;
        Ok(self.facts())
    }

    /// Whether the draws of all epochs and layers leave the whole graph.
    fn never_drops(&self) -> bool {
        self.facts().k == 0
    }

    /// The graph that takes the place of the one it was prepared for, in training and in evaluation.
    fn graph(&self) -> Option<&Arc<Graph>> {
        None
    }

    /// Whether each layer has a draw of its own.
    fn per_layer(&self) -> bool {
        false
    }

    /// Probability of each unit to go in the draw of `key`; `None` if it is not units that go.
    ///
    /// # Errors
    /// As [`Prepared::kept`].
    fn quotas(&self, _: Exec<'_>, key: DrawKey) -> Result<Option<Arc<Quotas>>> {
        key.b()?;
        Ok(None)
    }

    /// The scores that the probabilities follow, if there are any.
    fn ranking(&self) -> Option<&Ranking> {
        None
    }
}

/// The scores of units and their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Score of each unit.
    pub scores: Vec<f64>,
    /// Mid-rank of each unit's score, from −1 (lowest) to 1 (highest).
    pub z: Vec<f64>,
}

/// Storage of one draw at a time; nothing is allocated after the first draw of a graph.
#[derive(Debug, Default)]
pub struct DrawBuffers {
    /// Which units stay.
    pub mask: BitMask,
    /// What a draw needs on the way.
    pub scratch: Scratch,
}
