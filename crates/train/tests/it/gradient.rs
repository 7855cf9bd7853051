//! Every backward pass against central differences of its forward pass, in double precision, with dropout and draw fixed
//! by their keys.

use crate::worlds::{self, World};
use sapwood_graph::{
    After, BitMask, DrawBuffers, DrawKey, Graph, Normalisation, Operator, SamplerOptions, SelfLoops, TrainLabels,
    sampler,
};
use sapwood_skeleton::{Exec, Runtime};
use sapwood_sparse::{Affine, Block};
use sapwood_train::layer::loss::{Targets, cross_entropy, softmax_cross_entropy};
use sapwood_train::layer::{
    Activation, Backward, Cx, Drawn, Dropout, Function, Layer, Linear, Mode, Propagate, SparseLinear, Sum,
};
use sapwood_train::network::Pass;
use sapwood_train::{Arena, Features, Network, Partials, init, model};

const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 1e-6;

/// ‖a − b‖ / ‖b‖.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(x, y)| x - y)) / norm(&mut b.iter().copied()).max(1e-9)
}

/// What every pass of a check shares: the features of the twelve nodes and Â of one draw. The form is not symmetric, so
/// that Âᵀ is not Â.
struct Fixture {
    runtime: Runtime,
    features: Features<f64>,
    operator: Operator<f64>,
    targets: Targets,
    /// The graph by its arcs, where messages lose coordinates.
    arcs: Option<Graph>,
}

const KEY: DrawKey = DrawKey { seed: 3, epoch: 2, layer: 0, micro: 0 };

impl Fixture {
    fn new(sparse: bool) -> Fixture {
        let runtime = Runtime::threads(2).unwrap();
        let World { data, features, split } = worlds::twelve(sparse);
        let form = Normalisation::new("aug-rw", SelfLoops::Add).unwrap();
        let mut operator = Operator::full(runtime.exec(), &data.graph, form).unwrap();
        let sampler = (sampler::find(sampler::ALL, "dropedge").unwrap().new)(&SamplerOptions::with_p(0.3)).unwrap();
        let graph = std::sync::Arc::new(data.graph.clone());
        let prepared = sampler.prepare(runtime.exec(), &graph, &TrainLabels::new(&data, &split)).unwrap();
        let mut draws = DrawBuffers::default();
        let sampled = prepared.kept(runtime.exec(), KEY, &mut draws).unwrap();
        operator.redraw(runtime.exec(), &data.graph, &sampled, After::Renorm).unwrap();
        let targets = Targets::new(12, |i| u32::try_from(data.labels[i]).ok());
        let features = Features::new(runtime.exec(), features).unwrap();
        Fixture { runtime, features, operator, targets, arcs: None }
    }

    /// Where messages lose coordinates, and a third of the nodes have lost their features.
    fn lossy(sparse: bool) -> Fixture {
        let fixture = Fixture::new(sparse);
        let arcs = worlds::twelve(sparse).data.graph.by_arc();
        let form = Normalisation::new("aug-rw", SelfLoops::Add).unwrap();
        let operator = Operator::full(fixture.runtime.exec(), &arcs, form).unwrap();
        let mut mask = BitMask::new(12, true);
        (0..12).step_by(3).for_each(|i| mask.set(i, false));
        let mut dropped = None;
        fixture.features.drop_rows(&mask, 1.5, &mut dropped).unwrap();
        Fixture { features: dropped.unwrap(), operator, arcs: Some(arcs), ..fixture }
    }

    fn exec(&self) -> Exec<'_> {
        self.runtime.exec()
    }

    fn cx<'a>(&'a self, partials: &'a mut Partials) -> Cx<'a, f64> {
        Cx {
            exec: self.runtime.exec(),
            features: &self.features,
            drawn: Drawn { messages: self.arcs.as_ref().map(|arcs| (arcs, 0.4)), ..Drawn::shared(&self.operator) },
            mode: Mode::Train,
            key: KEY,
            partials,
        }
    }

    fn forward(&self, layer: &dyn Layer<f64>, inputs: &[Block<f64>]) -> Block<f64> {
        let widths: Vec<usize> = inputs.iter().map(Block::cols).collect();
        let mut out = Block::zeros(12, layer.width(&widths).unwrap()).unwrap();
        let mut rest: Vec<&Block<f64>> = inputs.iter().collect();
        if layer.in_place() {
            out.as_mut_slice().copy_from_slice(rest.remove(0).as_slice());
        }
        layer.forward(&rest, &mut out, &mut self.cx(&mut Partials::default())).unwrap();
        out
    }
}

fn random_block(rows: usize, cols: usize, seed: u64) -> Block<f64> {
    let mut random = worlds::uniform(seed);
    Block::from_fn(rows, cols, |_, _| 2.0 * random() - 1.0).unwrap()
}

/// Checks the gradients of Σ R ∘ layer(inputs) by all inputs and all parameters.
fn check_layer(mut layer: Box<dyn Layer<f64>>, widths: &[usize], sparse: bool) {
    let fixture = Fixture::new(sparse);
    for (i, p) in layer.parameters_mut().iter_mut().enumerate() {
        p.value = random_block(p.shape.0, p.shape.1, 40 + i as u64);
    }
    let mut inputs: Vec<Block<f64>> =
        widths.iter().enumerate().map(|(i, &w)| random_block(12, w, 20 + i as u64)).collect();
    let output = fixture.forward(layer.as_ref(), &inputs);
    let r = random_block(12, output.cols(), 60);
    let mut grad = r.clone();
    let mut into: Vec<Option<(Block<f64>, Affine<f64>)>> = Vec::new();
    if !layer.in_place() {
        // One is written, one is added to.
        into = widths.iter().map(|&w| Some((random_block(12, w, 70), Affine::ADD))).collect();
    }
    let mut weights: Vec<Block<f64>> =
        layer.parameters().iter().map(|p| random_block(p.shape.0, p.shape.1, 80)).collect();
    let seen: Vec<&Block<f64>> = if layer.needs().input { inputs.iter().collect() } else { Vec::new() };
    let output = layer.needs().output.then_some(&output);
    let operands = Backward { inputs: &seen, output, grad: &mut grad, into: &mut into, weights: &mut weights };
    layer.backward(operands, &mut fixture.cx(&mut Partials::default())).unwrap();

    let value = |layer: &dyn Layer<f64>, inputs: &[Block<f64>]| -> f64 {
        fixture.forward(layer, inputs).as_slice().iter().zip(r.as_slice()).map(|(a, b)| a * b).sum()
    };
    for i in 0..inputs.len() {
        let analytic: Vec<f64> = if layer.in_place() {
            grad.as_slice().to_vec()
        } else {
            let before = random_block(12, widths[i], 70);
            into[i].as_ref().unwrap().0.as_slice().iter().zip(before.as_slice()).map(|(a, b)| a - b).collect()
        };
        let mut numeric = vec![0.0; analytic.len()];
        for (at, slope) in numeric.iter_mut().enumerate() {
            let mut side = |step: f64| {
                inputs[i].as_mut_slice()[at] += step;
                let v = value(layer.as_ref(), &inputs);
                inputs[i].as_mut_slice()[at] -= step;
                v
            };
            *slope = (side(STEP) - side(-STEP)) / (2.0 * STEP);
        }
        let d = distance(&analytic, &numeric);
        assert!(d <= TOLERANCE, "{} input {i}: {d:e}", layer.kind());
    }
    for p in 0..weights.len() {
        let mut numeric = vec![0.0; weights[p].as_slice().len()];
        for (at, slope) in numeric.iter_mut().enumerate() {
            let mut side = |step: f64| {
                layer.parameters_mut()[p].value.as_mut_slice()[at] += step;
                let v = value(layer.as_ref(), &inputs);
                layer.parameters_mut()[p].value.as_mut_slice()[at] -= step;
                v
            };
            *slope = (side(STEP) - side(-STEP)) / (2.0 * STEP);
        }
        let d = distance(weights[p].as_slice(), &numeric);
        assert!(d <= TOLERANCE, "{} parameter {p}: {d:e}", layer.kind());
    }
}

#[test]
fn linear() {
    check_layer(Box::new(Linear::new("l", 5, 4, true)), &[5], false);
    check_layer(Box::new(Linear::new("l", 3, 7, false)), &[3], false);
}

#[test]
fn sparse_linear() {
    check_layer(Box::new(SparseLinear::new("l", 6, 4, true)), &[], true);
    check_layer(Box::new(SparseLinear::new("l", 6, 1, false)), &[], true);
}

#[test]
fn propagate() {
    check_layer(Box::new(Propagate::new(1)), &[5], false);
    check_layer(Box::new(Propagate::new(1)), &[1], false);
}

#[test]
fn sum() {
    check_layer(Box::new(Sum), &[4, 4, 4], false);
}

#[test]
fn activation() {
    for function in [Function::Identity, Function::Relu, Function::Elu] {
        for rate in [0.0, 0.4, 1.0] {
            let dropout = Dropout::new(rate, 3).unwrap();
            let layer = Activation::new(function).with_bias("a", 5).with_dropout(dropout);
            if rate < 1.0 {
                check_layer(Box::new(layer), &[5], false);
            } else {
                nothing_passes(&layer);
            }
        }
        check_layer(Box::new(Activation::new(function)), &[5], false);
    }
}

#[test]
fn dropout() {
    check_layer(Box::new(Dropout::new(0.4, 1).unwrap()), &[5], false);
    check_layer(Box::new(Dropout::new(0.0, 1).unwrap()), &[5], false);
    nothing_passes(&Dropout::new(1.0, 1).unwrap());
}

/// At a rate of 1 the output and the gradient are zero.
fn nothing_passes(layer: &dyn Layer<f64>) {
    let fixture = Fixture::new(false);
    let values: Vec<Block<f64>> =
        layer.parameters().iter().map(|p| Block::zeros(p.shape.0, p.shape.1).unwrap()).collect();
    assert!(values.len() <= 1);
    let mut out = random_block(12, 5, 1);
    let mut partials = Partials::default();
    layer.forward(&[], &mut out, &mut fixture.cx(&mut partials)).unwrap();
    // A bias that is not allocated adds nothing.
    assert!(out.as_slice().iter().all(|&v| v == 0.0));
    let mut grad = random_block(12, 5, 2);
    let mut weights = values;
    let operands = Backward { inputs: &[], output: Some(&out), grad: &mut grad, into: &mut [], weights: &mut weights };
    layer.backward(operands, &mut fixture.cx(&mut partials)).unwrap();
    assert!(grad.as_slice().iter().all(|&v| v == 0.0));
}

#[test]
fn relu_reads_its_mask_off_the_output() {
    // The same mask, drawn again by a dropout layer of its own.
    let fixture = Fixture::new(false);
    let dropout = Dropout::new(0.4, 7).unwrap();
    let (fused, plain) = (Activation::new(Function::Relu).with_dropout(dropout), Activation::new(Function::Relu));
    let x = [random_block(12, 5, 1)];
    let out = fixture.forward(&fused, &x);
    let alone = fixture.forward(&plain, &x);
    assert_eq!(out.as_slice(), fixture.forward(&dropout, std::slice::from_ref(&alone)).as_slice());
    let back = |layer: &dyn Layer<f64>, output: &Block<f64>, grad: &mut Block<f64>| {
        let operands = Backward { inputs: &[], output: Some(output), grad, into: &mut [], weights: &mut [] };
        layer.backward(operands, &mut fixture.cx(&mut Partials::default())).unwrap();
    };
    let (mut one, mut two) = (random_block(12, 5, 2), random_block(12, 5, 2));
    back(&fused, &out, &mut one);
    back(&dropout, &out, &mut two);
    back(&plain, &alone, &mut two);
    assert_eq!(one.as_slice(), two.as_slice());
}

#[test]
fn linear_equals_the_triple_loop() {
    let fixture = Fixture::new(false);
    let mut layer = Linear::<f64>::new("l", 5, 4, true);
    let (w, b) = (random_block(5, 4, 1), random_block(1, 4, 2));
    layer.parameters_mut()[0].value = w.clone();
    layer.parameters_mut()[1].value = b.clone();
    let (x, g) = (random_block(12, 5, 3), random_block(12, 4, 4));
    let z = fixture.forward(&layer, std::slice::from_ref(&x));
    let mut grad = g.clone();
    let mut into = [Some((Block::zeros(12, 5).unwrap(), Affine::SET))];
    let mut weights = [Block::zeros(5, 4).unwrap(), Block::zeros(1, 4).unwrap()];
    let operands = Backward { inputs: &[&x], output: None, grad: &mut grad, into: &mut into, weights: &mut weights };
    layer.backward(operands, &mut fixture.cx(&mut Partials::default())).unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
    for i in 0..12 {
        for c in 0..4 {
            close(z.row(i)[c], b.row(0)[c] + (0..5).map(|k| x.row(i)[k] * w.row(k)[c]).sum::<f64>());
        }
        for k in 0..5 {
            close(into[0].as_ref().unwrap().0.row(i)[k], (0..4).map(|c| g.row(i)[c] * w.row(k)[c]).sum::<f64>());
        }
    }
    for c in 0..4 {
        close(weights[1].row(0)[c], (0..12).map(|i| g.row(i)[c]).sum::<f64>());
        for k in 0..5 {
            close(weights[0].row(k)[c], (0..12).map(|i| x.row(i)[k] * g.row(i)[c]).sum::<f64>());
        }
    }
}

/// Checks the gradient of the loss by every parameter of a network.
fn check_network(network: &mut Network<f64>, fixture: &Fixture, what: &str) {
    let (mut arena, mut pass, mut losses) = (Arena::new(), Pass::default(), Vec::new());
    let mut partials = Partials::default();
    let mut cx = fixture.cx(&mut partials);
    let mut grad = network.forward(&mut pass, &mut arena, &mut cx, true).unwrap();
    let loss = softmax_cross_entropy(fixture.exec(), &mut grad, &fixture.targets, &mut losses).unwrap();
    assert!(loss.is_finite());
    let mut gradients = network.like_parameters().unwrap();
    network.backward(grad, &mut pass, &mut arena, &mut cx, &mut gradients).unwrap();
    assert_eq!(arena.bytes().taken, 0, "{what}: a pass keeps no block");
    let counts: Vec<usize> = gradients.iter().map(|g| g.as_slice().len()).collect();
    let mut numeric: Vec<f64> = Vec::new();
    for (p, &count) in counts.iter().enumerate() {
        for at in 0..count {
            let mut side = |step: f64| {
                network.parameters_mut().nth(p).unwrap().value.as_mut_slice()[at] += step;
                let logits = network.forward(&mut pass, &mut arena, &mut cx, false).unwrap();
                let loss = cross_entropy(fixture.exec(), &logits, &fixture.targets, &mut losses).unwrap();
                arena.give(logits);
                network.parameters_mut().nth(p).unwrap().value.as_mut_slice()[at] -= step;
                loss
            };
            numeric.push((side(STEP) - side(-STEP)) / (2.0 * STEP));
        }
    }
    let mut from = 0;
    for (gradient, name) in gradients.iter().zip(network.parameters().map(|p| p.name.clone()).collect::<Vec<_>>()) {
        let to = from + gradient.as_slice().len();
        let d = distance(gradient.as_slice(), &numeric[from..to]);
        assert!(d <= TOLERANCE, "{what} {name}: {d:e}");
        from = to;
    }
}

#[test]
fn every_model_at_several_depths() {
    for entry in model::ALL {
        for layers in [1, 2, 4, 8] {
            for sparse in [true, false] {
                for with_self in [false, true] {
                    if with_self && !entry.convolves {
                        continue;
                    }
                    // Wider than X, so that the first dense convolution gathers before it multiplies.
                    let features = sapwood_train::network::Input { width: 6, sparse };
                    let shape = model::Shape { features, layers, hidden: 7, classes: 3, dropout: 0.2, with_self };
                    let mut network = model::build::<f64>(entry, &shape).unwrap();
                    init::fill(&mut network, init::find(init::ALL, "glorot").unwrap(), 11).unwrap();
                    // Biases away from 0, so that no unit sits on the kink of ReLU for a node without features.
                    for (i, p) in network.parameters_mut().filter(|p| p.shape.0 == 1).enumerate() {
                        p.value = random_block(1, p.shape.1, 90 + i as u64);
                    }
                    let what = format!("{} L={layers} sparse={sparse} self={with_self}", entry.name);
                    check_network(&mut network, &Fixture::new(sparse), &what);
                    if layers < 8 {
                        check_network(&mut network, &Fixture::lossy(sparse), &format!("{what}, lossy"));
                    }
                }
            }
        }
    }
}
