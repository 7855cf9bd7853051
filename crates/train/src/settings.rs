//! Every choice of a run: what was asked for, what it becomes, and what is refused.
//!
//! A [`Request`] holds what a user said, `None` where nothing was said; [`Settings::resolve`] fills in the defaults, which
//! depend on the data set, and checks every value against its range and its registry. After that nothing is guessed.

use crate::{Error, Result, init, model, optimiser, select};
use sapwood_graph::{FeatureKind, Normalisation, SamplerOptions, SelfLoops, sampler};
use serde::{Serialize, Serializer};

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
    /// Learning rate, the same in every epoch.
    pub lr: f64,
    /// L2 penalty of the weights.
    pub l2: f64,
    /// Dropout after each hidden layer.
    pub dropout: f64,
    /// The optimiser.
    #[serde(serialize_with = "optimiser_name")]
    pub optimiser: optimiser::Entry,
    /// How weights start.
    #[serde(serialize_with = "init_name")]
    pub init: init::Entry,
    /// Convolutions have a second weight for the node itself.
    pub with_self: bool,
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
    /// The split; `None` is the data set's own until it is loaded.
    pub split: Option<String>,
    /// Number type.
    pub dtype: Dtype,
}

/// Defaults that depend on the data set.
struct Defaults {
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
        Defaults { layers: 2, hidden: 64, epochs: 120, l2: 5e-5, eval_every: 5 }
    } else {
        Defaults { layers: 4, hidden: 128, epochs: 400, l2: 5e-4, eval_every: 1 }
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
        let settings = Settings {
            model: *model::find(registries.models, request.model.as_deref().unwrap_or("gcn"))?,
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
            optimiser: *optimiser::find(optimiser::ALL, request.optimiser.as_deref().unwrap_or("adam"))?,
            init: *init::find(init::ALL, request.init.as_deref().unwrap_or("glorot"))?,
            with_self: request.with_self,
            features: request.features.as_deref().map(str::parse).transpose()?,
            normalise: Normalisation::new(
                request.normalise.as_deref().unwrap_or("aug"),
                self_loops.parse::<SelfLoops>()?,
            )?,
            self_loops: self_loops.to_owned(),
            after: after(request.after.as_deref().unwrap_or("renorm"))?,
            options: SamplerOptions {
                epochs: request.epochs.unwrap_or(base.epochs),
                layers: request.layers.unwrap_or(base.layers).min(MAX_LAYERS) as u16,
                ..request.options.clone()
            },
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
            dtype: dtype(request.dtype.as_deref().unwrap_or("f32"))?,
        };
        for method in settings.methods() {
            (sampler::find(registries.samplers, method)?.new)(&settings.options)?;
        }
        if settings.with_self && !settings.model.convolves {
            return Err(Error::Settings(format!(
                "--with-self needs convolutions, which --model {} has not",
                settings.model.name
            )));
        }
        Ok(settings)
    }

    /// The samplers that run, those compared with first; no name twice.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.against.iter().chain([&self.sampler]).map(String::as_str)
    }

    /// The sizes of the model on features and classes as given.
    pub fn shape(&self, features: crate::network::Input, classes: usize) -> model::Shape {
        let Settings { layers, hidden, dropout, with_self, .. } = *self;
        model::Shape { features, layers, hidden, classes, dropout, with_self }
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

fn after(name: &str) -> Result<AfterDraw> {
    match name {
        "renorm" => Ok(AfterDraw::Renorm),
        "fixed" => Ok(AfterDraw::Fixed),
        "unbiased" => Ok(AfterDraw::Unbiased),
        _ => {
            let known = ["renorm", "fixed", "unbiased"];
            Err(sapwood_graph::Error::unknown("normalisation after a draw", name, known).into())
        }
    }
}

fn dtype(name: &str) -> Result<Dtype> {
    match name {
        "f32" => Ok(Dtype::F32),
        "f64" => Ok(Dtype::F64),
        _ => Err(sapwood_graph::Error::unknown("number type", name, ["f32", "f64"]).into()),
    }
}

fn whole<N: PartialOrd + std::fmt::Display>(
    flag: &'static str,
    value: N,
    allowed: std::ops::RangeInclusive<N>,
    range: &'static str,
) -> Result<N> {
    if allowed.contains(&value) { Ok(value) } else { Err(Error::Range { flag, range, value: value.to_string() }) }
}

fn real(flag: &'static str, value: f64, allowed: impl Fn(f64) -> bool, range: &'static str) -> Result<f64> {
    if value.is_finite() && allowed(value) {
        Ok(value)
    } else {
        Err(Error::Range { flag, range, value: value.to_string() })
    }
}

fn model_name<S: Serializer>(entry: &model::Entry, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(entry.name)
}

fn optimiser_name<S: Serializer>(entry: &optimiser::Entry, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(entry.name)
}

fn init_name<S: Serializer>(entry: &init::Entry, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(entry.name)
}

fn select_name<S: Serializer>(entry: &select::Entry, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(entry.name)
}

fn form_name<S: Serializer>(normalisation: &Normalisation, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(normalisation.form.name)
}

fn as_text<S: Serializer>(seed: &u64, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(seed)
}

fn shown<S: Serializer, D: std::fmt::Display>(value: &Option<D>, s: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => s.collect_str(value),
        None => s.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(data: &str, change: impl FnOnce(&mut Request)) -> Result<Settings> {
        let mut request = Request::default();
        change(&mut request);
        Settings::resolve(&request, data, Registries::default())
    }

    #[test]
    fn defaults_depend_on_the_data_set() {
        let s = resolve("debian", |_| ()).unwrap();
        assert_eq!(
            (s.model.name, s.layers, s.hidden, s.epochs, s.l2, s.eval_every, s.seeds),
            ("gcn", 2, 64, 120, 5e-5, 5, 6)
        );
        let s = resolve("cora", |_| ()).unwrap();
        assert_eq!((s.layers, s.hidden, s.epochs, s.l2, s.eval_every), (4, 128, 400, 5e-4, 1));
    }

    #[test]
    fn methods_are_those_compared_with_and_then_the_sampler() {
        let methods =
            |change: fn(&mut Request)| resolve("cora", change).unwrap().methods().map(String::from).collect::<Vec<_>>();
        assert_eq!(methods(|_| ()), ["none", "dropedge", "ranked"]);
        assert_eq!(methods(|r| r.sampler = Some("none".into())), ["none"]);
        assert_eq!(
            methods(|r| (r.sampler, r.against) = (Some("none".into()), Some(vec!["dropedge".into()]))),
            ["dropedge", "none"]
        );
        assert_eq!(methods(|r| r.against = Some(vec![])), ["ranked"]);
    }

    #[test]
    fn values_out_of_range_name_flag_and_range() {
        let says = |change: fn(&mut Request)| resolve("cora", change).unwrap_err().to_string();
        for p in [f64::NAN, -0.1, 1.5] {
            let mut request = Request::default();
            request.options.rates = sapwood_graph::Rates::Const(p);
            let message = Settings::resolve(&request, "cora", Registries::default()).unwrap_err().to_string();
            assert_eq!(message, format!("--p must be a drop rate from 0 to 1, not {p}"));
        }
        assert_eq!(says(|r| r.lr = Some(f64::INFINITY)), "--lr must be above 0 and finite, not inf");
        assert_eq!(says(|r| r.l2 = Some(-1.0)), "--l2 must be 0 or more and finite, not -1");
        assert_eq!(says(|r| r.dropout = Some(1.0)), "--dropout must be from 0 to below 1, not 1");
        assert_eq!(says(|r| r.layers = Some(0)), "--layers must be from 1 to 4095, not 0");
        assert_eq!(says(|r| r.epochs = Some(0)), "--epochs must be 1 or more, not 0");
        assert_eq!(says(|r| r.seeds = Some(0)), "--seeds must be from 1 to 100000, not 0");
    }

    #[test]
    fn unknown_names_list_the_valid_ones_and_the_nearest() {
        let says = |change: fn(&mut Request)| resolve("cora", change).unwrap_err().to_string();
        let unknown = [
            says(|r| r.model = Some("gnc".into())),
            says(|r| r.sampler = Some("dropege".into())),
            says(|r| r.against = Some(vec!["nonne".into()])),
            says(|r| r.normalise = Some("agu".into())),
            says(|r| r.optimiser = Some("adm".into())),
            says(|r| r.init = Some("glorto".into())),
            says(|r| r.select = Some("val_acc".into())),
            says(|r| r.dtype = Some("f16".into())),
        ];
        for (text, near) in unknown.iter().zip(["gcn", "dropedge", "none", "aug", "adam", "glorot", "val-acc", "f32"]) {
            assert!(text.contains(&format!("did you mean '{near}'?")) && text.contains("known: "), "{text}");
        }
    }

    #[test]
    fn self_weights_need_a_convolution() {
        let request = |r: &mut Request| (r.model, r.with_self) = (Some("mlp".into()), true);
        assert!(resolve("cora", request).unwrap_err().to_string().contains("--with-self needs convolutions"));
    }

    #[test]
    fn every_setting_is_written_with_names_for_entries() {
        let json = serde_json::to_value(resolve("debian", |r| r.seed = u64::MAX).unwrap()).unwrap();
        assert_eq!(json["model"], "gcn");
        assert_eq!(json["normalise"], "aug");
        assert_eq!(json["seed"], "18446744073709551615");
        assert_eq!(json["against"], serde_json::json!(["none", "dropedge"]));
        assert_eq!(
            (&json["sampler"], &json["p"], &json["score"]),
            (&"ranked".into(), &0.3.into(), &"two_stage".into())
        );
        assert_eq!(json["dtype"], "f32");
        assert!(json["features"].is_null());
    }
}
