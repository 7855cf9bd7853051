//! Importers: plans as other programs state them. One file per format, one line in [`ALL`].

mod megatron_flags;
mod megatron_layout;
mod mindformers_yaml;
mod plan_json;

pub use megatron_layout::parse as parse_layout;
pub use plan_json::model as plan_model;

use crate::export::no_pinned_layers;
use crate::layout::{Layout, Run};
use crate::megatron::{Item, Rules, Setting, setting::Layer};
use crate::model::{Model, Role, Segment};
use crate::{Error, Result};

/// Every importer.
pub static ALL: &[Entry] = &[megatron_layout::ENTRY, megatron_flags::ENTRY, mindformers_yaml::ENTRY, plan_json::ENTRY];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name of the format.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Reads a text as a plan for a model; messages name the place in it.
    pub read: fn(&str, &Model, &Options) -> std::result::Result<Imported, String>,
}

/// What the user says about a text.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Stages, for formats that do not say it.
    pub stages: Option<usize>,
    /// Recomputation, for formats that do not say it.
    pub recompute: Setting,
    /// Whether each layer that predicts further tokens may have a loss of its own.
    pub multi_loss: bool,
}

/// A plan as far as a text states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Stages.
    pub stages: usize,
    /// Chunks of each stage.
    pub chunks: usize,
    /// The partition.
    pub layout: Layout,
    /// Name of the schedule.
    pub schedule: Option<&'static str>,
    /// Micro-batches.
    pub micro_batches: Option<usize>,
    /// Micro-batches of a group.
    pub group: Option<usize>,
    /// What the user should know about the text.
    pub warnings: Vec<String>,
}

/// The importer called `name`.
///
/// # Errors
/// With the valid names and the nearest one.
pub fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter().find(|e| e.name == name).ok_or_else(|| Error::unknown("importer", name, ALL.iter().map(|e| e.name)))
}

/// Reads a text of a format as a plan for `model`.
///
/// # Errors
/// [`Error::Import`] with what is wrong and where.
pub fn read(entry: &Entry, text: &str, model: &Model, options: &Options) -> Result<Imported> {
    (entry.read)(text, model, options).map_err(|what| Error::Import { format: entry.name, what })
}

/// The plan of items in virtual stages under Megatron-LM's rules.
fn finish(
    virtual_stages: &[Vec<Item>],
    stages: usize,
    setting: &Setting,
    model: &Model,
    options: &Options,
) -> std::result::Result<Imported, String> {
    no_pinned_layers(model)?;
    let (decoders, mtp) = (total(model, Role::Body), total(model, Role::Mtp));
    let rules = Rules { stages, decoders, mtp, multi_loss: options.multi_loss };
    rules.check(virtual_stages).map_err(|broken| broken.to_string())?;
    let layers: Vec<Vec<Layer<'_>>> = virtual_stages.iter().map(|stage| setting.layers(stage)).collect();
    let chunks = virtual_stages.len() / stages;
    Ok(Imported {
        stages,
        chunks,
        layout: layout(&layers, model)?,
        schedule: Some(if chunks == 1 { "1f1b" } else { "interleaved" }),
        micro_batches: None,
        group: None,
        warnings: Vec::new(),
    })
}

/// Layers of a model in the segments of a role, by segment, as one sequence in model order.
fn layers(model: &Model, role: Role) -> impl Iterator<Item = usize> + '_ {
    let segments = model.segments.iter().enumerate().filter(move |(_, s)| s.role == role);
    segments.flat_map(|(at, s)| std::iter::repeat_n(at, s.count as usize))
}

/// How many those are.
fn total(model: &Model, role: Role) -> usize {
    model.segments.iter().filter(|s| s.role == role).map(|s| s.count as usize).sum()
}

/// The layout that gives the virtual stages their items, each with a kind by name; the model's layers come in model order.
fn layout(virtual_stages: &[Vec<Layer<'_>>], model: &Model) -> std::result::Result<Layout, String> {
    let mut decoders = layers(model, Role::Body);
    let mut others = layers(model, Role::Mtp);
    let k = virtual_stages.len();
    let pinned = |at| {
        let here = move |s: &Segment| s.role.place(k) == Some(at) && s.count > 0;
        let segments = model.segments.iter().enumerate().filter(move |(_, s)| here(s));
        segments.map(|(segment, s)| Run { segment, kind: 0, count: s.count })
    };
    let mut chunks = Vec::with_capacity(virtual_stages.len());
    for (at, stage) in virtual_stages.iter().enumerate() {
        let mut placed: Vec<(usize, usize)> = Vec::with_capacity(stage.len());
        for &(item, kind) in stage {
            let next = match item {
                Item::Embedding | Item::Loss => continue,
                Item::Decoder => decoders.next(),
                Item::Mtp => others.next(),
            };
            let segment = next.ok_or_else(|| format!("virtual stage {at} has layers that the model has not"))?;
            placed.push((segment, Setting::place(kind, model, segment)?));
        }
        let mut runs = runs(placed);
        runs.extend(pinned(at));
        runs.sort_by_key(|run| (run.segment, std::cmp::Reverse(run.kind)));
        chunks.push(runs);
    }
    match decoders.count() + others.count() {
        0 => Ok(Layout { chunks }),
        left => Err(format!("{left} layers of the model are in no virtual stage")),
    }
}

/// Runs of (segment, kind), in the order in which a layout has them.
fn runs(mut placed: Vec<(usize, usize)>) -> Vec<Run> {
    placed.sort_by_key(|&(segment, kind)| (segment, std::cmp::Reverse(kind)));
    let run = |run: &[(usize, usize)]| Run { segment: run[0].0, kind: run[0].1, count: run.len() as u32 };
    placed.chunk_by(|a, b| a == b).map(run).collect()
}
