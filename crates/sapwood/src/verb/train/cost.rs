//! The predicted time of a run: where the rates come from, and what is said beside what was measured.

use crate::cli::{Context, Failure};
use sapwood_graph::{Graph, Split, TrainLabels};
use sapwood_machine::{Discover, facts};
use sapwood_skeleton::Exec;
use sapwood_train::cost::{Predicted, Prices, Sampling, Subject, predict};
use sapwood_train::experiment::{self, RunRecord};
use sapwood_train::trainer::Method;
use sapwood_train::{Number, Registries, Settings};
use serde::Serialize;
use std::sync::Arc;

/// What is said where the machine has no rates.
pub(super) const NO_RATES: &str = "no rates: sapwood machine probe -o machine.toml";

/// The prices of work on this machine, if its file has rates; a file with some but not all of them is warned of.
pub(super) fn prices<T: Number>(cx: &Context, exec: Exec<'_>) -> Result<Option<Prices>, Failure> {
    let machine = cx.machine()?;
    let Some(rates) = machine.rates() else { return Ok(None) };
    let cache = facts(&Discover::default())?.last_cache();
    match Prices::new(rates, exec.threads(), cache, size_of::<T>()) {
        Ok(prices) => Ok(Some(prices)),
        Err(missing) => {
            cx.warn(&format!("no time is predicted: {missing}"));
            Ok(None)
        }
    }
}

/// What is known of a data set before a run, as far as its time goes.
pub(super) fn subject(
    features: &sapwood_graph::FeatureMatrix,
    data: &sapwood_graph::GraphData,
    split: &Split,
) -> Subject {
    let labelled = |nodes: &[sapwood_graph::NodeId]| nodes.iter().filter(|n| data.labels[n.index()] >= 0).count();
    Subject::new(features, data.classes, (labelled(&split.train), labelled(&split.val)))
}

/// The prediction for methods that are prepared.
pub(super) fn forecast<T: Number>(
    exec: Exec<'_>,
    (methods, graph): (&[Method], &Graph),
    settings: &Settings,
    subject: &Subject,
    prices: Option<&Prices>,
) -> Result<Option<Predicted>, Failure> {
    let Some(prices) = prices else { return Ok(None) };
    let samplings = Sampling::of_all(exec, methods, graph, settings)?;
    Ok(Some(predict::<T>(settings, subject, &samplings, prices)?))
}

/// The prediction of a run that does not start; of all rates together where there are several.
pub(super) fn dry<T: Number>(
    exec: Exec<'_>,
    (graph, labels): (&Arc<Graph>, &TrainLabels),
    (settings, rates): (&Settings, Option<&[f64]>),
    subject: &Subject,
    prices: Option<&Prices>,
) -> Result<Option<Predicted>, Failure> {
    if prices.is_none() {
        return Ok(None);
    }
    let each = match rates {
        Some(rates) => super::sweep::at_rates(settings, rates),
        None => vec![settings.clone()],
    };
    let mut all: Option<Predicted> = None;
    for settings in each {
        let mut methods = experiment::prepare(exec, graph, labels, &settings, Registries::default())?;
        if let (true, sapwood_graph::Rates::Const(p)) = (all.is_some(), &settings.options.rates) {
            super::sweep::leave_out_constant(&mut methods, *p);
        }
        let found = forecast::<T>(exec, (&methods, graph), &settings, subject, prices)?;
        match (&mut all, found) {
            (Some(all), Some(found)) => all.total_s += found.total_s,
            (all, found) => *all = found,
        }
    }
    Ok(all)
}

/// The member `cost` of the JSON object.
#[derive(Debug, Serialize)]
pub(super) struct Cost {
    /// Seconds of all runs.
    pub(super) predicted_s: Option<f64>,
    by_stage: Vec<Stage>,
}

/// One stage of the network, in a training step of the sampler that is looked at.
#[derive(Debug, Serialize)]
struct Stage {
    stage: usize,
    /// Layers of the network's list.
    layers: usize,
    /// Seconds of an epoch: both passes.
    predicted_s: f64,
    forward_s: f64,
    backward_s: f64,
    /// What stays from forward to backward.
    saved_bytes: u64,
}

impl Cost {
    /// The members of a prediction, or nulls.
    pub(super) fn new(predicted: Option<&Predicted>) -> Cost {
        let stage = predicted.and_then(|p| p.methods.last()).map(|method| {
            let (forward_s, backward_s) = (
                method.layers.iter().map(|layer| layer.forward_s).sum::<f64>(),
                method.layers.iter().map(|layer| layer.backward_s).sum::<f64>(),
            );
            let saved_bytes = method.layers.iter().map(|layer| layer.saved_bytes).sum();
            let (layers, predicted_s) = (method.layers.len(), forward_s + backward_s);
            Stage { stage: 0, layers, predicted_s, forward_s, backward_s, saved_bytes }
        });
        Cost { predicted_s: predicted.map(|p| p.total_s), by_stage: stage.into_iter().collect() }
    }
}

/// Predicted and measured seconds of the epochs that this process trained, in all runs that it trained any of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Compared {
    pub(super) predicted_s: f64,
    pub(super) measured_s: f64,
}

impl Compared {
    /// `None` where nothing was predicted, or trained.
    pub(super) fn of<'a>(predicted: Option<&Predicted>, runs: impl Iterator<Item = &'a RunRecord>) -> Option<Compared> {
        let predicted = predicted?;
        let mut all = Compared { predicted_s: 0.0, measured_s: 0.0 };
        for run in runs.filter(|run| run.epochs > run.resumed) {
            all.predicted_s += predicted.method(&run.method)?.of_epochs(run.resumed, run.epochs);
            all.measured_s += run.run_s;
        }
        Some(all).filter(|all| all.measured_s > 0.0)
    }

    pub(super) fn ratio(&self) -> f64 {
        self.predicted_s / self.measured_s
    }
}
