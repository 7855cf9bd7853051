//! The flags of `sapwood train` that exist, and the request they make.

use super::later::Later;
use super::predict::Predict;
use crate::cli::Failure;
use crate::verb::sampling::{SamplerFlags, choice, names};
use clap::{Args, Subcommand};
use sapwood_graph::dataset::Weights;
use sapwood_graph::{LoadOptions, normalise};
use sapwood_train::preset::Preset;
use sapwood_train::{Request, init, model, optimiser, select};
use std::path::PathBuf;

/// Train a graph network with several samplers and seeds, and compare them in pairs.
///
/// Run s of every sampler has seed + s, so that its split, initial weights and dropout are the same for all; the table
/// says what the differences allow one to say. p is always the share that is dropped.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Train {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// `debian`, a folder, a file, or a name below $SAPWOOD_DATA or ./data
    /// [default: debian, or that of the preset]
    pub(super) data: Option<String>,
    /// Settings of a published experiment, where no flag says otherwise; the names are in docs/train.md
    #[arg(long, value_name = "NAME")]
    pub(super) preset: Option<String>,
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    graph: Operator,
    #[command(flatten)]
    pub(super) sampler: SamplerFlags,
    #[command(flatten)]
    runs: Runs,
    #[command(flatten)]
    pub(super) saving: Saving,
    /// Train at each of several drop rates and say how much the choice matters: p=0.1:0.9:0.1 (from, to, step) or
    /// p=0.1,0.3
    #[arg(long, value_name = "p=RATES")]
    pub(super) sweep: Option<String>,
    /// Write one line per run and epoch
    #[arg(long, value_name = "FILE.jsonl")]
    pub(super) log: Option<PathBuf>,
    /// Say what would run and how much memory it takes, and stop
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) later: Later,
}

/// What else `sapwood train` does.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Predict(Predict),
}

/// Where runs are saved.
#[derive(Debug, Args)]
#[command(next_help_heading = "Saving")]
pub(super) struct Saving {
    /// Save every run here, so that it can go on after a kill and serve `sapwood train predict`
    #[arg(short, long, value_name = "DIR", conflicts_with = "resume")]
    pub(super) out: Option<PathBuf>,
    /// Epochs from one checkpoint to the next; the last epoch is always saved [default: 50]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) checkpoint_every: Option<u32>,
    /// Go on with the runs saved here, to the same bits as without a break; finished ones are not run again
    #[arg(long, value_name = "DIR")]
    pub(super) resume: Option<PathBuf>,
    /// Write the class that each run gives to each node
    #[arg(long, value_name = "FILE.tsv")]
    pub(super) save_predictions: Option<PathBuf>,
}

/// The network and how it learns.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
struct Network {
    #[arg(long, value_name = "NAME", help = choice("Model", names(model::ALL, |e| e.name), "gcn; debian: jknet"))]
    model: Option<String>,
    /// Layers, the output layer included [default: 4]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    layers: Option<usize>,
    /// Columns of a hidden layer [default: 128; debian: 64]
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    hidden: Option<usize>,
    /// Give each convolution a second weight for the node itself
    #[arg(long)]
    with_self: bool,
    /// Norm layer before each ReLU: none, batch (on the output too), layer or pair [default: none]
    #[arg(long, value_name = "KIND")]
    norm_layer: Option<String>,
    /// How jknet joins its layers: concat or max [default: concat]
    #[arg(long, value_name = "HOW")]
    jk: Option<String>,
    /// How sage joins neighbours: mean or max [default: mean]
    #[arg(long, value_name = "HOW")]
    aggregator: Option<String>,
    /// Propagations of appnp [default: 10]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    prop_steps: Option<u16>,
    /// Share of its start that gcnii or appnp gives back to a node in each propagation [default: 0.1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    teleport: Option<f64>,
    /// λ of gcnii: the weights of layer l count ln(λ/l + 1) [default: 0.5]
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Dropout after each hidden layer [default: 0.5]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    dropout: Option<f64>,
    #[arg(long, value_name = "NAME", help = choice("Initial weights", names(init::ALL, |e| e.name), "glorot"))]
    init: Option<String>,
    /// Epochs of each run [default: 400; debian: 120]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    epochs: Option<u32>,
    #[arg(long, value_name = "NAME", help = choice("Optimiser", names(optimiser::ALL, |e| e.name), "adam"))]
    optimiser: Option<String>,
    /// Learning rate [default: 0.01]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    lr: Option<f64>,
    /// How the learning rate changes: const, step:EVERY:FACTOR, cosine, warmup:EPOCHS, or several joined by commas
    /// [default: const]
    #[arg(long, value_name = "FORM")]
    lr_schedule: Option<String>,
    /// Momentum of sgd [default: 0.9]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    momentum: Option<f64>,
    /// Nesterov's momentum in sgd
    #[arg(long)]
    nesterov: bool,
    /// Shorten the gradient of all parameters together to this length
    #[arg(long, value_name = "NORM", allow_negative_numbers = true)]
    clip: Option<f64>,
    /// L2 penalty [default: 5e-4; debian: 5e-5]
    #[arg(long, value_name = "PENALTY", allow_negative_numbers = true)]
    l2: Option<f64>,
    /// What L2 covers: weights, or all (biases and norm layers too, as the DropEdge scripts) [default: weights]
    #[arg(long, value_name = "WHAT")]
    l2_on: Option<String>,
    /// Compute activations again in the backward pass instead of keeping them: none, full, or auto (as few as fit into
    /// memory); the results have the same bits [default: none]
    #[arg(long, value_name = "HOW")]
    recompute: Option<String>,
    /// Number type: f32 or f64 [default: f32]
    #[arg(long, value_name = "TYPE")]
    dtype: Option<String>,
}

/// The graph as the network sees it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Graph")]
struct Operator {
    /// tfidf, rows, raw, onehot or random:D [default: tfidf, or what the data set has]
    #[arg(long, value_name = "KIND")]
    features: Option<String>,
    #[arg(long, value_name = "NAME", help = choice("Operator", names(normalise::ALL, |e| e.name), "aug"))]
    normalise: Option<String>,
    /// What A + I does to a self-loop: remaining or add [default: remaining]
    #[arg(long, value_name = "RULE")]
    self_loops: Option<String>,
    /// Keep the direction of the arcs (reads arcs.tsv where there is one)
    #[arg(long)]
    directed: bool,
    /// Ignore edge weights
    #[arg(long)]
    unweighted: bool,
    /// Read edges_weighted.tsv where there is one, and rank by edge weights
    #[arg(long, conflicts_with = "unweighted")]
    weighted: bool,
    /// What normalises the entries that survive a draw: renorm (the degrees that survive), fixed (those of the whole
    /// graph) or unbiased (the same, divided by the probability to stay) [default: renorm]
    #[arg(long, value_name = "HOW")]
    after: Option<String>,
}

/// Which runs there are and how they are judged.
#[derive(Debug, Args)]
#[command(next_help_heading = "Runs")]
struct Runs {
    /// Samplers to compare with, separated by commas [default: none,dropedge; with --sampler none: nothing]
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 1)]
    against: Option<Vec<String>>,
    /// Runs of each sampler [default: 6]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seeds: Option<u32>,
    #[arg(long, value_name = "RULE", help = choice("Which epoch is reported", names(select::ALL, |e| e.name), "val-acc"))]
    select: Option<String>,
    /// Epochs from one evaluation to the next [default: 1; debian: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    eval_every: Option<u32>,
    /// End a run at an evaluation that so many epochs after the best one brought nothing better; 0 never does [default: 0]
    #[arg(long, value_name = "EPOCHS", allow_negative_numbers = true)]
    patience: Option<u32>,
    /// Split: public, or a name that the data set has [default: the data set's own]
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
}

impl Train {
    /// What the flags ask for, and what the preset fills in.
    pub(super) fn request(&self, seed: u64, preset: Option<&Preset>) -> Result<Request, Failure> {
        let mut request = self.said(seed)?;
        if let Some(preset) = preset {
            preset.apply(&mut request, self.sampler.rate_flag().is_some());
            request.preset = Some(preset.name);
        }
        Ok(request)
    }

    fn said(&self, seed: u64) -> Result<Request, Failure> {
        let Train { network, graph, sampler, runs, .. } = self;
        Ok(Request {
            model: network.model.clone(),
            layers: network.layers,
            hidden: network.hidden,
            epochs: network.epochs,
            lr: network.lr,
            l2: network.l2,
            dropout: network.dropout,
            optimiser: network.optimiser.clone(),
            init: network.init.clone(),
            with_self: network.with_self,
            norm_layer: network.norm_layer.clone(),
            jk: network.jk.clone(),
            aggregator: network.aggregator.clone(),
            prop_steps: network.prop_steps,
            teleport: network.teleport,
            lambda: network.lambda,
            momentum: network.momentum,
            nesterov: network.nesterov,
            clip: network.clip,
            lr_schedule: network.lr_schedule.clone(),
            l2_on: network.l2_on.clone(),
            recompute: network.recompute.clone(),
            patience: runs.patience,
            preset: None,
            load: self.load_options(),
            features: graph.features.clone(),
            normalise: graph.normalise.clone(),
            self_loops: graph.self_loops.clone(),
            after: graph.after.clone(),
            sampler: sampler.sampler.clone(),
            options: sampler.options(graph.weighted)?,
            against: runs.against.as_ref().map(|list| list.iter().filter(|name| !name.is_empty()).cloned().collect()),
            seeds: runs.seeds,
            seed,
            select: runs.select.clone(),
            eval_every: runs.eval_every,
            split: runs.split.clone(),
            dtype: network.dtype.clone(),
        })
    }

    /// How the data set is read.
    fn load_options(&self) -> LoadOptions {
        let weights = match (self.graph.weighted, self.graph.unweighted) {
            (true, _) => Weights::Asked,
            (_, true) => Weights::Ignored,
            _ => Weights::Stored,
        };
        LoadOptions { directed: self.graph.directed, weights }
    }
}
