//! Adam (Kingma & Ba, ICLR 2015, algorithm 1) with coupled L2, as PyTorch's `Adam(weight_decay=..)` and the DropEdge
//! scripts have it: the penalty l2 · w is part of the gradient, so it is scaled like it.

use super::{Entry, Optimiser, Step};
use crate::Result;
use crate::network::Network;
use crate::number::Number;
use crate::parameter::Role;
use sapwood_skeleton::{ChunkPlan, Exec, isa, rows};
use sapwood_sparse::{Block, Real};

pub(super) const ENTRY: Entry = Entry {
    name: "adam",
    summary: "Adam (0.9, 0.999, 1e-8) with L2 coupled into the gradient",
    state_per_parameter: 2,
    f32: make,
    f64: make,
};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;
/// Elements of a chunk.
const CHUNK: usize = 8192;

/// The two moments of each parameter.
struct Adam<T: Real> {
    first: Vec<Block<T>>,
    second: Vec<Block<T>>,
}

fn make<T: Number>(network: &Network<T>) -> Result<Box<dyn Optimiser<T>>> {
    Ok(Box::new(Adam { first: network.like_parameters()?, second: network.like_parameters()? }))
}

impl<T: Number> Optimiser<T> for Adam<T> {
    fn step(&mut self, exec: Exec<'_>, step: Step, network: &mut Network<T>, gradients: &[Block<T>]) -> Result<()> {
        let state = self.first.iter_mut().zip(&mut self.second);
        for ((parameter, gradient), (m, v)) in network.parameters_mut().zip(gradients).zip(state) {
            let rule = Rule::new(step, parameter.role);
            let plan = ChunkPlan::of(gradient.as_slice().len(), CHUNK);
            let parts = (rows(parameter.value.as_mut_slice(), 1), rows(m.as_mut_slice(), 1), rows(v.as_mut_slice(), 1));
            exec.for_chunks_mut(&plan, parts, |_, range, (w, m, v)| {
                rule.apply(w, &gradient.as_slice()[range], m, v);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The constants of one step for one parameter.
#[derive(Clone, Copy)]
struct Rule<T> {
    l2: T,
    beta1: T,
    one_minus_beta1: T,
    beta2: T,
    one_minus_beta2: T,
    /// lr / (1 − β1^t).
    rate: T,
    /// √(1 − β2^t).
    root: T,
    epsilon: T,
}

impl<T: Real> Rule<T> {
    fn new(step: Step, role: Role) -> Rule<T> {
        // A running product would need state; t is exact up to 2^53. Beyond 2^31 both powers are 0.
        let t = i32::try_from(step.number).unwrap_or(i32::MAX);
        let l2 = if role == Role::Weight { step.l2 } else { 0.0 };
        Rule {
            l2: T::from_f64(l2),
            beta1: T::from_f64(BETA1),
            one_minus_beta1: T::from_f64(1.0 - BETA1),
            beta2: T::from_f64(BETA2),
            one_minus_beta2: T::from_f64(1.0 - BETA2),
            rate: T::from_f64(step.lr / (1.0 - BETA1.powi(t))),
            root: T::from_f64((1.0 - BETA2.powi(t)).sqrt()),
            epsilon: T::from_f64(EPSILON),
        }
    }

    fn apply(self, w: &mut [T], g: &[T], m: &mut [T], v: &mut [T]) {
        isa::vectorized(
            #[inline(always)]
            || {
                for (((w, &g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
                    let g = g + self.l2 * *w;
                    *m = self.beta1 * *m + self.one_minus_beta1 * g;
                    *v = self.beta2 * *v + self.one_minus_beta2 * (g * g);
                    *w -= self.rate * *m / (v.sqrt() / self.root + self.epsilon);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Builder, FEATURES, Input};
    use sapwood_skeleton::Runtime;

    fn network(outputs: usize) -> Network<f64> {
        let mut b = Builder::new("toy", Input { width: 100, sparse: false });
        b.linear("lin", FEATURES, outputs, true).unwrap();
        let mut network = b.finish().unwrap();
        for (j, p) in network.parameters_mut().enumerate() {
            p.allocate().unwrap();
            p.value.as_mut_slice().iter_mut().enumerate().for_each(|(i, w)| *w = ((i * 7 + j) % 13) as f64 * 0.1 - 0.6);
        }
        network
    }

    /// Algorithm 1 of the paper, one number at a time, with running powers of the two rates.
    fn twin(mut w: f64, gradients: &[f64], lr: f64, l2: f64) -> f64 {
        let (mut m, mut v, mut power1, mut power2) = (0.0, 0.0, 1.0, 1.0);
        for g in gradients {
            let g = g + l2 * w;
            power1 *= 0.9;
            power2 *= 0.999;
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let corrected: f64 = v / (1.0 - power2);
            w -= lr * (m / (1.0 - power1)) / (corrected.sqrt() + 1e-8);
        }
        w
    }

    #[test]
    fn steps_equal_the_plain_loop_and_l2_leaves_biases_alone() {
        let gradient = |t: usize, i: usize| ((i * 31 + t * 17) % 23) as f64 * 0.02 - 0.2;
        for threads in [1, 3] {
            let runtime = Runtime::threads(threads).unwrap();
            let mut network = network(200);
            let start: Vec<Vec<f64>> = network.parameters().map(|p| p.value.as_slice().to_vec()).collect();
            let mut adam = make(&network).unwrap();
            let mut gradients = network.like_parameters().unwrap();
            for t in 0..30 {
                for block in &mut gradients {
                    block.as_mut_slice().iter_mut().enumerate().for_each(|(i, g)| *g = gradient(t, i));
                }
                let step = Step { number: t as u64 + 1, lr: 0.01, l2: 0.05 };
                adam.step(runtime.exec(), step, &mut network, &gradients).unwrap();
            }
            for (p, start) in network.parameters().zip(&start) {
                let l2 = if p.role == Role::Weight { 0.05 } else { 0.0 };
                for (i, (&got, &w)) in p.value.as_slice().iter().zip(start).enumerate() {
                    let want = twin(w, &(0..30).map(|t| gradient(t, i)).collect::<Vec<_>>(), 0.01, l2);
                    assert!((got - want).abs() < 1e-12, "{} [{i}]: {got} {want}", p.name);
                }
            }
        }
    }

    #[test]
    fn a_zero_gradient_moves_nothing_and_nan_spreads() {
        let runtime = Runtime::sequential().unwrap();
        let mut network = network(2);
        let before: Vec<f64> = network.parameters().flat_map(|p| p.value.as_slice().to_vec()).collect();
        let mut gradients = network.like_parameters().unwrap();
        let mut adam = make(&network).unwrap();
        let step = Step { number: 1, lr: 0.01, l2: 0.0 };
        adam.step(runtime.exec(), step, &mut network, &gradients).unwrap();
        let after: Vec<f64> = network.parameters().flat_map(|p| p.value.as_slice().to_vec()).collect();
        assert_eq!(before, after);
        gradients[1].as_mut_slice()[1] = f64::NAN;
        adam.step(runtime.exec(), step, &mut network, &gradients).unwrap();
        let bias = network.parameters().nth(1).unwrap().value.as_slice().to_vec();
        assert!(bias[0].is_finite() && bias[1].is_nan());
    }
}
