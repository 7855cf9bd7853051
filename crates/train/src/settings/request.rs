//! What a user asked for: `None` where nothing was said.

use sapwood_graph::{LoadOptions, SamplerOptions};

/// What a user asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `--model`.
    pub model: Option<String>,
    /// `--layers`.
    pub layers: Option<usize>,
    /// `--hidden`.
    pub hidden: Option<usize>,
    /// `--epochs`.
    pub epochs: Option<u32>,
    /// `--lr`.
    pub lr: Option<f64>,
    /// `--l2`.
    pub l2: Option<f64>,
    /// `--dropout`.
    pub dropout: Option<f64>,
    /// `--optimiser`.
    pub optimiser: Option<String>,
    /// `--init`.
    pub init: Option<String>,
    /// `--with-self`.
    pub with_self: bool,
    /// `--norm-layer`.
    pub norm_layer: Option<String>,
    /// `--jk`.
    pub jk: Option<String>,
    /// `--aggregator`.
    pub aggregator: Option<String>,
    /// `--prop-steps`.
    pub prop_steps: Option<u16>,
    /// `--teleport`.
    pub teleport: Option<f64>,
    /// `--lambda`.
    pub lambda: Option<f64>,
    /// `--momentum`.
    pub momentum: Option<f64>,
    /// `--nesterov`.
    pub nesterov: bool,
    /// `--clip`.
    pub clip: Option<f64>,
    /// `--lr-schedule`.
    pub lr_schedule: Option<String>,
    /// `--l2-on`.
    pub l2_on: Option<String>,
    /// `--patience`.
    pub patience: Option<u32>,
    /// `--recompute`.
    pub recompute: Option<String>,
    /// `--preset`, already applied: it is written down.
    pub preset: Option<&'static str>,
    /// How the graph is read: `--directed`, `--weighted`, `--unweighted`.
    pub load: LoadOptions,
    /// `--features`.
    pub features: Option<String>,
    /// `--normalise`.
    pub normalise: Option<String>,
    /// `--self-loops`.
    pub self_loops: Option<String>,
    /// `--sampler`.
    pub sampler: Option<String>,
    /// `--after`.
    pub after: Option<String>,
    /// The flags that concern a sampler.
    pub options: SamplerOptions,
    /// `--against`; an empty list compares with nothing.
    pub against: Option<Vec<String>>,
    /// `--seeds`.
    pub seeds: Option<u32>,
    /// `--seed`.
    pub seed: u64,
    /// `--select`.
    pub select: Option<String>,
    /// `--eval-every`.
    pub eval_every: Option<u32>,
    /// `--split`.
    pub split: Option<String>,
    /// `--dtype`.
    pub dtype: Option<String>,
}
