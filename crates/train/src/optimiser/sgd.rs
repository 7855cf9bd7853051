//! Stochastic gradient descent with momentum, as PyTorch's `SGD` with dampening 0: the buffer b of a parameter becomes
//! μ·b + (g + l2·w), at first g + l2·w alone; the parameter loses lr·b, with Nesterov's momentum (Sutskever et al.,
//! ICML 2013) lr·(g + l2·w + μ·b).

use super::{CHUNK, Entry, Optimiser, OptimiserOptions, Step};
use crate::Result;
use crate::network::Network;
use crate::number::Number;
use sapwood_skeleton::{ChunkPlan, Exec, isa, rows};
use sapwood_sparse::{Block, Real};

pub(super) const ENTRY: Entry = Entry {
    name: "sgd",
    summary: "gradient descent with momentum, plain or Nesterov's; L2 coupled into the gradient",
    reads: &["momentum", "nesterov"],
    state_per_parameter: 1,
    f32: make,
    f64: make,
};

/// The buffer of each parameter. It starts at zero, so the first step leaves the gradient in it without a special case.
struct Sgd<T: Real> {
    options: OptimiserOptions,
    buffer: Vec<Block<T>>,
}

fn make<T: Number>(network: &Network<T>, options: OptimiserOptions) -> Result<Box<dyn Optimiser<T>>> {
    options.check()?;
    Ok(Box::new(Sgd { options, buffer: network.like_parameters()? }))
}

impl<T: Number> Optimiser<T> for Sgd<T> {
    fn update(
        &mut self,
        exec: Exec<'_>,
        step: Step,
        number: usize,
        value: &mut Block<T>,
        gradient: &Block<T>,
    ) -> Result<()> {
        let rule = Rule {
            lr: T::from_f64(step.lr),
            l2: T::from_f64(step.l2),
            momentum: T::from_f64(self.options.momentum),
            nesterov: self.options.nesterov,
        };
        let plan = ChunkPlan::of(gradient.as_slice().len(), CHUNK);
        let parts = (rows(value.as_mut_slice(), 1), rows(self.buffer[number].as_mut_slice(), 1));
        exec.for_chunks_mut(&plan, parts, |_, range, (w, b)| {
            rule.apply(w, &gradient.as_slice()[range], b);
            Ok(())
        })?;
        Ok(())
    }

    fn state(&self) -> Vec<(&'static str, &[Block<T>])> {
        vec![("momentum_buffer", &self.buffer)]
    }

    fn state_mut(&mut self) -> Vec<(&'static str, &mut [Block<T>])> {
        vec![("momentum_buffer", &mut self.buffer)]
    }
}

/// The constants of one step for one parameter.
#[derive(Clone, Copy)]
struct Rule<T> {
    lr: T,
    l2: T,
    momentum: T,
    nesterov: bool,
}

impl<T: Real> Rule<T> {
    fn apply(self, w: &mut [T], g: &[T], b: &mut [T]) {
        isa::vectorized(
            #[inline(always)]
            || {
                for ((w, &g), b) in w.iter_mut().zip(g).zip(b) {
                    let g = g + self.l2 * *w;
                    *b = self.momentum * *b + g;
                    let direction = if self.nesterov { g + self.momentum * *b } else { *b };
                    *w -= self.lr * direction;
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimiser::checks::{self, Sample};

    fn options(momentum: f64, nesterov: bool) -> OptimiserOptions {
        OptimiserOptions { momentum, nesterov }
    }

    #[test]
    fn steps_equal_the_plain_loop() {
        for (momentum, nesterov) in [(0.0, false), (0.9, false), (0.9, true), (0.5, true)] {
            // PyTorch's documented loop: no buffer before the first step.
            let twin = |mut w: f64, gradients: &[f64], step: Step| {
                let mut buffer = None;
                for &g in gradients {
                    let g = g + step.l2 * w;
                    let b = buffer.map_or(g, |b: f64| momentum * b + g);
                    buffer = Some(b);
                    w -= step.lr * if nesterov { g + momentum * b } else { b };
                }
                w
            };
            checks::follows_twin("sgd", options(momentum, nesterov), twin);
        }
    }

    #[test]
    fn golden_values() {
        // w = 1, lr 0.1, l2 0.5, μ 0.9, gradients 2 and −1.
        let sample = Sample { start: &[1.0], gradients: &[&[2.0], &[-1.0]] };
        let of = |o| checks::walk::<f64>("sgd", o, &sample, 0.1, 0.5);
        let near = |found: Vec<Vec<f64>>, want: [f64; 2]| {
            assert!(found.iter().zip(want).all(|(f, w)| (f[0] - w).abs() < 1e-15), "{found:?} {want:?}");
        };
        // g = 2.5: w = 0.75; g = −1 + 0.375 = −0.625: w = 0.8125.
        near(of(options(0.0, false)), [0.75, 0.8125]);
        // b = 2.5: w = 0.75; b = 2.25 − 0.625 = 1.625: w = 0.5875.
        near(of(options(0.9, false)), [0.75, 0.5875]);
        // 2.5 + 2.25 = 4.75: w = 0.525; g = −0.7375, b = 1.5125, g + 0.9 b = 0.62375: w = 0.462625.
        near(of(options(0.9, true)), [0.525, 0.462625]);
    }

    #[test]
    fn momentum_out_of_range_and_nesterov_without_momentum_are_refused() {
        let network = checks::toy::<f32>(3);
        for momentum in [f64::NAN, -0.1, 1.0, f64::INFINITY] {
            let message = make(&network, options(momentum, false)).err().unwrap().to_string();
            assert_eq!(message, format!("--momentum must be from 0 to below 1, not {momentum}"));
        }
        let message = make(&network, options(0.0, true)).err().unwrap().to_string();
        assert!(message.contains("--nesterov") && message.contains("--momentum"), "{message}");
        assert!(make(&network, options(0.0, false)).is_ok());
    }
}
