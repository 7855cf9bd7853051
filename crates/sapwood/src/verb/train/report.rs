//! What an experiment found: the JSON object `sapwood.train/1` and the table. Members of later steps are null.

use super::cost::{Compared, Cost};
use super::table;
use crate::cli::resources;
use crate::cli::{Context, Failure};
use sapwood_graph::sampler::{AutoDirection, Direction};
use sapwood_graph::structure::Statistics;
use sapwood_graph::{FeatureMatrix, GraphData};
use sapwood_train::cost::Predicted;
use sapwood_train::experiment::{MethodRecord, Outcome, PairRecord, RunRecord};
use sapwood_train::preset::{self, Published};
use sapwood_train::trainer::NonFinite;
use sapwood_train::{Estimate, Settings};
use serde::Serialize;

/// What is known before the first run.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) data: Data,
    pub(super) estimate: Estimate,
    pub(super) model: Model,
    /// What is dropped: pairs or arcs.
    pub(super) unit: &'static str,
    pub(super) feature_kind: String,
    pub(super) threads: usize,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Data {
    pub(super) name: String,
    pub(super) nodes: usize,
    pub(super) pairs: u64,
    pub(super) classes: usize,
    pub(super) features: usize,
    split: Option<String>,
    pub(super) sha256: String,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Model {
    pub(super) name: &'static str,
    pub(super) layers: usize,
    hidden: usize,
    parameters: u64,
}

impl Facts {
    pub(super) fn new(
        data: &GraphData,
        features: &FeatureMatrix,
        settings: &Settings,
        estimate: Estimate,
        threads: usize,
    ) -> Facts {
        Facts {
            data: Data {
                name: data.name.clone(),
                nodes: data.graph.nodes(),
                pairs: data.graph.pairs(),
                classes: data.classes,
                features: features.cols(),
                split: settings.split.clone(),
                sha256: data.digest(),
            },
            model: Model {
                name: settings.model.name,
                layers: settings.layers,
                hidden: settings.hidden,
                parameters: estimate.parameters,
            },
            estimate,
            unit: if data.graph.directed() { "arcs" } else { "pairs" },
            feature_kind: settings.features.map(|kind| kind.to_string()).unwrap_or_default(),
            threads,
        }
    }

    /// `debian: 63436 nodes, 314683 pairs, 22 classes · tfidf 7469 · gcn-2 · 2 threads`
    pub(super) fn headline(&self) -> String {
        let Data { name, nodes, pairs, classes, features, .. } = &self.data;
        let (model, layers, kind, threads) = (self.model.name, self.model.layers, &self.feature_kind, self.threads);
        let unit = self.unit;
        let many = if threads == 1 { "" } else { "s" };
        format!(
            "{name}: {nodes} nodes, {pairs} {unit}, {classes} classes · {kind} {features} · {model}-{layers} · {threads} thread{many}"
        )
    }
}

/// The JSON object.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    schema: &'static str,
    pub(super) data: &'a Data,
    model: &'a Model,
    settings: &'a Settings,
    estimate: Estimate,
    pub(super) sampler: Vec<Sampler>,
    pub(super) runs: Vec<Run<'a>>,
    pub(super) methods: Vec<Method<'a>>,
    pub(super) paired: Vec<Pair<'a>>,
    /// What the paper of the preset reports, in percent.
    pub(super) published: Option<Published>,
    cost: Cost,
    pub(super) select: &'static str,
    complete: bool,
    pub(super) interrupted: bool,
    pub(super) measured: Measured,
    /// Predicted seconds by method, to be shown beside the measured ones.
    #[serde(skip)]
    pub(super) predicted: Option<&'a Predicted>,
    #[serde(skip)]
    pub(super) compared: Option<Compared>,
    #[serde(skip)]
    pub(super) headline: String,
    #[serde(skip)]
    pub(super) seeds: u32,
    #[serde(skip)]
    pub(super) comparisons: Vec<&'a PairRecord>,
}

#[derive(Debug, Serialize)]
pub(super) struct Sampler {
    name: &'static str,
    p: f64,
    k: u64,
    beta: Option<f64>,
    direction: Option<Direction>,
    auto: Option<AutoDirection>,
    achieved_p: f64,
    isolated_expected: f64,
    pub(super) isolated_mean: Option<f64>,
    isolated_sd: Option<f64>,
    components_mean: Option<f64>,
    degree_sd: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Run<'a> {
    pub(super) method: &'a str,
    pub(super) seed: String,
    pub(super) epochs: u32,
    pub(super) best_epoch: Option<u32>,
    train_loss: f64,
    val_loss: Option<f64>,
    val_acc: Option<f64>,
    test_acc: Option<f64>,
    test_macro_f1: Option<f64>,
    fingerprint: &'a str,
    pub(super) broken: Option<&'a NonFinite>,
}

/// A row of the table; a method with a run that found nothing has no mean.
#[derive(Debug, Serialize)]
pub(super) struct Method<'a> {
    pub(super) name: &'a str,
    pub(super) mean: Option<f64>,
    pub(super) sd: Option<f64>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) p_sensitivity: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Pair<'a> {
    a: &'a str,
    b: &'a str,
    n: usize,
    mean_diff: f64,
    ci_low: f64,
    ci_high: f64,
    p_value: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) total_s: f64,
    pub(super) runs: Vec<RunTime>,
    cost_ratio: Option<f64>,
    /// The most that activations and gradients took at one time, over all runs.
    arena_high_water_bytes: Option<u64>,
    peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct RunTime {
    run_s: f64,
    pub(super) epoch_s: f64,
}

impl Measured {
    /// Of experiments that took `total_s` together.
    pub(super) fn of<'a>(
        outcomes: impl Iterator<Item = &'a Outcome> + Clone,
        compared: Option<Compared>,
        total_s: f64,
    ) -> Measured {
        let runs = outcomes.clone().flat_map(|o| &o.methods).flat_map(|m| &m.runs);
        Measured {
            total_s,
            runs: runs.map(|r: &RunRecord| RunTime { run_s: r.run_s, epoch_s: r.epoch_s }).collect(),
            cost_ratio: compared.map(|c| c.ratio()),
            arena_high_water_bytes: outcomes.map(|o| o.arena.high_water).max(),
            peak_rss_bytes: resources::peak_rss_bytes(),
        }
    }
}

impl<'a> Report<'a> {
    /// The report of an experiment, or of one that did not start.
    pub(super) fn new(
        facts: &'a Facts,
        settings: &'a Settings,
        (outcome, structure, predicted): (Option<&'a Outcome>, &[Statistics], Option<&'a Predicted>),
        total_s: f64,
    ) -> Report<'a> {
        let methods = outcome.map_or(&[][..], |o| &o.methods);
        let runs = || methods.iter().flat_map(|m| &m.runs);
        let compared = Compared::of(predicted, runs());
        let preset = || preset::find(preset::ALL, settings.preset?).ok();
        let comparisons: Vec<&PairRecord> = outcome.iter().flat_map(|o| &o.paired).collect();
        Report {
            schema: "sapwood.train/1",
            data: &facts.data,
            model: &facts.model,
            settings,
            estimate: facts.estimate,
            sampler: methods.iter().enumerate().map(|(i, m)| sampler(m, structure.get(i))).collect(),
            runs: runs().map(run).collect(),
            methods: methods.iter().map(method).collect(),
            paired: comparisons.iter().copied().map(pair).collect(),
            published: preset().and_then(|preset| preset.published_for(settings, &facts.data.name)),
            cost: Cost::new(predicted),
            select: settings.select.name,
            complete: outcome.is_some_and(Outcome::complete),
            interrupted: outcome.is_some_and(|o| o.interrupted),
            measured: Measured::of(outcome.into_iter(), compared, total_s),
            predicted,
            compared,
            headline: facts.headline(),
            seeds: settings.seeds,
            comparisons,
        }
    }

    /// Prints it.
    pub(super) fn emit(&self, cx: &Context) -> Result<(), Failure> {
        cx.emit(self, |out| table::print(self, out))
    }

    /// Prints what a dry run knows.
    pub(super) fn emit_dry(&self, cx: &Context) -> Result<(), Failure> {
        cx.emit(self, |out| {
            table::print_estimate(&self.headline, &self.estimate, out)?;
            table::print_predicted(self.predicted, self.seeds, out)
        })
    }
}

pub(super) fn sampler(record: &MethodRecord, structure: Option<&Statistics>) -> Sampler {
    let facts = &record.facts;
    Sampler {
        name: facts.name,
        p: facts.p,
        k: facts.k,
        beta: facts.beta,
        direction: facts.direction,
        auto: facts.auto.clone(),
        achieved_p: facts.achieved_p,
        isolated_expected: facts.isolated_expected,
        isolated_mean: record.isolated.mean(),
        isolated_sd: record.isolated.sd(),
        components_mean: structure.map(|s| s.components.mean),
        degree_sd: structure.and_then(|s| s.degree_sd),
    }
}

pub(super) fn run(record: &RunRecord) -> Run<'_> {
    let best = record.best.as_ref();
    Run {
        method: &record.method,
        seed: record.seed.to_string(),
        epochs: record.epochs,
        best_epoch: record.best_epoch,
        train_loss: record.train_loss,
        val_loss: best.map(|e| e.val_loss),
        val_acc: best.map(|e| e.val_acc),
        test_acc: best.map(|e| e.test_acc),
        test_macro_f1: best.map(|e| e.test_macro_f1),
        fingerprint: &record.fingerprint,
        broken: record.broken.as_ref(),
    }
}

pub(super) fn method(record: &MethodRecord) -> Method<'_> {
    let summary = record.summary();
    Method {
        name: &record.name,
        mean: summary.map(|s| s.mean),
        sd: summary.and_then(|s| s.sd),
        min: summary.map(|s| s.min),
        max: summary.map(|s| s.max),
        p_sensitivity: None,
    }
}

pub(super) fn pair(record: &PairRecord) -> Pair<'_> {
    let p = &record.paired;
    Pair {
        a: &record.a,
        b: &record.b,
        n: p.n,
        mean_diff: p.mean_diff,
        ci_low: p.ci_low,
        ci_high: p.ci_high,
        p_value: p.p_value,
    }
}
