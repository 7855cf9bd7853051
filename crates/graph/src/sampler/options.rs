//! What a user may choose about a sampler. Each sampler reads what concerns it and refuses what is out of range.

use super::Rates;
use crate::calibrate::{Clip, Curve};
use crate::guard::Guards;
use crate::score::ScoreOptions;
use crate::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The choices, one member per flag.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SamplerOptions {
    /// Drop rates: `--p`, or `--p-schedule`.
    #[serde(rename = "p")]
    pub rates: Rates,
    /// Epochs of a run, over which a linear schedule stretches; at least 1.
    #[serde(skip)]
    pub epochs: u32,
    /// Layers of the network that propagate, each of which can have a draw of its own.
    #[serde(skip)]
    pub layers: u16,
    /// Registry name of the score, `--score`.
    pub score: String,
    /// What scores are made with.
    #[serde(flatten)]
    pub score_options: ScoreOptions,
    /// How strongly the score decides, `--beta`; 0 or more.
    pub beta: f64,
    /// Whether a high score keeps or drops, `--direction`.
    pub direction: Direction,
    /// From rank to probability, `--curve`.
    pub curve: Curve,
    /// Bounds of every probability, `--q-min` and `--q-max`.
    #[serde(flatten)]
    pub clip: Clip,
    /// Registry name of the draw, `--draw`.
    pub draw: String,
    /// Which units stand together in a draw's order, `--stratify`.
    pub stratify: Stratify,
    /// What shares a draw, `--per`.
    pub per: Per,
    /// What is never dropped.
    #[serde(flatten)]
    pub guards: Guards,
    /// A file that gives every probability itself, `--prob`.
    #[serde(rename = "prob")]
    pub probabilities: Option<PathBuf>,
    /// As published, even where that is worse, `--faithful`.
    pub faithful: bool,
    /// What a diffusion is made with.
    #[serde(flatten)]
    pub diffusion: Diffusion,
}

impl Default for SamplerOptions {
    fn default() -> Self {
        SamplerOptions {
            rates: Rates::Const(0.3),
            epochs: 1,
            layers: 1,
            score: "two_stage".into(),
            score_options: ScoreOptions::default(),
            beta: 2.0,
            direction: Direction::Keep,
            curve: Curve::Sigmoid,
            clip: Clip::default(),
            draw: "systematic".into(),
            stratify: Stratify::Node,
            per: Per::Epoch,
            guards: Guards::default(),
            probabilities: None,
            faithful: false,
            diffusion: Diffusion::default(),
        }
    }
}

impl SamplerOptions {
    /// The defaults with one drop rate.
    pub fn with_p(p: f64) -> SamplerOptions {
        SamplerOptions { rates: Rates::Const(p), ..SamplerOptions::default() }
    }

    /// The files that are named, each with the name under which its path is written down.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let named = [
            ("prob", &self.probabilities),
            ("score_file", &self.score_options.file),
            ("always_keep", &self.guards.always_keep),
        ];
        named.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?)))
    }
}

/// What a high score means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The unit is kept more often.
    #[default]
    Keep,
    /// The unit is dropped more often.
    Drop,
    /// The labels of the training nodes decide, see `direction`.
    Auto,
}

/// Which units stand together in the order of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stratify {
    /// None: a keyed random order.
    None,
    /// The units of a node.
    #[default]
    Node,
    /// Units of about equal rank.
    Score,
}

/// What shares a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// All layers of an epoch.
    #[default]
    Epoch,
    /// Nothing: each layer has a draw of its own.
    Layer,
    /// Each layer has a draw of its own that keeps all that the layer before it keeps.
    LayerNested,
}

/// Personalised PageRank diffusion (GDC).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Diffusion {
    /// Teleport probability τ, `--diffuse-teleport`.
    #[serde(rename = "diffuse_teleport")]
    pub teleport: f64,
    /// Entries kept of each row, `--diffuse-top`.
    #[serde(rename = "diffuse_top")]
    pub top: u32,
}

impl Default for Diffusion {
    fn default() -> Self {
        Diffusion { teleport: 0.15, top: 64 }
    }
}

/// The value of `name` in a table of names.
fn choose<T: Copy>(kind: &'static str, name: &str, table: &[(&'static str, T)]) -> Result<T> {
    let found = table.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
    found.ok_or_else(|| Error::unknown(kind, name, table.iter().map(|(known, _)| *known)))
}

impl FromStr for Direction {
    type Err = Error;
    fn from_str(name: &str) -> Result<Direction> {
        choose("direction", name, &[("keep", Direction::Keep), ("drop", Direction::Drop), ("auto", Direction::Auto)])
    }
}

impl FromStr for Stratify {
    type Err = Error;
    fn from_str(name: &str) -> Result<Stratify> {
        let table = [("none", Stratify::None), ("node", Stratify::Node), ("score", Stratify::Score)];
        choose("stratification", name, &table)
    }
}

impl FromStr for Per {
    type Err = Error;
    fn from_str(name: &str) -> Result<Per> {
        choose(
            "sharing of draws",
            name,
            &[("epoch", Per::Epoch), ("layer", Per::Layer), ("layer-nested", Per::LayerNested)],
        )
    }
}
