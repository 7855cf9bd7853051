//! A result depends on the data, the settings and the seed: never on threads, and in pairs on the method.

use crate::worlds;
use sapwood_train::experiment::Outcome;
use sapwood_train::{Number, Request};

fn fingerprints(outcome: &Outcome) -> Vec<String> {
    outcome.methods.iter().flat_map(|m| &m.runs).map(|run| run.fingerprint.clone()).collect()
}

fn on_karate<T: Number>(change: impl Fn(&mut Request) + Copy, threads: usize) -> Outcome {
    let settings = worlds::settings(|r| {
        (r.epochs, r.seeds, r.hidden) = (Some(5), Some(2), Some(16));
        change(r);
    });
    worlds::train::<T>(worlds::karate(), &settings, threads)
}

#[test]
fn any_number_of_threads_gives_the_same_weights_on_karate() {
    for model in ["gcn", "mlp"] {
        let change = |r: &mut Request| r.model = Some(model.into());
        let one = on_karate::<f32>(change, 1);
        let (first, seen) = (&one.methods[0].runs[0], fingerprints(&one));
        assert_eq!((seen.len(), first.fingerprint.len()), (4, 16));
        for threads in [2, 3, 8] {
            let other = on_karate::<f32>(change, threads);
            assert_eq!(fingerprints(&other), seen, "{model}, {threads} threads");
            assert_eq!(other.methods[0].runs[0].train_loss.to_bits(), first.train_loss.to_bits());
            assert_eq!(other.methods[0].runs[0].best, first.best);
        }
    }
}

#[test]
fn many_chunks_give_the_same_weights_on_any_number_of_threads() {
    // 1100 nodes are five chunks of rows, so that partial sums really meet in a tree.
    let settings = worlds::settings(|r| (r.layers, r.hidden, r.seeds) = (Some(3), Some(20), Some(1)));
    let train = |threads| worlds::train::<f32>(worlds::planted(1100, 3, 0.01, 0.002, 4), &settings, threads);
    let seen = fingerprints(&train(1));
    for threads in [2, 3, 8] {
        assert_eq!(fingerprints(&train(threads)), seen, "{threads} threads");
    }
}

#[test]
fn another_seed_gives_other_weights_and_the_same_seed_the_same() {
    let seeded =
        |seed| fingerprints(&worlds::train::<f32>(worlds::twelve(true), &worlds::settings(|r| r.seed = seed), 1));
    assert_eq!(seeded(1), seeded(1));
    let (a, b) = (seeded(1), seeded(2));
    assert!(a.iter().zip(&b).all(|(x, y)| x != y));
}

#[test]
fn run_s_has_seed_plus_s() {
    let all = worlds::train::<f32>(worlds::twelve(true), &worlds::settings(|r| (r.seed, r.seeds) = (10, Some(3))), 1);
    let one = worlds::train::<f32>(worlds::twelve(true), &worlds::settings(|r| r.seed = 12), 1);
    for (many, alone) in all.methods.iter().zip(&one.methods) {
        assert_eq!(many.runs.iter().map(|r| r.seed).collect::<Vec<_>>(), [10, 11, 12]);
        assert_eq!(many.runs[2].fingerprint, alone.runs[0].fingerprint);
    }
}

#[test]
fn methods_are_paired() {
    // A rate of 0 draws nothing: the same start and the same dropout then give the very run of `none`.
    let outcome = worlds::train::<f32>(
        worlds::twelve(false),
        &worlds::settings(|r| (r.options.rates, r.seeds) = (sapwood_graph::Rates::Const(0.0), Some(2))),
        2,
    );
    let [none, dropedge] = &outcome.methods[..] else { panic!("two methods") };
    assert_eq!((none.name.as_str(), dropedge.name.as_str()), ("none", "dropedge"));
    for (a, b) in none.runs.iter().zip(&dropedge.runs) {
        assert_eq!((&a.fingerprint, a.best), (&b.fingerprint, b.best));
    }
    assert_eq!(outcome.paired[0].paired.mean_diff, 0.0);
    // A model that never looks at the graph is not changed by a draw either.
    let outcome = worlds::train::<f32>(worlds::twelve(false), &worlds::settings(|r| r.model = Some("mlp".into())), 2);
    assert_eq!(outcome.methods[0].runs[0].fingerprint, outcome.methods[1].runs[0].fingerprint);
}

#[test]
fn single_and_double_precision_start_alike_and_stay_close() {
    let settings = worlds::settings(|r| r.epochs = Some(10));
    let single = worlds::train::<f32>(worlds::twelve(true), &settings, 1);
    let double = worlds::train::<f64>(worlds::twelve(true), &settings, 1);
    for (a, b) in single.methods.iter().zip(&double.methods) {
        let (a, b) = (&a.runs[0], &b.runs[0]);
        assert!((a.train_loss - b.train_loss).abs() < 1e-4, "{} {}", a.train_loss, b.train_loss);
        assert_ne!(a.fingerprint, b.fingerprint);
    }
}

#[test]
fn every_sampler_and_sharing_gives_the_same_weights_on_any_number_of_threads() {
    use sapwood_graph::sampler::{self, Per};
    let pers = [Per::Epoch, Per::Layer, Per::LayerNested];
    for (entry, per) in sampler::ALL.iter().flat_map(|e| pers.map(|per| (e, per))) {
        let change = |r: &mut Request| {
            (r.sampler, r.against) = (Some(entry.name.into()), Some(vec![]));
            r.options.per = per;
            r.layers = Some(3);
        };
        if (entry.new)(&sapwood_graph::SamplerOptions { per, ..Default::default() }).is_err() {
            continue;
        }
        let seen = fingerprints(&on_karate::<f32>(change, 1));
        assert_eq!(fingerprints(&on_karate::<f32>(change, 3)), seen, "{} {per:?}", entry.name);
    }
}

#[test]
fn layers_that_draw_apart_learn_otherwise() {
    use sapwood_graph::sampler::Per;
    let with = |per, after: &str| {
        let change = |r: &mut Request| {
            (r.options.per, r.after) = (per, Some(after.into()));
            r.against = Some(vec![]);
        };
        fingerprints(&on_karate::<f32>(change, 2))
    };
    assert_ne!(with(Per::Epoch, "renorm"), with(Per::Layer, "renorm"));
    assert_ne!(with(Per::Layer, "renorm"), with(Per::LayerNested, "renorm"));
    let after = ["renorm", "fixed", "unbiased"].map(|after| with(Per::Epoch, after));
    assert!(after[0] != after[1] && after[1] != after[2] && after[0] != after[2]);
}
