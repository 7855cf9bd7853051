//! What the tests of the optimisers share: steps on given numbers, and the comparison with a plain loop.

use super::{ALL, L2On, Optimiser, OptimiserOptions, Step, find, step};
use crate::network::{Builder, FEATURES, Input, Network};
use crate::number::Number;
use crate::parameter::Role;
use sapwood_skeleton::Runtime;
use sapwood_sparse::Block;

/// A linear layer with a bias: 100 × `outputs` weights, more than one chunk from 82 outputs on.
pub(super) fn toy<T: Number>(outputs: usize) -> Network<T> {
    linear(100, outputs, |j, i| ((i * 7 + j) % 13) as f64 * 0.1 - 0.6)
}

/// A linear layer whose element i of parameter j is `value(j, i)`.
fn linear<T: Number>(inputs: usize, outputs: usize, value: impl Fn(usize, usize) -> f64) -> Network<T> {
    let mut b = Builder::new("toy", Input { width: inputs, sparse: false });
    b.linear("lin", FEATURES, outputs, true).unwrap();
    let mut network = b.finish().unwrap();
    for (j, p) in network.parameters_mut().enumerate() {
        p.allocate().unwrap();
        p.value.as_mut_slice().iter_mut().enumerate().for_each(|(i, w)| *w = T::from_f64(value(j, i)));
    }
    network
}

/// The optimiser called `name`.
pub(super) fn make<T: Number>(name: &str, network: &Network<T>, options: OptimiserOptions) -> Box<dyn Optimiser<T>> {
    T::optimiser(find(ALL, name).unwrap())(network, options).unwrap()
}

/// All values of all parameters.
pub(super) fn values<T: Number>(network: &Network<T>) -> Vec<f64> {
    network.parameters().flat_map(|p| p.value.as_slice()).map(|v| v.to_f64()).collect()
}

/// Sets element i of each gradient to `value(i)`.
pub(super) fn fill<T: Number>(gradients: &mut [Block<T>], value: impl Fn(usize) -> f64) {
    for block in gradients {
        block.as_mut_slice().iter_mut().enumerate().for_each(|(i, g)| *g = T::from_f64(value(i)));
    }
}

/// Weights and their gradients, step by step.
pub(super) struct Sample<'a> {
    pub(super) start: &'a [f64],
    pub(super) gradients: &'a [&'a [f64]],
}

/// The weights after each step.
pub(super) fn walk<T: Number>(
    name: &str,
    options: OptimiserOptions,
    sample: &Sample<'_>,
    lr: f64,
    l2: f64,
) -> Vec<Vec<f64>> {
    let runtime = Runtime::sequential().unwrap();
    let mut network = linear::<T>(1, sample.start.len(), |_, i| sample.start[i]);
    let mut optimiser = make(name, &network, options);
    let mut gradients = network.like_parameters().unwrap();
    let one = |(t, gradient): (usize, &&[f64])| {
        fill(&mut gradients, |i| gradient[i]);
        let now = Step { number: t as u64 + 1, lr, l2 };
        step(runtime.exec(), optimiser.as_mut(), now, L2On::Weights, &mut network, &gradients).unwrap();
        network.parameters().next().unwrap().value.as_slice().iter().map(|v| v.to_f64()).collect()
    };
    sample.gradients.iter().enumerate().map(one).collect()
}

/// Thirty steps equal `twin(start, gradients, step)` for every number, on one thread and on three, in both precisions,
/// with the penalty where it belongs.
pub(super) fn follows_twin(name: &str, options: OptimiserOptions, twin: impl Fn(f64, &[f64], Step) -> f64) {
    for l2_on in [L2On::Weights, L2On::All] {
        in_precision::<f64>(name, options, l2_on, 1e-12, &twin);
        in_precision::<f32>(name, options, l2_on, 1e-4, &twin);
    }
}

fn in_precision<T: Number>(
    name: &str,
    options: OptimiserOptions,
    l2_on: L2On,
    tolerance: f64,
    twin: &impl Fn(f64, &[f64], Step) -> f64,
) {
    const STEPS: usize = 30;
    let gradient = |t: usize, i: usize| ((i * 31 + t * 17) % 23) as f64 * 0.0203 - 0.2037;
    let of_step = |t: usize| Step { number: t as u64 + 1, lr: 0.01, l2: 0.05 };
    let mut ends = Vec::new();
    for threads in [1, 3] {
        let runtime = Runtime::threads(threads).unwrap();
        let mut network = toy::<T>(200);
        let mut optimiser = make(name, &network, options);
        let mut gradients = network.like_parameters().unwrap();
        for t in 0..STEPS {
            fill(&mut gradients, |i| gradient(t, i));
            step(runtime.exec(), optimiser.as_mut(), of_step(t), l2_on, &mut network, &gradients).unwrap();
        }
        for (p, start) in network.parameters().zip(toy::<T>(200).parameters()) {
            let l2 = if p.role == Role::Weight || l2_on == L2On::All { 0.05 } else { 0.0 };
            for (i, (got, w)) in p.value.as_slice().iter().zip(start.value.as_slice()).enumerate() {
                let gradients: Vec<f64> = (0..STEPS).map(|t| gradient(t, i)).collect();
                let want = twin(w.to_f64(), &gradients, Step { l2, ..of_step(0) });
                let apart = (got.to_f64() - want).abs();
                assert!(apart < tolerance, "{name} {options:?} {} [{i}]: {got:?} {want}", p.name);
            }
        }
        ends.push(values(&network));
    }
    assert_eq!(ends[0], ends[1]);
}
