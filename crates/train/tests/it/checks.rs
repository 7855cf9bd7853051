//! What a pass needs, made by hand, and gradient checks: what a layer or a network says against central differences.

use crate::worlds::{self, World};
use sapwood_graph::{
    After, BitMask, DrawBuffers, DrawKey, Graph, Normalisation, Operator, SamplerOptions, SelfLoops, TrainLabels,
    sampler,
};
use sapwood_skeleton::Runtime;
use sapwood_sparse::{Affine, Block};
use sapwood_train::layer::loss::{Targets, cross_entropy, softmax_cross_entropy};
use sapwood_train::layer::{Backward, Cx, Drawn, InPlace, Layer, Mode};
use sapwood_train::network::Pass;
use sapwood_train::{Arena, Features, Network, Number, Partials};

const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 1e-6;

fn norm(v: impl Iterator<Item = f64>) -> f64 {
    v.map(|x| x * x).sum::<f64>().sqrt()
}

/// ‖a − b‖ / ‖b‖, where a ‖b‖ below `floor` counts as `floor`: what is 0 has differences of rounding.
fn distance(a: &[f64], b: &[f64], floor: f64) -> f64 {
    norm(a.iter().zip(b).map(|(x, y)| x - y)) / norm(b.iter().copied()).max(floor)
}

/// What every pass of a check shares: features, and Â of one draw or of several. The form is not symmetric, so that Âᵀ is
/// not Â.
pub(crate) struct Fixture<T: Number> {
    pub(crate) runtime: Runtime,
    pub(crate) features: Features<T>,
    /// Of all layers, or of each.
    pub(crate) operators: Vec<Operator<T>>,
    pub(crate) targets: Targets,
    /// The graph by its arcs, where messages lose coordinates.
    arcs: Option<Graph>,
    pub(crate) mode: Mode,
}

/// The key of every pass.
pub(crate) const KEY: DrawKey = DrawKey { seed: 3, epoch: 2, layer: 0, micro: 0 };

fn form() -> Normalisation {
    Normalisation::new("aug-rw", SelfLoops::Add).unwrap()
}

impl<T: Number> Fixture<T> {
    /// The twelve nodes, and one draw for all layers.
    pub(crate) fn new(sparse: bool) -> Fixture<T> {
        Fixture::of(worlds::twelve(sparse), 2, 1)
    }

    /// The twelve nodes, and a draw for each of the first three layers.
    pub(crate) fn apart(sparse: bool) -> Fixture<T> {
        Fixture::of(worlds::twelve(sparse), 2, 3)
    }

    /// `world` on `threads` threads with `draws` draws of three tenths of the pairs.
    pub(crate) fn of(world: World, threads: usize, draws: u16) -> Fixture<T> {
        let runtime = Runtime::threads(threads).unwrap();
        let World { data, features, split } = world;
        let sampler = (sampler::find(sampler::ALL, "dropedge").unwrap().new)(&SamplerOptions::with_p(0.3)).unwrap();
        let graph = std::sync::Arc::new(data.graph.clone());
        let prepared = sampler.prepare(runtime.exec(), &graph, &TrainLabels::new(&data, &split)).unwrap();
        let mut buffers = DrawBuffers::default();
        let mut draw = |layer| {
            let mut operator = Operator::full(runtime.exec(), &data.graph, form()).unwrap();
            let sampled = prepared.kept(runtime.exec(), DrawKey { layer, ..KEY }, &mut buffers).unwrap();
            operator.redraw(runtime.exec(), &data.graph, &sampled, After::Renorm).unwrap();
            operator
        };
        let operators = (0..draws).map(&mut draw).collect();
        let targets = Targets::new(data.labels.len(), |i| u32::try_from(data.labels[i]).ok());
        let features = Features::new(runtime.exec(), features).unwrap();
        Fixture { runtime, features, operators, targets, arcs: None, mode: Mode::Train }
    }

    /// The twelve nodes, where messages lose coordinates, and a third of the nodes have lost their features.
    pub(crate) fn lossy(sparse: bool) -> Fixture<T> {
        let fixture = Fixture::<T>::new(sparse);
        let arcs = worlds::twelve(sparse).data.graph.by_arc();
        let operator = Operator::full(fixture.runtime.exec(), &arcs, form()).unwrap();
        let mut mask = BitMask::new(12, true);
        (0..12).step_by(3).for_each(|i| mask.set(i, false));
        let mut dropped = None;
        fixture.features.drop_rows(&mask, 1.5, &mut dropped).unwrap();
        Fixture { features: dropped.unwrap(), operators: vec![operator], arcs: Some(arcs), ..fixture }
    }

    pub(crate) fn cx<'a>(&'a self, partials: &'a mut Partials, chosen: &'a mut Vec<u32>) -> Cx<'a, T> {
        Cx {
            exec: self.runtime.exec(),
            features: &self.features,
            drawn: Drawn { operators: &self.operators, messages: self.arcs.as_ref().map(|arcs| (arcs, 0.4)) },
            mode: self.mode,
            key: KEY,
            partials,
            chosen,
        }
    }

    /// What `layer` makes of `inputs`.
    pub(crate) fn forward(&self, layer: &dyn Layer<T>, inputs: &[Block<T>]) -> Block<T> {
        let widths: Vec<usize> = inputs.iter().map(Block::cols).collect();
        let mut out = Block::zeros(self.features.rows(), layer.width(&widths).unwrap()).unwrap();
        let mut rest: Vec<&Block<T>> = inputs.iter().collect();
        if layer.in_place() == InPlace::No {
            // A layer must overwrite what it finds.
            out.as_mut_slice().fill(T::from_f64(f64::NAN));
        } else {
            out.as_mut_slice().copy_from_slice(rest.remove(0).as_slice());
        }
        layer.forward(&rest, &mut out, &mut self.cx(&mut Partials::default(), &mut Vec::new())).unwrap();
        out
    }

    /// The gradients of ⟨`r`, layer(`inputs`)⟩ by each input, and by each parameter.
    pub(crate) fn backward(
        &self,
        layer: &dyn Layer<T>,
        inputs: &[Block<T>],
        r: &Block<T>,
    ) -> (Vec<Block<T>>, Vec<Block<T>>) {
        let output = self.forward(layer, inputs);
        let filled = |rows, cols| Block::from_fn(rows, cols, |_, _| T::from_f64(f64::NAN)).unwrap();
        let overwritten = usize::from(layer.in_place() != InPlace::No);
        let own = if layer.in_place() == InPlace::Each { inputs.len() } else { overwritten };
        let mut grad = r.clone();
        let mut into: Vec<Option<(Block<T>, Affine<T>)>> =
            inputs[own..].iter().map(|x| Some((filled(x.rows(), x.cols()), Affine::SET))).collect();
        let mut weights: Vec<Block<T>> = layer.parameters().iter().map(|p| filled(p.shape.0, p.shape.1)).collect();
        let seen: Vec<&Block<T>> =
            if layer.needs().input { inputs[overwritten..].iter().collect() } else { Vec::new() };
        let output = layer.needs().output.then_some(&output);
        let (mut partials, mut chosen) = (Partials::default(), vec![7; 3]);
        let mut cx = self.cx(&mut partials, &mut chosen);
        let operands = Backward { inputs: &seen, output, grad: &mut grad, into: &mut into, weights: &mut weights };
        layer.backward(operands, &mut cx).unwrap();
        // Once more, added to what is there.
        let mut again = r.clone();
        let mut onto: Vec<Option<(Block<T>, Affine<T>)>> =
            into.iter().map(|x| Some((x.as_ref().unwrap().0.clone(), Affine::ADD))).collect();
        let operands = Backward { inputs: &seen, output, grad: &mut again, into: &mut onto, weights: &mut weights };
        layer.backward(operands, &mut cx).unwrap();
        for (once, twice) in into.iter().zip(&onto) {
            let (once, twice) = (once.as_ref().unwrap().0.as_slice(), twice.as_ref().unwrap().0.as_slice());
            let close = |(a, b): (&T, &T)| (a.to_f64() * 2.0 - b.to_f64()).abs() <= 1e-5 * (1.0 + a.to_f64().abs());
            assert!(once.iter().zip(twice).all(close), "{} adds its gradient", layer.kind());
        }
        let mut gradients: Vec<Block<T>> = (0..own).map(|_| grad.clone()).collect();
        gradients.extend(into.into_iter().flatten().map(|(block, _)| block));
        (gradients, weights)
    }
}

pub(crate) fn random_block(rows: usize, cols: usize, seed: u64) -> Block<f64> {
    let mut random = worlds::uniform(seed);
    Block::from_fn(rows, cols, |_, _| 2.0 * random() - 1.0).unwrap()
}

/// The slopes of `value` by each of `count` numbers, which `shift(number, step)` changes.
fn slopes<S: ?Sized>(
    state: &mut S,
    count: usize,
    shift: impl Fn(&mut S, usize, f64),
    mut value: impl FnMut(&mut S) -> f64,
) -> Vec<f64> {
    let slope = |at| {
        let mut side = |step: f64| {
            shift(state, at, step);
            let v = value(state);
            shift(state, at, -step);
            v
        };
        (side(STEP) - side(-STEP)) / (2.0 * STEP)
    };
    (0..count).map(slope).collect()
}

/// Checks the gradients of Σ R ∘ layer(inputs) by all inputs and all parameters that are learnt.
pub(crate) fn check_layer(layer: Box<dyn Layer<f64>>, widths: &[usize], sparse: bool) {
    check_layer_in(&Fixture::new(sparse), layer, widths);
}

/// As [`check_layer`], in the passes of `fixture`.
pub(crate) fn check_layer_in(fixture: &Fixture<f64>, mut layer: Box<dyn Layer<f64>>, widths: &[usize]) {
    for (i, p) in layer.parameters_mut().iter_mut().enumerate() {
        p.value = random_block(p.shape.0, p.shape.1, 40 + i as u64);
        if p.role == sapwood_train::Role::Variance {
            p.value.as_mut_slice().iter_mut().for_each(|v| *v = v.abs() + 0.5);
        }
    }
    let n = fixture.features.rows();
    let mut inputs: Vec<Block<f64>> =
        widths.iter().enumerate().map(|(i, &w)| random_block(n, w, 20 + i as u64)).collect();
    let r = random_block(n, layer.width(widths).unwrap(), 60);
    let (by_input, by_parameter) = fixture.backward(layer.as_ref(), &inputs, &r);
    let value = |layer: &dyn Layer<f64>, inputs: &[Block<f64>]| -> f64 {
        fixture.forward(layer, inputs).as_slice().iter().zip(r.as_slice()).map(|(a, b)| a * b).sum()
    };
    assert_eq!(by_input.len(), inputs.len());
    for (i, analytic) in by_input.iter().enumerate() {
        let shift = |inputs: &mut [Block<f64>], at: usize, step: f64| inputs[i].as_mut_slice()[at] += step;
        let count = inputs[i].as_slice().len();
        let numeric = slopes(&mut inputs[..], count, shift, |inputs| value(layer.as_ref(), inputs));
        let d = distance(analytic.as_slice(), &numeric, 1e-4);
        assert!(d <= TOLERANCE, "{} input {i} {widths:?}: {d:e}", layer.kind());
    }
    for (p, analytic) in by_parameter.iter().enumerate() {
        if !layer.parameters()[p].role.learnt() {
            continue;
        }
        let shift = |layer: &mut Box<dyn Layer<f64>>, at: usize, step: f64| {
            layer.parameters_mut()[p].value.as_mut_slice()[at] += step;
        };
        let count = analytic.as_slice().len();
        let numeric = slopes(&mut layer, count, shift, |layer| value(layer.as_ref(), &inputs));
        let d = distance(analytic.as_slice(), &numeric, 1e-4);
        assert!(d <= TOLERANCE, "{} parameter {p} {widths:?}: {d:e}", layer.kind());
    }
}

/// The loss of `network` and its gradients by all parameters.
pub(crate) fn gradients<T: Number>(
    network: &Network<T>,
    fixture: &Fixture<T>,
    arena: &mut Arena<T>,
) -> (f64, Vec<Block<T>>) {
    let (mut pass, mut losses) = (Pass::default(), Vec::new());
    let (mut partials, mut chosen) = (Partials::default(), Vec::new());
    let mut cx = fixture.cx(&mut partials, &mut chosen);
    let mut grad = network.forward(&mut pass, arena, &mut cx, true).unwrap();
    let exec = fixture.runtime.exec();
    let loss = softmax_cross_entropy(exec, &mut grad, &fixture.targets, &mut losses).unwrap();
    let mut gradients = network.like_parameters().unwrap();
    network.backward(grad, &mut pass, arena, &mut cx, &mut gradients).unwrap();
    assert_eq!(arena.bytes().taken, 0, "{}: a pass keeps no block", network.model());
    (loss, gradients)
}

/// Checks the gradient of the loss by every parameter of a network that is learnt.
pub(crate) fn check_network(network: &mut Network<f64>, fixture: &Fixture<f64>, what: &str) {
    let (mut arena, mut pass, mut losses) = (Arena::new(), Pass::default(), Vec::new());
    let (loss, analytic) = gradients(network, fixture, &mut arena);
    assert!(loss.is_finite(), "{what}");
    let names: Vec<(String, bool)> = network.parameters().map(|p| (p.name.clone(), p.role.learnt())).collect();
    let (mut partials, mut chosen) = (Partials::default(), Vec::new());
    let mut cx = fixture.cx(&mut partials, &mut chosen);
    let mut numeric = Vec::new();
    for (p, gradient) in analytic.iter().enumerate() {
        let count = if names[p].1 { gradient.as_slice().len() } else { 0 };
        let shift = |network: &mut Network<f64>, at: usize, step: f64| {
            network.parameters_mut().nth(p).unwrap().value.as_mut_slice()[at] += step;
        };
        numeric.push(slopes(network, count, shift, |network| {
            let logits = network.forward(&mut pass, &mut arena, &mut cx, false).unwrap();
            let loss = cross_entropy(cx.exec, &logits, &fixture.targets, &mut losses).unwrap();
            arena.give(logits);
            loss
        }));
    }
    // Biases before a norm layer have the gradient 0; they are measured by the others.
    let all = norm(numeric.iter().flatten().copied());
    for ((analytic, numeric), (name, learnt)) in analytic.iter().zip(&numeric).zip(&names) {
        let d = distance(analytic.as_slice(), numeric, 1e-3 * all);
        assert!(!learnt || d <= TOLERANCE, "{what} {name}: {d:e}");
    }
}
