//! Costs of layers and networks against counts by hand, along the schedule, and the time they are turned into.

use crate::models;
use sapwood_machine::{ByKernel, Kernel, Measured, Rates};
use sapwood_skeleton::Runtime;
use sapwood_train::cost::{Gathered, Kind, Operands, Prices, Sampling, Step, Subject, Work, predict};
use sapwood_train::model::{self, ModelOptions, Shape};
use sapwood_train::network::{Input, LayerCost};
use sapwood_train::{Network, Registries, Request, Settings, experiment};

const N: usize = 1000;
const ARCS: f64 = 8000.0;
const ENTRIES: f64 = ARCS + N as f64;

fn operands(sparse: bool) -> Operands {
    Operands {
        rows: N,
        entries: ENTRIES,
        feature_columns: 50,
        feature_entries: sparse.then_some(3000),
        messages: false,
        element: 4,
    }
}

fn network(model: &str, layers: usize, sparse: bool) -> Network<f32> {
    let features = Input { width: 50, sparse };
    let options = ModelOptions::default();
    let shape = Shape { features, layers, hidden: 16, classes: 7, dropout: 0.5, options };
    model::build(model::find(model::ALL, model).unwrap(), &shape).unwrap()
}

/// FLOP, bytes gathered, bytes in order, steps handed out.
fn counts(work: &Work) -> (f64, f64, f64, usize) {
    (work.flops(), work.gathered(), work.streamed(), work.dispatches())
}

fn named<'a>(layers: &'a [LayerCost], name: &str) -> &'a LayerCost {
    layers.iter().find(|layer| layer.name == name).unwrap_or_else(|| panic!("no layer {name}"))
}

const N4: f64 = 4.0 * N as f64;

#[test]
fn a_gcn_of_two_layers_by_hand() {
    let layers = network("gcn", 2, true).cost(&operands(true));
    let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
    let expected = ["convs.0.lin", "convs.0.propagate", "convs.0.activation", "convs.1.lin", "convs.1.propagate"];
    assert_eq!((&names[..5], names.len()), (&expected[..], 6));
    // XW: 3000 entries gather 64 bytes each; an entry has 8 bytes, a row an offset and its output.
    let sparse = named(&layers, "convs.0.lin");
    let forward = 3000.0 * 8.0 + 1000.0 * (8.0 + 64.0);
    assert_eq!(counts(&sparse.forward), (0.0, 3000.0 * 64.0, forward, 1));
    // XᵀG has 50 rows. Nobody wants the gradient of X.
    let back = 3000.0 * 8.0 + 50.0 * (8.0 + 64.0);
    assert_eq!(counts(&sparse.backward), (0.0, 3000.0 * 64.0, back, 1));
    // ÂH: an entry has a column and a factor, a row an offset, two factors and its output.
    let gather = named(&layers, "convs.0.propagate");
    let streamed = ENTRIES * 8.0 + 1000.0 * (8.0 + 8.0 + 64.0);
    assert_eq!(counts(&gather.forward), (0.0, ENTRIES * 64.0, streamed, 1));
    assert_eq!(counts(&gather.backward), counts(&gather.forward));
    assert_eq!(gather.forward.steps()[0].chunks, 10, "rows + entries in items of 1024");
    let operand = Gathered { rows: ENTRIES, row_bytes: 64.0, operand_bytes: 64.0 * 1000.0 };
    assert_eq!(gather.forward.steps()[0].gathered, operand);
    // Bias, ReLU and dropout in place: read and written; back G is read and written and H read. A mask is drawn once.
    let hidden = named(&layers, "convs.0.activation");
    assert_eq!(counts(&hidden.forward), (0.0, 0.0, N4 * 16.0 * 2.0, 1));
    assert_eq!(counts(&hidden.backward), (0.0, 0.0, N4 * 16.0 * 3.0, 1));
    assert_eq!(hidden.forward.operations(), 42.0 * 16_000.0);
    assert_eq!(hidden.saved_bytes, 64_000);
    // HW: 16 to 7 columns. HᵀG in 4 blocks of 256 rows, each its own group: their products are written, read and added;
    // then 4 of them are read and one is written. GWᵀ.
    let dense = named(&layers, "convs.1.lin");
    let flops = 2.0 * 1000.0 * 16.0 * 7.0;
    assert_eq!(counts(&dense.forward), (flops, 0.0, N4 * 23.0, 1));
    let weight = 16.0 * 7.0 * 4.0;
    let back = (N4 * 23.0 + 3.0 * 4.0 * weight) + 5.0 * weight + N4 * 23.0;
    assert_eq!(counts(&dense.backward), (2.0 * flops, 0.0, back, 2));
    assert_eq!(layers.iter().map(|layer| layer.saved_bytes).sum::<u64>(), 64_000, "only H is read by backward");
}

#[test]
fn a_perceptron_by_hand_in_training_and_evaluation() {
    let mlp = network("mlp", 2, false);
    let layers = mlp.cost(&operands(false));
    let first = named(&layers, "lins.0");
    let flops = 2.0 * 1000.0 * 50.0 * 16.0;
    assert_eq!(first.forward.flops(), flops);
    assert_eq!(first.backward.flops(), flops, "nobody wants the gradient of X");
    // The output layer has its bias in a pass of its own, and sums G for it.
    let last = named(&layers, "lins.1");
    assert_eq!((last.forward.dispatches(), last.backward.dispatches()), (2, 3));
    assert_eq!(last.forward.streamed(), N4 * 23.0 + N4 * 7.0 * 2.0);
    // Evaluation draws no mask.
    let evaluation = mlp.evaluation_cost(&operands(false));
    let forward: f64 = layers.iter().map(|layer| layer.forward.flops()).sum();
    assert_eq!((evaluation.flops(), evaluation.operations()), (forward, 0.0));
    assert_eq!(evaluation.gathered(), 0.0);
}

#[test]
fn what_is_recomputed_costs_its_forward_pass_once_more_and_nothing_else() {
    for model in ["gcn", "jknet", "mlp"] {
        let (mut kept, mut again) = (network(model, 9, true), network(model, 9, true));
        assert!(again.recomputable() > 0);
        kept.recompute(0);
        again.recompute(usize::MAX);
        let (kept, again) = (kept.cost(&operands(true)), again.cost(&operands(true)));
        let mut run_again = 0;
        for (plain, more) in kept.iter().zip(&again) {
            assert_eq!((&plain.forward, &plain.backward), (&more.forward, &more.backward), "{model} {}", plain.name);
            assert_eq!(plain.again, Work::default());
            if !more.again.steps().is_empty() {
                assert_eq!(more.again, more.forward, "{model} {}", more.name);
                run_again += 1;
            }
        }
        assert!(run_again > 3, "{model}: {run_again}");
        let saved = |layers: &[LayerCost]| layers.iter().map(|layer| layer.saved_bytes).sum::<u64>();
        assert!(saved(&again) < saved(&kept), "{model}");
    }
}

#[test]
fn every_layer_of_every_model_costs_something() {
    for entry in model::ALL {
        for options in models::variants(entry) {
            for sparse in [true, false] {
                let shape = models::shape(4, sparse, 0.5, options);
                let network = model::build::<f64>(entry, &shape).unwrap();
                let on = Operands { element: 8, feature_columns: 6, ..operands(sparse) };
                for layer in network.cost(&on) {
                    for (pass, work) in [("forward", &layer.forward), ("backward", &layer.backward)] {
                        let all = [work.flops(), work.gathered(), work.streamed(), work.operations()];
                        assert!(all.iter().all(|v| *v >= 0.0 && v.is_finite()), "{} {} {pass}", entry.name, layer.name);
                    }
                    assert!(layer.forward.streamed() > 0.0, "{} {}", entry.name, layer.name);
                }
            }
        }
    }
}

fn rates(seconds: f64) -> Rates {
    let of = |kernel: Kernel| {
        let value = if kernel == Kernel::Dispatch { seconds * 1e-6 } else { 1e9 / seconds };
        (kernel, Measured::stated(value))
    };
    let all: ByKernel = Kernel::ALL.into_iter().map(of).collect();
    Rates { threads: Some(1), one: all.clone(), all }
}

#[test]
fn seconds_add_up_and_follow_the_rates() {
    let prices = |seconds: f64| Prices::new(&rates(seconds), 1, 1 << 20, 4).unwrap();
    let layers = network("gcn", 4, true).cost(&operands(true));
    let mut all = Work::default();
    layers.iter().for_each(|layer| all.add(&layer.forward));
    let apart: f64 = layers.iter().map(|layer| prices(1.0).work(&layer.forward)).sum();
    let together = prices(1.0).work(&all);
    assert!((together - apart).abs() < 1e-12 * apart && apart > 0.0);
    assert!((prices(3.0).work(&all) / together - 3.0).abs() < 1e-12);
    assert_eq!(prices(1.0).work(&Work::default()), 0.0);
    assert_eq!(prices(1.0).step(&Step { chunks: 1, ..Step::default() }), 1e-6);
}

fn settings(model: &str, flags: impl FnOnce(&mut Request)) -> Settings {
    let mut request = Request {
        model: Some(model.into()),
        layers: Some(3),
        hidden: Some(16),
        epochs: Some(10),
        eval_every: Some(4),
        seeds: Some(2),
        ..Request::default()
    };
    flags(&mut request);
    Settings::resolve(&request, "world", Registries::default()).unwrap()
}

fn sampling(kind: Kind, kept: f64) -> Sampling {
    Sampling { method: "m".into(), kind, draws: 1, arcs: 8000, kept, units: 4000, directed: false }
}

fn subject() -> Subject {
    let features = Input { width: 50, sparse: true };
    Subject { nodes: N, features, feature_entries: Some(3000), classes: 7, train: 100, val: 50 }
}

#[test]
fn runs_are_epochs_evaluations_and_what_is_done_once() {
    let prices = Prices::new(&rates(1.0), 1, 1 << 20, 4).unwrap();
    let of = |sampling: Sampling| {
        predict::<f32>(&settings("gcn", |_| ()), &subject(), &[sampling.clone(), sampling], &prices).unwrap()
    };
    let whole = of(sampling(Kind::Whole, 8000.0));
    let time = &whole.methods[0];
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * b, "{a} {b}");
    // Epochs 4, 8 and 10 are evaluated.
    close(time.run_s, 10.0 * time.train_s + 3.0 * time.evaluate_s + time.once_s);
    close(time.epoch_s, time.run_s / 10.0);
    close(whole.total_s, 4.0 * time.run_s);
    close(time.of_epochs(3, 8), 5.0 * time.train_s + 2.0 * time.evaluate_s + time.once_s);
    assert_eq!(time.of_epochs(10, 10), 0.0);
    assert_eq!((time.draw_s, whole.clone()), (0.0, of(sampling(Kind::Whole, 8000.0))), "same input, same bits");
    let passes: f64 = time.layers.iter().map(|layer| layer.forward_s + layer.backward_s).sum();
    assert!(passes > 0.0 && passes < time.train_s);
    // A draw costs time, and what it drops is not gathered.
    let drawn = of(sampling(Kind::Units, 4000.0));
    let drawn = &drawn.methods[0];
    assert!(drawn.draw_s > 0.0 && drawn.train_s - drawn.draw_s < time.train_s && drawn.evaluate_s == time.evaluate_s);
    let layers = of(Sampling { draws: 3, ..sampling(Kind::Units, 4000.0) });
    close(layers.methods[0].draw_s, 3.0 * drawn.draw_s);
    // Words are drawn for messages in training alone.
    let messages = of(sampling(Kind::Messages, 8000.0));
    assert!(messages.methods[0].train_s > time.train_s && messages.methods[0].evaluate_s == time.evaluate_s);
}

#[test]
fn clipping_and_state_cost_what_they_touch() {
    let prices = Prices::new(&rates(1.0), 1, 1 << 20, 4).unwrap();
    let of = |flags: fn(&mut Request)| {
        let sampling = [sampling(Kind::Whole, 8000.0)];
        predict::<f32>(&settings("mlp", flags), &subject(), &sampling, &prices).unwrap().methods[0].train_s
    };
    let (adam, sgd) = (of(|_| ()), of(|r| r.optimiser = Some("sgd".into())));
    let parameters = network("mlp", 3, true).parameter_count() as f64;
    // One number of state less: read and written, and 16 operations at half a GFLOP/s.
    let less = parameters * (8e-9 + 16.0 / 0.5e9);
    assert!((adam - sgd - less).abs() < 1e-12, "{adam} {sgd} {less}");
    assert!(of(|r| r.clip = Some(1.0)) > adam);
    assert!(of(|r| r.select = Some("dropedge".into())) > adam);
}

#[test]
fn samplers_are_asked_for_what_they_leave() {
    let world =
        crate::worlds::graph(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4), (2, 5), (0, 3), (1, 3)]);
    let (runtime, graph) = (Runtime::sequential().unwrap(), std::sync::Arc::new(world));
    let labels = sapwood_graph::TrainLabels::none(6);
    let of = |sampler: &str, p: &str| {
        let mut request = Request { sampler: Some(sampler.into()), against: Some(vec![]), ..Request::default() };
        request.options.rates = p.parse().unwrap();
        let settings = Settings::resolve(&request, "world", Registries::default()).unwrap();
        let methods = experiment::prepare(runtime.exec(), &graph, &labels, &settings, Registries::default()).unwrap();
        Sampling::of_all(runtime.exec(), &methods, &graph, &settings).unwrap().remove(0)
    };
    let found = |s: Sampling| (s.kind, s.arcs, s.kept);
    assert_eq!(found(of("none", "0.3")), (Kind::Whole, 20, 20.0));
    assert_eq!(found(of("dropedge", "0.3")), (Kind::Units, 20, 14.0));
    assert_eq!(found(of("dropedge", "linear:0:0.6")), (Kind::Units, 20, 14.0), "mean of 20 and 8");
    assert_eq!(found(of("dropnode", "0.5")), (Kind::Rows, 20, 20.0));
    assert_eq!(found(of("dropmessage", "0.5")), (Kind::Messages, 20, 20.0));
}

/// What is streamed in a training step was last used as long ago as the activations are large.
#[test]
fn many_activations_are_streamed_at_the_rate_of_large_operands() {
    let mut slow = rates(1.0);
    for kernel in [Kernel::ElementwiseLarge, Kernel::SpmmLarge] {
        slow.all.insert(kernel, Measured::stated(1e6));
        slow.one.insert(kernel, Measured::stated(1e6));
    }
    let forward = |rates: &Rates, hidden: usize| {
        let prices = Prices::new(rates, 1, 1 << 40, 4).unwrap();
        let settings = settings("gcn", |r| r.hidden = Some(hidden));
        let found = predict::<f32>(&settings, &subject(), &[sampling(Kind::Whole, 8000.0)], &prices).unwrap();
        // The last layer alone has few columns, whatever the others have.
        found.methods[0].layers.last().unwrap().backward_s
    };
    // A few KiB of activations stay in the second cache, and the large rates do not matter.
    assert_eq!(forward(&slow, 1), forward(&rates(1.0), 1));
    assert!(forward(&slow, 2000) > 10.0 * forward(&rates(1.0), 2000));
}
