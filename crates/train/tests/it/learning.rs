//! Learning really happens.

use crate::worlds;
use sapwood_train::Request;
use sapwood_train::experiment::{EpochRecord, Observer, RunRecord};

fn accuracy(change: impl FnOnce(&mut Request)) -> f64 {
    let settings = worlds::settings(|r| {
        (r.epochs, r.lr, r.hidden, r.against, r.seeds) = (Some(100), Some(0.03), Some(16), Some(vec![]), Some(3));
        change(r);
    });
    let outcome = worlds::train::<f32>(worlds::planted(240, 3, 0.12, 0.01, 1), &settings, 2);
    outcome.methods[0].summary().unwrap().mean
}

#[test]
fn a_planted_partition_is_found_from_the_graph_and_less_well_without() {
    let gcn = accuracy(|_| ());
    let mlp = accuracy(|r| r.model = Some("mlp".into()));
    assert!(gcn > 0.93, "{gcn}");
    assert!(mlp > 0.5 && mlp < gcn - 0.1, "{mlp} against {gcn}");
}

#[test]
fn four_layers_and_no_sampler_learn_as_well() {
    let (deep, whole, with_self) = (
        accuracy(|r| r.layers = Some(4)),
        accuracy(|r| r.sampler = Some("none".into())),
        accuracy(|r| r.with_self = true),
    );
    assert!(deep > 0.9 && whole > 0.93 && with_self > 0.9, "{deep} {whole} {with_self}");
}

/// Everything an experiment says on its way.
#[derive(Default)]
struct Diary {
    losses: Vec<f64>,
    evaluated: Vec<u32>,
    isolated: Vec<u64>,
    runs: usize,
}

impl Observer for Diary {
    fn epoch(&mut self, record: &EpochRecord<'_>) -> sapwood_train::Result<()> {
        self.losses.push(record.train_loss);
        self.isolated.push(record.isolated);
        if record.evaluation.is_some() {
            self.evaluated.push(record.epoch);
        }
        Ok(())
    }

    fn run(&mut self, _: &RunRecord) -> sapwood_train::Result<()> {
        self.runs += 1;
        Ok(())
    }
}

#[test]
fn the_loss_falls_and_evaluations_come_when_asked() {
    let settings = worlds::settings(|r| {
        (r.epochs, r.eval_every, r.dropout, r.l2, r.lr) = (Some(43), Some(10), Some(0.0), Some(0.0), Some(0.05));
        (r.sampler, r.select) = (Some("none".into()), Some("last".into()));
    });
    let runtime = sapwood_skeleton::Runtime::threads(2).unwrap();
    let problem = worlds::problem::<f32>(&runtime, worlds::planted(120, 3, 0.2, 0.02, 1), &settings);
    let methods = sapwood_train::experiment::methods(runtime.exec(), &problem, &settings, Default::default()).unwrap();
    let mut diary = Diary::default();
    let outcome =
        sapwood_train::experiment::run(runtime.exec(), &problem, &settings, &methods, None, &mut diary).unwrap();
    assert_eq!((diary.losses.len(), diary.runs, diary.evaluated), (43, 1, vec![10, 20, 30, 40, 43]));
    assert!(diary.losses[42] < 0.25 * diary.losses[0], "{} {}", diary.losses[0], diary.losses[42]);
    assert_eq!(outcome.methods[0].runs[0].best_epoch, Some(43));
}

#[test]
fn every_epoch_has_its_own_draw() {
    let settings = worlds::settings(|r| {
        (r.epochs, r.options.rates, r.against) = (Some(20), sapwood_graph::Rates::Const(0.6), Some(vec![]))
    });
    let runtime = sapwood_skeleton::Runtime::threads(2).unwrap();
    let problem = worlds::problem::<f32>(&runtime, worlds::planted(120, 3, 0.05, 0.01, 1), &settings);
    let methods = sapwood_train::experiment::methods(runtime.exec(), &problem, &settings, Default::default()).unwrap();
    let mut diary = Diary::default();
    let outcome =
        sapwood_train::experiment::run(runtime.exec(), &problem, &settings, &methods, None, &mut diary).unwrap();
    diary.isolated.sort_unstable();
    diary.isolated.dedup();
    assert!(diary.isolated.len() > 3, "{:?}", diary.isolated);
    let record = &outcome.methods[0];
    let (mean, sd) = (record.isolated.mean().unwrap(), record.isolated.sd().unwrap());
    assert!(
        (mean - record.facts.isolated_expected).abs() < 3.0 * sd,
        "{mean} ± {sd}, {}",
        record.facts.isolated_expected
    );
}
