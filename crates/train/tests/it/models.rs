//! Every model: gradients at several depths and with all its options, recomputation, threads, and depth.

use crate::checks::{Fixture, check_network, gradients, random_block};
use crate::worlds;
use sapwood_train::model::{self, Aggregator, Jump, ModelOptions, NormLayer, Shape};
use sapwood_train::network::{Input, Pass};
use sapwood_train::{Arena, Network, Number, Partials, Role, init};

/// The options that the tests run `entry` with.
pub(crate) fn variants(entry: &model::Entry) -> Vec<ModelOptions> {
    let reads = |flag: &str| entry.reads.contains(&flag);
    let base = ModelOptions { prop_steps: 3, teleport: 0.2, lambda: 0.7, ..ModelOptions::default() };
    let mut all = vec![base];
    let mut with = |wanted: bool, options: ModelOptions| {
        if wanted {
            all.push(options);
        }
    };
    with(reads("with-self"), ModelOptions { with_self: true, ..base });
    for norm_layer in [NormLayer::Batch, NormLayer::Layer, NormLayer::Pair] {
        with(reads("norm-layer"), ModelOptions { norm_layer, with_self: reads("with-self"), ..base });
    }
    with(reads("jk"), ModelOptions { jk: Jump::Max, ..base });
    with(reads("jk"), ModelOptions { jk: Jump::Max, norm_layer: NormLayer::Batch, ..base });
    with(reads("aggregator"), ModelOptions { aggregator: Aggregator::Max, ..base });
    with(reads("aggregator"), ModelOptions { aggregator: Aggregator::Max, norm_layer: NormLayer::Batch, ..base });
    with(reads("prop-steps"), ModelOptions { prop_steps: 0, ..base });
    all
}

pub(crate) fn shape(layers: usize, sparse: bool, dropout: f64, options: ModelOptions) -> Shape {
    // Hidden layers are wider than X, so that the first dense convolution gathers before it multiplies.
    Shape { features: Input { width: 6, sparse }, layers, hidden: 7, classes: 3, dropout, options }
}

/// The network with Glorot's weights, and rows away from 0, so that no unit sits on the kink of ReLU for a node without
/// features.
pub(crate) fn network<T: Number>(entry: &model::Entry, shape: &Shape) -> Network<T> {
    let mut network = model::build::<T>(entry, shape).unwrap();
    init::fill(&mut network, init::find(init::ALL, "glorot").unwrap(), 11).unwrap();
    for (i, p) in network.parameters_mut().filter(|p| p.shape.0 == 1 && p.role != Role::Weight).enumerate() {
        let from = random_block(1, p.shape.1, 90 + i as u64);
        let add = if matches!(p.role, Role::Gain | Role::Variance) { 1.5 } else { 0.0 };
        let to = p.value.as_mut_slice().iter_mut();
        to.zip(from.as_slice()).for_each(|(v, x)| *v = T::from_f64(x + add));
    }
    network
}

/// Whether messages that lose coordinates make sense.
fn takes_messages(options: &ModelOptions) -> bool {
    options.aggregator == Aggregator::Mean
}

#[test]
fn gradients_of_every_model_with_all_options_at_several_depths() {
    for entry in model::ALL {
        for options in variants(entry) {
            for (layers, sparse) in
                [1, 2, 4].into_iter().flat_map(|l| [(l, true), (l, false)]).chain([(8, true), (8, false)])
            {
                let mut network = network::<f64>(entry, &shape(layers, sparse, 0.2, options));
                let what = format!("{} L={layers} sparse={sparse} {options:?}", entry.name);
                check_network(&mut network, &Fixture::apart(sparse), &what);
                if layers < 8 && takes_messages(&options) {
                    check_network(&mut network, &Fixture::lossy(sparse), &format!("{what}, lossy"));
                }
            }
        }
    }
}

#[test]
fn recomputation_changes_no_bit() {
    let bits = |blocks: &[sapwood_sparse::Block<f64>]| {
        blocks.iter().flat_map(|b| b.as_slice()).map(|v| v.to_bits()).collect::<Vec<_>>()
    };
    for entry in model::ALL {
        for options in variants(entry) {
            for (layers, sparse) in [(1, true), (2, false), (4, true), (8, true), (8, false)] {
                let mut network = network::<f64>(entry, &shape(layers, sparse, 0.3, options));
                let fixture = Fixture::apart(sparse);
                let mut arena = Arena::new();
                let (loss, plain) = gradients(&network, &fixture, &mut arena);
                assert!(layers < 4 || network.recomputable() > 0, "{}", entry.name);
                for segments in 0..=network.recomputable() {
                    network.recompute(segments);
                    let (again, recomputed) = gradients(&network, &fixture, &mut arena);
                    assert_eq!(loss.to_bits(), again.to_bits(), "{} {segments}", entry.name);
                    assert_eq!(bits(&plain), bits(&recomputed), "{} L={layers} {segments} {options:?}", entry.name);
                }
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_gradients() {
    // 700 nodes are three chunks of rows, so that partial sums really meet in a tree.
    let world = || worlds::World { features: worlds::dense(700, 6, 3), ..worlds::planted(700, 3, 0.02, 0.004, 4) };
    let fixtures = [1, 2, 3, 8].map(|threads| Fixture::<f32>::of(world(), threads, 2));
    for entry in model::ALL {
        for options in variants(entry) {
            let network = network::<f32>(entry, &shape(4, false, 0.3, options));
            let seen = fixtures.each_ref().map(|fixture| {
                let (loss, gradients) = gradients(&network, fixture, &mut Arena::new());
                let bits = gradients.iter().flat_map(|g| g.as_slice()).map(|v| v.to_bits()).collect::<Vec<_>>();
                (loss.to_bits(), bits)
            });
            assert!(f64::from_bits(seen[0].0).is_finite());
            assert!(seen.iter().all(|other| *other == seen[0]), "{} {options:?}", entry.name);
        }
    }
}

#[test]
fn every_model_runs_at_depth_1_2_3_and_256() {
    for entry in model::ALL {
        for options in variants(entry) {
            // Branches of 1 to 254 layers are 32 385 layers: once is enough.
            let deep = entry.name != "incepgcn" || options.norm_layer == NormLayer::Batch;
            for layers in [1, 2, 3, 256].into_iter().filter(|&l| l < 256 || deep) {
                let shape = Shape { hidden: 8, ..shape(layers, true, 0.2, options) };
                let network = network::<f64>(entry, &shape);
                let (loss, gradients) = gradients(&network, &Fixture::new(true), &mut Arena::new());
                let finite = gradients.iter().all(|g| g.as_slice().iter().all(|v| v.is_finite()));
                assert!(loss.is_finite() && finite, "{} L={layers} {options:?}: {loss}", entry.name);
            }
        }
    }
}

#[test]
fn the_largest_of_messages_that_lose_coordinates_is_refused() {
    let entry = model::find(model::ALL, "sage").unwrap();
    let options = ModelOptions { aggregator: Aggregator::Max, ..ModelOptions::default() };
    let network = network::<f64>(entry, &shape(2, false, 0.0, options));
    let fixture = Fixture::lossy(false);
    let (mut partials, mut chosen) = (Partials::default(), Vec::new());
    let mut cx = fixture.cx(&mut partials, &mut chosen);
    let e = network.forward(&mut Pass::default(), &mut Arena::new(), &mut cx, false).unwrap_err().to_string();
    assert!(e.contains("--sampler dropmessage") && e.contains("--aggregator mean"), "{e}");
}

#[test]
fn options_that_a_model_reads_change_it_and_others_do_not() {
    for entry in model::ALL {
        let base = ModelOptions { prop_steps: 3, ..ModelOptions::default() };
        let changed = [
            ("with-self", ModelOptions { with_self: true, ..base }),
            ("norm-layer", ModelOptions { norm_layer: NormLayer::Layer, ..base }),
            ("jk", ModelOptions { jk: Jump::Max, ..base }),
            ("aggregator", ModelOptions { aggregator: Aggregator::Max, ..base }),
            ("prop-steps", ModelOptions { prop_steps: 4, ..base }),
            ("teleport", ModelOptions { teleport: 0.3, ..base }),
            ("lambda", ModelOptions { lambda: 1.5, ..base }),
        ];
        let loss = |options| {
            let network = network::<f64>(entry, &shape(4, false, 0.0, options));
            gradients(&network, &Fixture::new(false), &mut Arena::new()).0
        };
        for (flag, options) in changed {
            assert_eq!(loss(base) != loss(options), entry.reads.contains(&flag), "{} --{flag}", entry.name);
        }
        assert!(entry.reads.iter().all(|flag| changed.iter().any(|(known, _)| known == flag)), "{}", entry.name);
    }
}

#[test]
fn propagations_are_counted_from_the_first_one() {
    // Those that draw apart: one draw for each number up to the largest.
    for (name, draws) in [("appnp", 3), ("jknet", 5), ("gcnii", 4), ("mlp", 0)] {
        let entry = model::find(model::ALL, name).unwrap();
        let network = network::<f32>(entry, &shape(6, false, 0.0, variants(entry)[0]));
        assert_eq!(network.draws(), draws, "{name}");
    }
    for name in ["densegcn", "gcn", "incepgcn", "resgcn", "sage"] {
        let entry = model::find(model::ALL, name).unwrap();
        let network = network::<f32>(entry, &shape(6, false, 0.0, variants(entry)[0]));
        let mut seen = std::collections::BTreeSet::new();
        for node in network.nodes().iter().filter(|node| node.layer.propagation() > 0) {
            // convs.i is layer i + 1; layer d of each branch is d deep after the input layer.
            let parts: Vec<&str> = node.name.split('.').collect();
            let want = match parts[..] {
                ["convs", i, _] => i.parse::<u16>().unwrap() + 1,
                ["branches", _, d, _] => d.parse::<u16>().unwrap() + 2,
                _ => panic!("{}", node.name),
            };
            assert_eq!(node.layer.propagation(), want, "{name} {}", node.name);
            seen.insert(want);
        }
        assert!(seen.into_iter().eq(1..=6), "{name}");
    }
}

#[test]
fn the_estimate_of_activations_holds_for_every_model() {
    let all = model::ALL.iter().flat_map(|entry| [(entry, 1), (entry, 4), (entry, 7)]);
    for ((entry, layers), how) in all.flat_map(|case| [(case, "none"), (case, "full")]) {
        let mut settings = worlds::settings(|r| {
            (r.model, r.layers, r.hidden) = (Some(entry.name.into()), Some(layers), Some(9));
            r.recompute = Some(how.into());
        });
        let runtime = sapwood_skeleton::Runtime::threads(2).unwrap();
        let world = worlds::twelve(true);
        let estimate = sapwood_train::Estimate::fit::<f32>(&world.data.graph, &world.features, 3, &mut settings, None);
        let estimate = estimate.unwrap();
        let problem = worlds::problem::<f32>(&runtime, world, &settings);
        let registries = sapwood_train::Registries::default();
        let methods = sapwood_train::experiment::methods(runtime.exec(), &problem, &settings, registries).unwrap();
        let mut trainer = sapwood_train::Trainer::new(runtime.exec(), &problem, &settings);
        let mut run = trainer.start(&methods[1], 0).unwrap();
        for _ in 0..3 {
            run.train_epoch().unwrap();
            run.evaluate().unwrap();
            assert_eq!(run.arena_bytes().held, estimate.activation_bytes, "{} {layers}", entry.name);
        }
    }
}

#[test]
fn deep_networks_stay_finite_on_karate() {
    for model in ["gcn", "jknet"] {
        let change = |r: &mut sapwood_train::Request| {
            (r.model, r.layers, r.hidden) = (Some(model.into()), Some(64), Some(32));
        };
        let outcome = worlds::train::<f32>(worlds::karate(), &worlds::settings(change), 2);
        assert!(outcome.complete(), "{model}");
    }
}
