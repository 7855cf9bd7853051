//! Exporters: plans as the frameworks that people train with take them. One file per format, one line in [`ALL`].
//!
//! An exporter writes nothing that does not state the plan: what its format cannot say it refuses, and says where.

mod megatron;
mod mindformers;
mod plan_json;

pub(crate) use mindformers::LESS_MEMORY;

use crate::layout::Layout;
use crate::megatron::{Item, MOST, setting::Layer};
use crate::model::Model;
use crate::problem::Problem;
use crate::schedule::Grouping;
use crate::simulate::Order;
use crate::{Error, Result};

/// Every exporter.
pub static ALL: &[Entry] = &[megatron::ENTRY, mindformers::ENTRY, plan_json::ENTRY];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name of the format.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Refuses a model of which it cannot state any plan.
    pub states: fn(&Model) -> std::result::Result<(), String>,
    /// Whether it has a word for a kind of recomputation.
    pub knows: fn(&str) -> bool,
    /// How every such text begins.
    pub beginning: &'static str,
    /// The text of a plan, or what of it cannot be stated.
    pub write: fn(&Plan<'_>) -> std::result::Result<String, String>,
}

/// A plan to write.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The model.
    pub model: &'a Model,
    /// The partition.
    pub layout: &'a Layout,
    /// Name of the schedule.
    pub schedule: &'a str,
    /// Stages.
    pub stages: usize,
    /// Chunks of each stage.
    pub chunks: usize,
    /// Micro-batches.
    pub micro_batches: usize,
    /// How micro-batches are grouped.
    pub group: Grouping,
}

/// Refuses a model whose layers are pinned, for formats that would leave them out.
pub(crate) fn no_pinned_layers(model: &Model) -> std::result::Result<(), String> {
    match model.pinned_layers() {
        Some(s) => {
            Err(format!("segment {} is pinned, and pinned layers cannot be stated yet; take the pin away", s.name))
        }
        None => Ok(()),
    }
}

/// The exporter called `name`.
///
/// # Errors
/// With the valid names and the nearest one.
pub fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter().find(|e| e.name == name).ok_or_else(|| Error::unknown("exporter", name, ALL.iter().map(|e| e.name)))
}

/// The problem as a format can state its plans: without the kinds of recomputation that it has no word for, whose names
/// come second.
///
/// # Errors
/// [`Error::Inexpressible`] for a model of which it can state no plan.
pub fn stated(entry: &Entry, problem: &Problem) -> Result<(Problem, Vec<String>)> {
    let wrong = |what: String| Error::Inexpressible { format: entry.name, what };
    (entry.states)(problem.model()).map_err(wrong)?;
    problem.only(entry.knows).map_err(|why| wrong(why.to_string()))
}

/// The text of a plan in a format.
///
/// # Errors
/// [`Error::Inexpressible`] with what the format cannot state, or what is no plan for the model.
pub fn write(entry: &Entry, plan: &Plan<'_>) -> Result<String> {
    let text = plan.check().and_then(|()| (entry.states)(plan.model)).and_then(|()| (entry.write)(plan));
    text.map_err(|what| Error::Inexpressible { format: entry.name, what })
}

impl<'a> Plan<'a> {
    /// The plan of a layout under an order.
    pub fn new(problem: &'a Problem, order: &'a Order, layout: &'a Layout) -> Plan<'a> {
        let dims = order.dims();
        Plan {
            model: problem.model(),
            layout,
            schedule: order.name(),
            stages: dims.stages,
            chunks: dims.chunks,
            micro_batches: dims.micro_batches,
            group: dims.group,
        }
    }

    /// The items of each virtual stage, the ends included, as a layout string has them.
    ///
    /// # Errors
    /// [`Error::Inexpressible`] for more layers than a layout string may have.
    pub fn items(&self) -> Result<Vec<Vec<Item>>> {
        let layers = self.body().map_err(|what| Error::Inexpressible { format: "megatron", what })?;
        Ok(megatron::items(&layers))
    }

    /// Refuses a layout that does not have every layer of the model once, in model order, the ends at the ends.
    fn check(&self) -> std::result::Result<(), String> {
        let (model, chunks) = (self.model, &self.layout.chunks);
        let virtual_stages = self.stages.checked_mul(self.chunks).filter(|&k| k > 0 && k == chunks.len());
        let last = virtual_stages.ok_or_else(|| {
            format!("{} virtual stages for {} stages of {} chunks", chunks.len(), self.stages, self.chunks)
        })? - 1;
        let mut counts = vec![0u64; model.segments.len()];
        let mut latest = 0;
        for (at, chunk) in chunks.iter().enumerate() {
            for run in chunk {
                let segment = model.segments.get(run.segment).filter(|s| run.kind < s.kinds.len());
                let segment = segment.ok_or_else(|| {
                    format!("virtual stage {at}: the model has no segment {} with kind {}", run.segment, run.kind)
                })?;
                counts[run.segment] += u64::from(run.count);
                let place = segment.role.place(last + 1).unwrap_or(at);
                if at != place && run.count > 0 {
                    return Err(format!("virtual stage {at} has layers of {}, which belong to {place}", segment.name));
                }
            }
            let present = chunk.iter().filter(|run| run.count > 0 && model.segments[run.segment].role.moves());
            let segments: Vec<usize> = present.map(|run| run.segment).collect();
            if segments.iter().any(|&segment| segment < latest) {
                return Err(format!(
                    "virtual stage {at} has layers of a segment before that of a virtual stage before it"
                ));
            }
            latest = segments.into_iter().max().unwrap_or(latest);
        }
        let wrong = (0..counts.len()).find(|&at| counts[at] != u64::from(model.segments[at].count));
        match wrong {
            Some(at) => {
                let segment = &model.segments[at];
                Err(format!("{} layers of {}, and the model has {}", counts[at], segment.name, segment.count))
            }
            None => Ok(()),
        }
    }

    /// Layers of the body in each virtual stage, in model order, recomputed ones first in a segment.
    fn body(&self) -> std::result::Result<Vec<Vec<Layer<'a>>>, String> {
        let (model, k) = (self.model, self.layout.chunks.len());
        let size: u64 = self.layout.chunks.iter().flatten().map(|run| u64::from(run.count)).sum();
        if size + k as u64 + 2 > MOST as u64 {
            return Err(format!("{size} layers in {k} virtual stages are too many; {MOST} together is the most"));
        }
        let layers = |chunk: &Vec<crate::layout::Run>| {
            let mut runs = chunk.clone();
            runs.retain(|run| model.segments[run.segment].role.moves());
            runs.sort_by_key(|run| (run.segment, std::cmp::Reverse(run.kind)));
            let layer = |run: crate::layout::Run| {
                let item = Item::of_body(model.segments[run.segment].role);
                let kind = model.segments[run.segment].kinds[run.kind].name.as_str();
                std::iter::repeat_n((item, kind), run.count as usize)
            };
            runs.into_iter().flat_map(layer).collect()
        };
        Ok(self.layout.chunks.iter().map(layers).collect())
    }

    /// Refuses an embedding or a loss that is recomputed, for formats that have no word for it.
    fn ends_keep_all(&self) -> std::result::Result<(), String> {
        let recomputed = |run: &&crate::layout::Run| {
            let segment = &self.model.segments[run.segment];
            !segment.role.moves() && run.count > 0 && segment.kinds[run.kind].name != "none"
        };
        match self.layout.chunks.iter().flatten().find(recomputed) {
            Some(run) => {
                Err(format!("{} is recomputed, which only layers may be", self.model.segments[run.segment].name))
            }
            None => Ok(()),
        }
    }
}
