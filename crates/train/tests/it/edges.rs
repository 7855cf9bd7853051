//! Data and settings at the edge of what makes sense.

use crate::worlds::{self, World};
use sapwood_skeleton::Runtime;
use sapwood_train::{Error, Estimate, Problem, Registries, experiment};

fn bad(world: World, select: &str) -> Error {
    let runtime = Runtime::sequential().unwrap();
    let settings = worlds::settings(|r| r.select = Some(select.into()));
    Problem::<f32>::new(runtime.exec(), world.data, world.features, &world.split, &settings).unwrap_err()
}

#[test]
fn dropping_everything_trains_on_self_loops_alone() {
    for normalise in sapwood_graph::normalise::ALL {
        let settings = worlds::settings(|r| {
            (r.options.rates, r.normalise, r.against) =
                (sapwood_graph::Rates::Const(1.0), Some(normalise.name.into()), Some(vec![]))
        });
        let outcome = worlds::train::<f32>(worlds::twelve(true), &settings, 2);
        let run = &outcome.methods[0].runs[0];
        assert!(outcome.complete() && run.train_loss.is_finite(), "{}", normalise.name);
        assert_eq!(outcome.methods[0].isolated.mean(), Some(12.0));
    }
}

#[test]
fn a_graph_without_edges_and_a_single_node_train() {
    let settings = worlds::settings(|r| r.select = Some("last".into()));
    let labels = (0..12).map(|i| i % 3).collect();
    let without = worlds::world(worlds::graph(12, &[]), 3, labels, worlds::dense(12, 4, 1));
    let alone = worlds::world(worlds::graph(1, &[]), 1, vec![0], worlds::sparse(1, 4, 1));
    for world in [without, alone] {
        let outcome = worlds::train::<f64>(world, &settings, 3);
        assert!(outcome.complete());
        assert!(outcome.methods.iter().all(|m| m.runs[0].train_loss.is_finite()));
    }
}

#[test]
fn no_node_at_all_is_refused() {
    let nothing = worlds::world(worlds::graph(0, &[]), 0, vec![], worlds::dense(0, 4, 1));
    assert_eq!(bad(nothing, "last").to_string(), "graph has no nodes");
}

#[test]
fn nodes_without_a_label_change_nothing() {
    // Node 9 has no label. Putting it into every part of the split must not move a bit.
    let settings = worlds::settings(|_| ());
    let plain = worlds::train::<f32>(worlds::twelve(true), &settings, 1);
    let mut world = worlds::twelve(true);
    for part in [&mut world.split.train, &mut world.split.val, &mut world.split.test] {
        part.retain(|n| n.0 != 9);
        part.push(sapwood_graph::NodeId(9));
    }
    let with = worlds::train::<f32>(world, &settings, 1);
    assert_eq!(plain.methods[1].runs[0].fingerprint, with.methods[1].runs[0].fingerprint);
    assert_eq!(plain.methods[1].runs[0].best, with.methods[1].runs[0].best);
}

#[test]
fn labels_outside_the_training_part_do_not_move_the_weights() {
    let settings = worlds::settings(|r| r.epochs = Some(6));
    let mut world = worlds::planted(60, 3, 0.2, 0.02, 6);
    let plain = worlds::train::<f32>(worlds::planted(60, 3, 0.2, 0.02, 6), &settings, 1);
    for node in world.split.val.iter().chain(&world.split.test) {
        let label = &mut world.data.labels[node.index()];
        *label = (*label + 1) % 3;
    }
    let shuffled = worlds::train::<f32>(world, &settings, 1);
    assert_eq!(plain.methods[1].runs[0].fingerprint, shuffled.methods[1].runs[0].fingerprint);
    assert_ne!(plain.methods[1].runs[0].best.unwrap().val_loss, shuffled.methods[1].runs[0].best.unwrap().val_loss);
}

#[test]
fn splits_that_cannot_train_or_choose_are_refused() {
    let mut world = worlds::twelve(true);
    world.split.train.clear();
    assert!(bad(world, "val-acc").to_string().contains("no labelled training node"));
    for rule in ["val-acc", "val-loss"] {
        let mut world = worlds::twelve(true);
        world.split.val.clear();
        let text = bad(world, rule).to_string();
        assert!(text.contains(rule) && text.contains("use --select last"), "{text}");
    }
    let mut world = worlds::twelve(true);
    world.split.val.clear();
    let outcome = worlds::train::<f32>(world, &worlds::settings(|r| r.select = Some("last".into())), 1);
    let run = &outcome.methods[0].runs[0];
    assert_eq!(run.best_epoch, Some(3));
    assert!(run.best.unwrap().val_acc.is_nan() && run.best.unwrap().test_acc.is_finite());
}

#[test]
fn a_loss_that_is_no_number_ends_the_run_and_names_epoch_and_layer() {
    let settings = worlds::settings(|r| {
        (r.lr, r.epochs, r.eval_every, r.against) = (Some(1e30), Some(9), Some(100), Some(vec![]))
    });
    let outcome = worlds::train::<f32>(worlds::twelve(true), &settings, 1);
    assert!(!outcome.complete());
    let (run, broken) = outcome.first_broken().unwrap();
    assert_eq!((run.epochs, broken.epoch, broken.layer.as_str()), (2, 2, "convs.1.lin"));
    assert_eq!((run.best_epoch, run.best), (None, None));
    assert!(outcome.methods[0].summary().is_none() && outcome.paired.is_empty());
}

#[test]
fn what_was_found_before_the_break_is_kept() {
    // The first step leaves logits that are huge but finite; a later one overflows.
    let settings = worlds::settings(|r| {
        (r.lr, r.epochs, r.against, r.select) = (Some(8e18), Some(50), Some(vec![]), Some("last".into()));
    });
    let outcome = worlds::train::<f32>(worlds::twelve(true), &settings, 1);
    let (run, broken) = outcome.first_broken().unwrap();
    assert!(broken.epoch > 1 && run.best_epoch == Some(broken.epoch - 1), "{run:?}");
    assert!(run.best.unwrap().test_acc.is_finite());
    assert!(outcome.methods[0].summary().is_some());
}

#[test]
fn depth_1_and_256_work() {
    for model in sapwood_train::model::ALL {
        for layers in [1, 256] {
            let change = |r: &mut sapwood_train::Request| (r.model, r.layers) = (Some(model.name.into()), Some(layers));
            // Double precision: 254 skips without a norm layer make activations 10^38 times as large.
            let outcome = worlds::train::<f64>(worlds::twelve(true), &worlds::settings(change), 2);
            assert!(outcome.complete(), "{} {layers}", model.name);
        }
    }
}

#[test]
fn memory_is_estimated_without_allocating_it() {
    let World { data, features, .. } = worlds::twelve(true);
    let mut settings = worlds::settings(|r| (r.layers, r.hidden) = (Some(4095), Some(1 << 20)));
    let estimate = Estimate::fit::<f32>(&data.graph, &features, 3, &mut settings, None).unwrap();
    // 4093 weights of 2^20 × 2^20, five copies of four bytes.
    assert!(estimate.total_bytes > 4093 * (1 << 44));
    assert!(estimate.check(None).is_ok() && estimate.check(Some(u64::MAX)).is_ok());
    let text = estimate.check(Some(1 << 30)).unwrap_err().to_string();
    assert!(text.contains(&estimate.total_bytes.to_string()) && text.contains("1073741824"), "{text}");
}

#[test]
fn the_estimate_of_activations_is_what_the_arena_holds() {
    for (layers, with_self, sparse) in
        [(1, false, true), (2, false, true), (5, false, false), (4, true, true), (3, true, false)]
    {
        let runtime = Runtime::threads(2).unwrap();
        let mut settings = worlds::settings(|r| (r.layers, r.with_self, r.hidden) = (Some(layers), with_self, Some(9)));
        let world = worlds::twelve(sparse);
        let estimate = Estimate::fit::<f32>(&world.data.graph, &world.features, 3, &mut settings, None).unwrap();
        let problem = worlds::problem::<f32>(&runtime, world, &settings);
        let methods = experiment::methods(runtime.exec(), &problem, &settings, Registries::default()).unwrap();
        let mut trainer = sapwood_train::Trainer::new(runtime.exec(), &problem, &settings);
        for method in &methods {
            let mut run = trainer.start(method, 0).unwrap();
            for _ in 0..3 {
                run.train_epoch().unwrap();
                run.evaluate().unwrap();
                assert_eq!(run.arena_bytes().held, estimate.activation_bytes, "{layers} {with_self} {sparse}");
                assert_eq!(run.arena_bytes().taken, 0);
            }
            assert_eq!(run.network().parameter_count(), estimate.parameters);
        }
    }
}
