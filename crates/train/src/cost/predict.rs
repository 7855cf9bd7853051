//! The predicted time of an experiment: every run of every method.

use super::parts;
use super::price::Prices;
use super::sampling::{Kind, Sampling};
use super::size::Operands;
use super::work::Work;
use crate::network::{Input, Network};
use crate::number::Number;
use crate::settings::Settings;
use crate::{Result, model};
use sapwood_graph::FeatureMatrix;

/// The sizes of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// Nodes.
    pub nodes: usize,
    /// What X is.
    pub features: Input,
    /// Stored entries of X if it is sparse.
    pub feature_entries: Option<u64>,
    /// Classes.
    pub classes: usize,
    /// Labelled nodes that train.
    pub train: usize,
    /// Labelled nodes that choose.
    pub val: usize,
}

impl Subject {
    /// The sizes of features and of a split with `train` and `val` nodes.
    pub fn new(features: &FeatureMatrix, classes: usize, (train, val): (usize, usize)) -> Subject {
        let feature_entries = match features {
            FeatureMatrix::Sparse(x) => Some(x.entries() as u64),
            FeatureMatrix::Dense(_) => None,
        };
        let input = Input { width: features.cols(), sparse: feature_entries.is_some() };
        Subject { nodes: features.rows(), features: input, feature_entries, classes, train, val }
    }

    /// What passes over a graph with `arcs` arcs work with.
    fn operands<T: Number>(&self, arcs: f64, messages: bool) -> Operands {
        Operands {
            rows: self.nodes,
            entries: arcs + self.nodes as f64,
            feature_columns: self.features.width,
            feature_entries: self.feature_entries,
            messages,
            element: size_of::<T>(),
        }
    }
}

/// The predicted seconds of one layer in a training step.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerTime {
    /// Name of the layer.
    pub name: String,
    /// Its forward pass.
    pub forward_s: f64,
    /// Its backward pass, and what of its forward pass is run again.
    pub backward_s: f64,
    /// Bytes of its output, if that stays from forward to backward.
    pub saved_bytes: u64,
}

/// The predicted seconds of one method.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodTime {
    /// Its name.
    pub method: String,
    /// The draws of an epoch.
    pub draw_s: f64,
    /// The training of an epoch, its draws included.
    pub train_s: f64,
    /// One evaluation.
    pub evaluate_s: f64,
    /// What a run does once: its start and the close look at its end.
    pub once_s: f64,
    /// Mean of one epoch of a whole run: what is done once and the evaluations have their share.
    pub epoch_s: f64,
    /// One whole run.
    pub run_s: f64,
    /// The layers in a training step, in running order.
    pub layers: Vec<LayerTime>,
    epochs: u32,
    eval_every: u32,
}

impl MethodTime {
    /// A run, in this process, of the epochs after `first` up to `last`; nothing if there are none.
    pub fn of_epochs(&self, first: u32, last: u32) -> f64 {
        if last <= first {
            return 0.0;
        }
        let due = |epoch: u32| epoch / self.eval_every;
        let extra = u32::from(last == self.epochs && !last.is_multiple_of(self.eval_every));
        let evaluations = due(last) - due(first) + extra;
        f64::from(last - first) * self.train_s + f64::from(evaluations) * self.evaluate_s + self.once_s
    }
}

/// The predicted seconds of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// All runs of all methods; reading the data and describing the draws are not counted.
    pub total_s: f64,
    /// The methods, in the order of [`Settings::methods`].
    pub methods: Vec<MethodTime>,
}

impl Predicted {
    /// What is predicted of the method called `name`.
    pub fn method(&self, name: &str) -> Option<&MethodTime> {
        self.methods.iter().find(|method| method.method == name)
    }
}

/// Predicts the time of all runs of `settings` on `subject` with the methods that `samplings` describe.
///
/// # Errors
/// When the model does not fit the settings.
pub fn predict<T: Number>(
    settings: &Settings,
    subject: &Subject,
    samplings: &[Sampling],
    prices: &Prices,
) -> Result<Predicted> {
    let mut network = model::build::<T>(&settings.model, &settings.shape(subject.features, subject.classes))?;
    network.recompute(settings.recomputed);
    let of = |sampling: &Sampling| method(settings, subject, &network, sampling, prices);
    let methods: Vec<MethodTime> = samplings.iter().map(of).collect();
    let total_s = methods.iter().map(|m| m.run_s).sum::<f64>() * f64::from(settings.seeds);
    Ok(Predicted { total_s, methods })
}

fn method<T: Number>(
    settings: &Settings,
    subject: &Subject,
    network: &Network<T>,
    sampling: &Sampling,
    prices: &Prices,
) -> MethodTime {
    let Subject { classes, train, val, .. } = *subject;
    let drawn = subject.operands::<T>(sampling.kept, sampling.kind == Kind::Messages);
    let whole = subject.operands::<T>(sampling.arcs as f64, false);
    let draw_s = prices.work(&parts::draw(sampling, &drawn));
    let saved = network.cost(&drawn).iter().map(|layer| layer.saved_bytes).sum();
    let layers = layers(network, &drawn, &prices.between_uses(saved));
    let passes: f64 = layers.iter().map(|layer| layer.forward_s + layer.backward_s).sum();
    let mut rest: Work = parts::loss(&drawn, classes, train, true).into_iter().collect();
    if settings.select.train_mode {
        parts::loss(&drawn, classes, val, false).into_iter().for_each(|step| rest.push(step));
    }
    rest.add(&parts::step(network, &settings.optimiser, settings.clip.is_some()));
    let forward = prices.work(&network.evaluation_cost(&whole));
    let parameters = network.parameter_count();
    let judge = prices.work(&parts::judge(&whole, classes, val, parameters));
    let inspect = prices.work(&parts::inspect(&whole, classes, network.hidden_widths()));
    let start = prices.step(&parts::start(parameters, whole.element, &settings.optimiser));
    let mut time = MethodTime {
        method: sampling.method.clone(),
        draw_s,
        train_s: draw_s + passes + prices.work(&rest),
        evaluate_s: forward + judge,
        once_s: start + forward + inspect,
        epoch_s: 0.0,
        run_s: 0.0,
        layers,
        epochs: settings.epochs,
        eval_every: settings.eval_every,
    };
    time.run_s = time.of_epochs(0, settings.epochs);
    time.epoch_s = time.run_s / f64::from(settings.epochs);
    time
}

fn layers<T: Number>(network: &Network<T>, on: &Operands, prices: &Prices) -> Vec<LayerTime> {
    let time = |layer: crate::network::LayerCost| LayerTime {
        name: layer.name,
        forward_s: prices.work(&layer.forward),
        backward_s: prices.work(&layer.again) + prices.work(&layer.backward),
        saved_bytes: layer.saved_bytes,
    };
    network.cost(on).into_iter().map(time).collect()
}
