//! Every choice of a run: what was asked for, what it becomes, and what is refused.
//!
//! A [`Request`] holds what a user said, `None` where nothing was said; [`Settings::resolve`] fills in the defaults, which
//! depend on the data set, and checks every value against its range and its registry (`check`). After that nothing is
//! guessed.

mod check;
mod request;
mod restore;
mod written;

use crate::model::ModelOptions;
use crate::optimiser::{L2On, OptimiserOptions};
use crate::schedule::LrSchedule;
use crate::{Error, Result, init, model, optimiser, select};
use check::{real, whole};
pub use request::Request;
use sapwood_graph::dataset::Weights;
use sapwood_graph::{FeatureKind, LoadOptions, Normalisation, SamplerOptions, SelfLoops, sampler};
use serde::Serialize;
use written::{as_text, form_name, init_name, model_name, optimiser_name, select_name, shown};

/// The registries that names are looked up in. Tests bring their own.
#[derive(Debug, Clone, Copy)]
pub struct Registries<'a> {
    /// Models.
    pub models: &'a [model::Entry],
    /// Samplers.
    pub samplers: &'a [sampler::Entry],
}

impl Default for Registries<'static> {
    fn default() -> Self {
        Registries { models: model::ALL, samplers: sampler::ALL }
    }
}

/// What normalises the entries that survive a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AfterDraw {
    /// The degrees that survive.
    #[default]
    Renorm,
    /// The degrees of the whole graph.
    Fixed,
    /// The degrees of the whole graph, divided by the probability to stay.
    Unbiased,
}

/// The number type of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

/// Which activations are computed again in the backward pass instead of being kept. The results have the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recompute {
    /// None.
    None,
    /// All but those between segments of ⌈√L⌉ layers, and those of the last segment.
    Full,
    /// Those of as few segments as fit into memory.
    Auto,
}

/// Every choice of a run, made.
#[derive(Debug, Clone, Serialize)]
pub struct Settings {
    /// The network.
    #[serde(serialize_with = "model_name")]
    pub model: model::Entry,
    /// Layers of it.
    pub layers: usize,
    /// Columns of a hidden layer.
    pub hidden: usize,
    /// Epochs of each run.
    pub epochs: u32,
    /// Learning rate.
    pub lr: f64,
    /// How it changes over the epochs.
    pub lr_schedule: LrSchedule,
    /// L2 penalty.
    pub l2: f64,
    /// What L2 covers.
    pub l2_on: L2On,
    /// The longest gradient that is not shortened; `None` shortens none.
    pub clip: Option<f64>,
    /// Dropout after each hidden layer.
    pub dropout: f64,
    /// The optimiser.
    #[serde(serialize_with = "optimiser_name")]
    pub optimiser: optimiser::Entry,
    /// What flags of single optimisers say.
    #[serde(flatten)]
    pub optimiser_options: OptimiserOptions,
    /// How weights start.
    #[serde(serialize_with = "init_name")]
    pub init: init::Entry,
    /// The preset that the choices come from, where no flag said otherwise.
    pub preset: Option<&'static str>,
    /// What flags of single models say.
    #[serde(flatten)]
    pub model_options: ModelOptions,
    /// The direction of arcs counts.
    pub directed: bool,
    /// Which weights the edges have.
    pub weights: Weights,
    /// How features are made; `None` leaves it to the data set until it is loaded.
    #[serde(serialize_with = "shown")]
    pub features: Option<FeatureKind>,
    /// The operator.
    #[serde(serialize_with = "form_name")]
    pub normalise: Normalisation,
    /// What a self-loop becomes.
    pub self_loops: String,
    /// The method that is looked at: the last of [`Settings::methods`].
    pub sampler: String,
    /// What normalises the entries that survive a draw.
    pub after: AfterDraw,
    /// What the samplers are made with.
    #[serde(flatten)]
    pub options: SamplerOptions,
    /// What it is compared with.
    pub against: Vec<String>,
    /// Runs of each method.
    pub seeds: u32,
    /// Seed of the first run; run s has seed + s.
    #[serde(serialize_with = "as_text")]
    pub seed: u64,
    /// Which epoch is reported.
    #[serde(serialize_with = "select_name")]
    pub select: select::Entry,
    /// Epochs from one evaluation to the next; the last epoch is always evaluated.
    pub eval_every: u32,
    /// Epochs without a better one after which a run ends; 0 never ends one.
    pub patience: u32,
    /// Which activations are computed again.
    pub recompute: Recompute,
    /// How many segments that is: see [`crate::Network::recompute`]. [`crate::Estimate::fit`] sets it.
    #[serde(skip)]
    pub recomputed: usize,
    /// The split; `None` is the data set's own until it is loaded.
    pub split: Option<String>,
    /// Number type.
    pub dtype: Dtype,
}

/// Defaults that depend on the data set.
struct Defaults {
    model: &'static str,
    layers: usize,
    hidden: usize,
    epochs: u32,
    l2: f64,
    eval_every: u32,
}

/// Name of the data set inside the program.
const DEBIAN: &str = "debian";

fn defaults(data: &str) -> Defaults {
    if data == DEBIAN {
        Defaults { model: "jknet", layers: 4, hidden: 64, epochs: 120, l2: 5e-5, eval_every: 5 }
    } else {
        Defaults { model: "gcn", layers: 4, hidden: 128, epochs: 400, l2: 5e-4, eval_every: 1 }
    }
}

/// Layers are numbered in 12 bits of a random key, from 1.
const MAX_LAYERS: usize = 4095;

impl Settings {
    /// Fills in and checks a request for the data set that `data` names.
    ///
    /// # Errors
    /// The first value that is out of range or names nothing.
    pub fn resolve(request: &Request, data: &str, registries: Registries<'_>) -> Result<Settings> {
        let base = defaults(data);
        let self_loops = request.self_loops.as_deref().unwrap_or("remaining");
        let sampler = request.sampler.as_deref().unwrap_or("ranked").to_owned();
        let model = *model::find(registries.models, request.model.as_deref().unwrap_or(base.model))?;
        let optimiser = *optimiser::find(optimiser::ALL, request.optimiser.as_deref().unwrap_or("adam"))?;
        let mut settings = Settings {
            preset: request.preset,
            model_options: check::model_options(request, &model)?,
            optimiser_options: check::optimiser_options(request, &optimiser)?,
            model,
            optimiser,
            lr_schedule: request.lr_schedule.as_deref().unwrap_or("const").parse()?,
            l2_on: check::l2_on(request.l2_on.as_deref())?,
            clip: request.clip.map(|v| real("--clip", v, |v| v > 0.0, "above 0 and finite")).transpose()?,
            patience: request.patience.unwrap_or(0),
            recompute: check::recompute(request.recompute.as_deref())?,
            recomputed: 0,
            layers: whole("--layers", request.layers.unwrap_or(base.layers), 1..=MAX_LAYERS, "from 1 to 4095")?,
            hidden: whole("--hidden", request.hidden.unwrap_or(base.hidden), 1..=1 << 20, "from 1 to 1048576")?,
            epochs: whole("--epochs", request.epochs.unwrap_or(base.epochs), 1..=u32::MAX, "1 or more")?,
            lr: real("--lr", request.lr.unwrap_or(0.01), |v| v > 0.0, "above 0 and finite")?,
            l2: real("--l2", request.l2.unwrap_or(base.l2), |v| v >= 0.0, "0 or more and finite")?,
            dropout: real(
                "--dropout",
                request.dropout.unwrap_or(0.5),
                |v| (0.0..1.0).contains(&v),
                "from 0 to below 1",
            )?,
            init: *init::find(init::ALL, request.init.as_deref().unwrap_or("glorot"))?,
            directed: request.load.directed,
            weights: request.load.weights,
            features: request.features.as_deref().map(str::parse).transpose()?,
            normalise: Normalisation::new(
                request.normalise.as_deref().or(model.normalise).unwrap_or("aug"),
                self_loops.parse::<SelfLoops>()?,
            )?,
            self_loops: self_loops.to_owned(),
            after: check::after(request.after.as_deref())?,
            options: SamplerOptions { epochs: request.epochs.unwrap_or(base.epochs), ..request.options.clone() },
            against: against(request.against.as_deref(), &sampler),
            sampler,
            seeds: whole("--seeds", request.seeds.unwrap_or(6), 1..=100_000, "from 1 to 100000")?,
            seed: request.seed,
            select: *select::find(select::ALL, request.select.as_deref().unwrap_or("val-acc"))?,
            eval_every: whole(
                "--eval-every",
                request.eval_every.unwrap_or(base.eval_every),
                1..=u32::MAX,
                "1 or more",
            )?,
            split: request.split.clone(),
            dtype: check::dtype(request.dtype.as_deref())?,
        };
        if let (Some(own), Some(_)) = (model.normalise, &request.normalise)
            && settings.normalise.form.name != own
        {
            let form = settings.normalise.form.name;
            return Err(Error::Settings(format!(
                "--normalise {form} has no meaning for --model {}, whose operator is {own}",
                model.name
            )));
        }
        let max = settings.model.name == "sage" && settings.model_options.aggregator == crate::model::Aggregator::Max;
        if max && settings.methods().any(|method| method == "dropmessage") {
            let why = "dropmessage loses coordinates of sums, and --aggregator max takes no sum";
            return Err(Error::Settings(format!("{why}; use --aggregator mean or another sampler")));
        }
        settings.options.layers = settings.propagations()?;
        for method in settings.methods() {
            (sampler::find(registries.samplers, method)?.new)(&settings.options)?;
        }
        Ok(settings)
    }

    /// The samplers that run, those compared with first; no name twice.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.against.iter().chain([&self.sampler]).map(String::as_str)
    }

    /// The sizes of the model on features and classes as given.
    pub fn shape(&self, features: crate::network::Input, classes: usize) -> model::Shape {
        let Settings { layers, hidden, dropout, model_options: options, .. } = *self;
        model::Shape { features, layers, hidden, classes, dropout, options }
    }

    /// How the graph is read.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions { directed: self.directed, weights: self.weights }
    }

    /// Learning rate in `epoch`, from 1.
    pub fn lr_at(&self, epoch: u32) -> f64 {
        self.lr * self.lr_schedule.factor(epoch, self.epochs)
    }

    /// Layers of the model that propagate, each of which can have a draw of its own; at least 1.
    fn propagations(&self) -> Result<u16> {
        Ok(self.draws()?.max(1))
    }

    /// Layers of the model that propagate.
    pub(crate) fn draws(&self) -> Result<u16> {
        let narrow = crate::network::Input { width: 1, sparse: false };
        let shape = model::Shape { hidden: 1, ..self.shape(narrow, 1) };
        Ok(model::build::<f32>(&self.model, &shape)?.draws())
    }
}

/// What `sampler` is compared with: by default `none` and `dropedge`, but `none` alone with nothing.
fn against(asked: Option<&[String]>, sampler: &str) -> Vec<String> {
    let usual = ["none".to_owned(), "dropedge".to_owned()];
    let list = match asked {
        Some(list) => list,
        None if sampler == "none" => &[],
        None => &usual,
    };
    let mut names: Vec<String> = Vec::new();
    for name in list {
        if name != sampler && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests;
