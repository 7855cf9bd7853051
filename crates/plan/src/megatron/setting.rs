//! Megatron-LM's one setting of recomputation for all stages.
//!
//! `none`; `selective` with a list of modules; or `full`: `block N` runs the first N layers of every virtual stage again,
//! `uniform 1` all of them. Layers that predict further tokens follow `uniform` and leave `block` out.

use super::Item;
use crate::model::Model;

/// Modules that Megatron-LM can run again by name, which are kinds of that name here.
pub const MODULES: [&str; 7] = ["core_attn", "layernorm", "mla_up_proj", "mlp", "moe", "moe_act", "shared_experts"];

/// A setting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Setting {
    /// Nothing is run again.
    #[default]
    None,
    /// Parts of every layer: the kind `selective` (Megatron's own choice of modules) or one of [`MODULES`].
    Selective(String),
    /// The first so many layers of every virtual stage.
    Block(usize),
    /// Every layer.
    Uniform,
}

/// A layer of a virtual stage: its item and the name of its kind of recomputation.
pub(crate) type Layer<'a> = (Item, &'a str);

impl Setting {
    /// Kind of the layer that is the `at`-th decoder of its virtual stage, or of a layer that predicts further tokens.
    pub fn kind(&self, item: Item, at: usize) -> &str {
        match (self, item) {
            (_, Item::Embedding | Item::Loss) | (Setting::None, _) => "none",
            (Setting::Selective(kind), _) => kind,
            (Setting::Block(layers), Item::Decoder) if at < *layers => "full",
            (Setting::Block(_), _) => "none",
            (Setting::Uniform, _) => "full",
        }
    }

    /// Its flags.
    pub fn flags(&self) -> String {
        match self {
            Setting::None => String::new(),
            Setting::Selective(kind) if MODULES.contains(&kind.as_str()) => {
                format!("--recompute-granularity selective --recompute-modules {kind}")
            }
            Setting::Selective(_) => "--recompute-granularity selective".to_owned(),
            Setting::Block(layers) => {
                format!("--recompute-granularity full --recompute-method block --recompute-num-layers {layers}")
            }
            Setting::Uniform => {
                "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1".to_owned()
            }
        }
    }

    /// The setting under which the layers of each virtual stage, in model order, are what they are.
    ///
    /// # Errors
    /// Which virtual stage first differs from the setting that fits most of them.
    pub(crate) fn of(virtual_stages: &[Vec<Layer<'_>>], stages: usize) -> Result<Setting, String> {
        let mut best: Option<(usize, usize, Setting)> = None;
        for setting in candidates(virtual_stages) {
            let differs = |at: &usize| setting.kinds(&virtual_stages[*at]) != kinds(&virtual_stages[*at]);
            let differing: Vec<usize> = (0..virtual_stages.len()).filter(differs).collect();
            let Some(&first) = differing.first() else { return Ok(setting) };
            if best.as_ref().is_none_or(|(fewest, ..)| differing.len() < *fewest) {
                best = Some((differing.len(), first, setting));
            }
        }
        let Some((many, at, setting)) = best else { return Ok(Setting::None) };
        let (found, wanted) = (kinds(&virtual_stages[at]), setting.kinds(&virtual_stages[at]));
        Err(format!(
            "one setting of recomputation holds for all stages; the nearest, {setting}, differs in {many} virtual stages, \
             first in stage {} chunk {}: {} and not {}",
            at % stages,
            at / stages,
            runs(&found),
            runs(&wanted),
        ))
    }

    /// The items of a virtual stage with their kinds under this setting.
    pub(crate) fn layers(&self, items: &[Item]) -> Vec<Layer<'_>> {
        let mut decoders = 0;
        let layer = |&item: &Item| {
            let kind = self.kind(item, decoders);
            decoders += usize::from(item == Item::Decoder);
            (item, kind)
        };
        items.iter().map(layer).collect()
    }

    /// Kinds of the layers of a virtual stage under this setting.
    fn kinds(&self, layers: &[Layer<'_>]) -> Vec<&str> {
        let items: Vec<Item> = layers.iter().map(|&(item, _)| item).collect();
        self.layers(&items).into_iter().map(|(_, kind)| kind).collect()
    }

    /// Place of a kind among those of a segment, which may lack it.
    pub(crate) fn place(kind: &str, model: &Model, segment: usize) -> Result<usize, String> {
        let segment = &model.segments[segment];
        let at = segment.kinds.iter().position(|cost| cost.name == kind);
        at.ok_or_else(|| format!("segment {} has no costs for the kind {kind} of recomputation", segment.name))
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Setting::None => f.write_str("none"),
            Setting::Selective(kind) => f.write_str(kind),
            Setting::Block(layers) => write!(f, "full block {layers}"),
            Setting::Uniform => f.write_str("full uniform 1"),
        }
    }
}

fn kinds<'a>(layers: &[Layer<'a>]) -> Vec<&'a str> {
    layers.iter().map(|&(_, kind)| kind).collect()
}

/// `full 2, none 4`.
fn runs(kinds: &[&str]) -> String {
    let runs = kinds.chunk_by(|a, b| a == b).map(|run| format!("{} {}", run[0], run.len()));
    runs.collect::<Vec<_>>().join(", ")
}

/// Every setting that may fit.
fn candidates(virtual_stages: &[Vec<Layer<'_>>]) -> Vec<Setting> {
    let mut selective: Vec<&str> = virtual_stages.iter().flatten().map(|&(_, kind)| kind).collect();
    selective.sort_unstable();
    selective.dedup();
    selective.retain(|kind| *kind == "selective" || MODULES.contains(kind));
    let full = |layers: &Vec<Layer<'_>>| layers.iter().filter(|&&(_, kind)| kind == "full").count();
    let mut blocks: Vec<usize> = virtual_stages.iter().map(full).filter(|&n| n > 0).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let mut all = vec![Setting::None, Setting::Uniform];
    all.extend(selective.into_iter().map(|kind| Setting::Selective(kind.to_owned())));
    all.extend(blocks.into_iter().map(Setting::Block));
    all
}
