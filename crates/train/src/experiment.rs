//! All runs of an experiment: every seed with every method, and what they allow one to say.
//!
//! Seeds are the outer loop, so that an interrupted experiment still holds pairs. A run that breaks keeps what it found
//! until then. `course` is one run from its start or its checkpoint to its end. Who wants to follow implements
//! [`Observer`]; nothing is printed here.

mod course;

use crate::Result;
use crate::arena::Bytes;
use crate::checkpoint::Saving;
use crate::compare::{self, Paired, Summary};
use crate::evaluate::Evaluation;
use crate::history::History;
use crate::number::Number;
use crate::problem::Problem;
use crate::settings::{Registries, Settings};
use crate::trainer::{Inspection, Method, NonFinite, Trainer};
use sapwood_graph::structure::Statistics;
use sapwood_graph::{DrawKey, Graph, SamplerFacts, TrainLabels, sampler};
use sapwood_skeleton::Exec;
use std::sync::Arc;

/// One epoch of one run.
#[derive(Debug, Clone, Copy)]
pub struct EpochRecord<'a> {
    /// Name of the method.
    pub method: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Epoch, from 1.
    pub epoch: u32,
    /// Mean training loss, dropout on, before the step.
    pub train_loss: f64,
    /// Learning rate of the step.
    pub lr: f64,
    /// Nodes without an edge in the draw.
    pub isolated: u64,
    /// What an evaluation after the step found, if there was one.
    pub evaluation: Option<Evaluation>,
    /// Seconds of draw and step.
    pub train_s: f64,
    /// Seconds of the evaluation.
    pub evaluate_s: f64,
}

/// Somebody who follows an experiment.
pub trait Observer {
    /// An epoch ended.
    ///
    /// # Errors
    /// What the observer cannot do; it ends the experiment.
    fn epoch(&mut self, record: &EpochRecord<'_>) -> Result<()>;

    /// A run goes on after `epochs` epochs that an earlier process trained.
    fn resumed(&mut self, _method: &str, _seed: u64, _epochs: u32) {}

    /// A run could not be saved; it goes on, and is saved again at its next checkpoint.
    fn unsaved(&mut self, _failure: &crate::Error) {}

    /// A run ended.
    ///
    /// # Errors
    /// What the observer cannot do; it ends the experiment.
    fn run(&mut self, record: &RunRecord) -> Result<()>;
}

/// Nobody.
impl Observer for () {
    fn epoch(&mut self, _: &EpochRecord<'_>) -> Result<()> {
        Ok(())
    }

    fn run(&mut self, _: &RunRecord) -> Result<()> {
        Ok(())
    }
}

/// What one run found, at the epoch that the selection rule chose.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// Name of the method.
    pub method: String,
    /// Seed of the run.
    pub seed: u64,
    /// Epochs trained.
    pub epochs: u32,
    /// How many of them an earlier process trained.
    pub resumed: u32,
    /// The epoch chosen; `None` if the run broke before its first evaluation.
    pub best_epoch: Option<u32>,
    /// Training loss of the last epoch.
    pub train_loss: f64,
    /// The evaluation at the epoch chosen.
    pub best: Option<Evaluation>,
    /// Epoch by epoch.
    pub history: History,
    /// What the weights chosen do; `None` if the run broke before its first evaluation.
    pub inspection: Option<Inspection>,
    /// Digest of the weights after the last epoch.
    pub fingerprint: String,
    /// An interrupt ended it before its last epoch.
    pub cut_short: bool,
    /// Where the run broke, if it did.
    pub broken: Option<NonFinite>,
    /// Why its last state is not saved although it should be.
    pub unsaved: Option<String>,
    /// Seconds of the whole run.
    pub run_s: f64,
    /// Mean seconds of one epoch: draw, step, and its share of the evaluations.
    pub epoch_s: f64,
}

/// One method and its runs, in seed order.
#[derive(Debug, Clone)]
pub struct MethodRecord {
    /// Name.
    pub name: String,
    /// What its sampler says of itself.
    pub facts: SamplerFacts,
    /// Mean and sd over all draws of the nodes without an edge.
    pub isolated: Spread,
    /// Its runs.
    pub runs: Vec<RunRecord>,
}

/// One method against another.
#[derive(Debug, Clone)]
pub struct PairRecord {
    /// Name of the method looked at.
    pub a: String,
    /// Name of the one it is compared with.
    pub b: String,
    /// Test accuracy of a minus b, over the seeds that both finished.
    pub paired: Paired,
}

/// Everything an experiment found.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The methods, in the order of [`Settings::methods`].
    pub methods: Vec<MethodRecord>,
    /// Each method against every one before it.
    pub paired: Vec<PairRecord>,
    /// Somebody asked to stop before the end.
    pub interrupted: bool,
    /// What activations and gradients took; all runs share one arena.
    pub arena: Bytes,
}

impl Outcome {
    /// Whether every run of every method reached its last epoch.
    pub fn complete(&self) -> bool {
        !self.interrupted && self.first_broken().is_none()
    }

    /// The first run that broke.
    pub fn first_broken(&self) -> Option<(&RunRecord, &NonFinite)> {
        self.methods.iter().flat_map(|m| &m.runs).find_map(|run| Some((run, run.broken.as_ref()?)))
    }
}

impl MethodRecord {
    /// Test accuracy over the seeds; `None` if a run has none or there are no test nodes. A run that an interrupt cut
    /// short is left out, unless there is no other.
    pub fn summary(&self) -> Option<Summary> {
        let accuracies: Option<Vec<f64>> =
            self.counted().iter().map(|run| run.best.map(|best| best.test_acc)).collect();
        Summary::of(&accuracies?).ok()
    }

    /// The runs that a mean counts: all that were not cut short, unless there is no other.
    pub fn counted(&self) -> Vec<&RunRecord> {
        let whole: Vec<&RunRecord> = self.runs.iter().filter(|run| !run.cut_short).collect();
        if whole.is_empty() { self.runs.iter().collect() } else { whole }
    }
}

/// Prepares the methods of `settings` for a problem.
///
/// # Errors
/// When a sampler refuses its options or the graph.
pub fn methods<T: Number>(
    exec: Exec<'_>,
    problem: &Problem<T>,
    settings: &Settings,
    registries: Registries<'_>,
) -> Result<Vec<Method>> {
    prepare(exec, &problem.graph, &problem.train_labels, settings, registries)
}

/// Prepares the methods of `settings` for a graph, of which they see the labels that train.
///
/// # Errors
/// As [`methods`].
pub fn prepare(
    exec: Exec<'_>,
    graph: &Arc<Graph>,
    train_labels: &TrainLabels,
    settings: &Settings,
    registries: Registries<'_>,
) -> Result<Vec<Method>> {
    let prepare = |name: &str| {
        let sampler = (sampler::find(registries.samplers, name)?.new)(&settings.options)?;
        Ok(Method { name: name.to_owned(), prepared: sampler.prepare(exec, graph, train_labels)? })
    };
    settings.methods().map(prepare).collect()
}

/// Draws of the first seed that [`structure`] looks at.
pub const STRUCTURE_DRAWS: u32 = 40;

/// What the draws of the first seed do to the graph, method by method: up to [`STRUCTURE_DRAWS`] of its epochs, evenly
/// spread over the run, drawn again; in the first layer where layers draw apart.
///
/// # Errors
/// When a sampler fails.
pub fn structure<T: Number>(
    exec: Exec<'_>,
    problem: &Problem<T>,
    settings: &Settings,
    methods: &[Method],
) -> Result<Vec<Statistics>> {
    let of = |method: &Method| {
        let prepared = method.prepared.as_ref();
        let layer = u16::from(prepared.per_layer());
        let key = DrawKey { layer, ..DrawKey::of_epoch(settings.seed, 1) };
        let step = settings.epochs.div_ceil(STRUCTURE_DRAWS);
        let draws = if prepared.never_drops() { 1 } else { settings.epochs.div_ceil(step) };
        let spread = (draws, step);
        Ok(sapwood_graph::structure::statistics(exec, &problem.graph, prepared, key, spread)?)
    };
    methods.iter().map(of).collect()
}

/// Runs everything; with `saving`, runs are saved, and those saved before go on where they were.
///
/// # Errors
/// When a run fails, or the observer. A run that breaks, or an interrupt, is no error: see [`Outcome`].
pub fn run<T: Number>(
    exec: Exec<'_>,
    problem: &Problem<T>,
    settings: &Settings,
    methods: &[Method],
    saving: Option<&Saving>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let mut trainer = Trainer::new(exec, problem, settings);
    let mut records: Vec<MethodRecord> = methods.iter().map(empty).collect();
    let mut interrupted = false;
    let last = methods.last().map_or("", |method| method.name.as_str());
    'all: for s in 0..settings.seeds {
        for (method, record) in methods.iter().zip(&mut records) {
            let run = trainer.start(method, settings.seed.wrapping_add(u64::from(s)))?;
            let (found, stopped) = course::run(run, settings, saving, observer)?;
            observer.run(&found)?;
            found.history.isolated.iter().for_each(|&isolated| record.isolated.push(isolated as f64));
            interrupted = stopped && (found.cut_short || s + 1 < settings.seeds || record.name != last);
            record.runs.push(found);
            if stopped {
                break 'all;
            }
        }
    }
    let arena = trainer.arena_bytes();
    Ok(Outcome { paired: pairs(&records, settings.seed)?, methods: records, interrupted, arena })
}

fn empty(method: &Method) -> MethodRecord {
    MethodRecord { name: method.name.clone(), facts: method.facts(), isolated: Spread::default(), runs: Vec::new() }
}

impl RunRecord {
    /// Test accuracy of a run that reached its last epoch.
    pub fn finished(&self) -> Option<f64> {
        self.best.filter(|_| !self.cut_short && self.broken.is_none()).map(|best| best.test_acc)
    }
}

/// Each method against every one before it, over the seeds that both finished.
fn pairs(records: &[MethodRecord], seed: u64) -> Result<Vec<PairRecord>> {
    let mut pairs = Vec::new();
    for (i, a) in records.iter().enumerate() {
        for b in &records[..i] {
            let both = a.runs.iter().zip(&b.runs).filter_map(|(a, b)| Some((a.finished()?, b.finished()?)));
            let (x, y): (Vec<f64>, Vec<f64>) = both.unzip();
            if x.is_empty() || x.iter().chain(&y).any(|v| !v.is_finite()) {
                continue;
            }
            pairs.push(PairRecord { a: a.name.clone(), b: b.name.clone(), paired: compare::paired(&x, &y, seed)? });
        }
    }
    Ok(pairs)
}

/// Running mean and spread (Welford 1962).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Spread {
    fn push(&mut self, value: f64) {
        self.count += 1;
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (value - self.mean);
    }

    /// The mean; `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The sample standard deviation; `None` of fewer than two values.
    pub fn sd(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method whose runs reached these test accuracies; `None` broke, a negative one was cut short.
    fn method(name: &str, accuracies: &[Option<f64>]) -> MethodRecord {
        let run = |(s, found): (usize, &Option<f64>)| RunRecord {
            method: name.to_owned(),
            seed: s as u64,
            resumed: 0,
            epochs: 9,
            best_epoch: found.map(|_| 9),
            train_loss: 1.0,
            history: History::default(),
            inspection: None,
            best: found.map(|acc| Evaluation {
                train_acc: 1.0,
                val_loss: 1.0,
                val_acc: 1.0,
                test_acc: acc.abs(),
                test_macro_f1: 1.0,
                finite: true,
            }),
            fingerprint: String::new(),
            cut_short: found.is_some_and(|acc| acc < 0.0),
            broken: None,
            unsaved: None,
            run_s: 1.0,
            epoch_s: 1.0,
        };
        let facts = SamplerFacts::plain("none", 0.0, 0, 0, 0.0);
        let runs = accuracies.iter().enumerate().map(run).collect();
        MethodRecord { name: name.to_owned(), facts, isolated: Spread::default(), runs }
    }

    #[test]
    fn only_seeds_that_both_finished_are_paired() {
        let a = method("a", &[Some(0.5), None, Some(0.6), Some(-0.1)]);
        let b = method("b", &[Some(0.6), Some(0.9), Some(0.8), Some(0.9)]);
        let found = pairs(&[a.clone(), b], 0).unwrap();
        assert_eq!((found.len(), found[0].paired.n), (1, 2));
        assert!((found[0].paired.mean_diff - 0.15).abs() < 1e-12);
        assert!(a.summary().is_none(), "a run has no result");
        let cut = method("c", &[Some(0.5), Some(0.7), Some(-0.1)]);
        assert!((cut.summary().unwrap().mean - 0.6).abs() < 1e-12, "the run that was cut short is left out");
        assert_eq!(method("d", &[Some(-0.4)]).summary().unwrap().mean, 0.4);
    }

    #[test]
    fn moments_of_known_values() {
        let mut m = Spread::default();
        assert_eq!((m.mean(), m.sd()), (None, None));
        for v in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            m.push(v);
        }
        assert_eq!(m.mean(), Some(5.0));
        assert!((m.sd().unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-14);
    }
}
