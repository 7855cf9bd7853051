//! Adam (Kingma & Ba, ICLR 2015, algorithm 1) with coupled L2, as PyTorch's `Adam(weight_decay=..)` and the DropEdge
//! scripts have it: the penalty l2 · w is part of the gradient, so it is scaled like it.

use super::moments::{Moments, Penalty};
use super::{Entry, Optimiser, OptimiserOptions};
use crate::Result;
use crate::network::Network;
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "adam",
    summary: "Adam (0.9, 0.999, 1e-8) with L2 coupled into the gradient",
    reads: &[],
    state_per_parameter: 2,
    f32: make,
    f64: make,
};

fn make<T: Number>(network: &Network<T>, _options: OptimiserOptions) -> Result<Box<dyn Optimiser<T>>> {
    Ok(Box::new(Moments::new(network, Penalty::Coupled)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimiser::Step;
    use crate::optimiser::checks::{self, Sample};

    /// Algorithm 1 of the paper, one number at a time, with running powers of the two rates.
    fn twin(mut w: f64, gradients: &[f64], step: Step) -> f64 {
        let (mut m, mut v, mut power1, mut power2) = (0.0, 0.0, 1.0, 1.0);
        for g in gradients {
            let g = g + step.l2 * w;
            power1 *= 0.9;
            power2 *= 0.999;
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let corrected: f64 = v / (1.0 - power2);
            w -= step.lr * (m / (1.0 - power1)) / (corrected.sqrt() + 1e-8);
        }
        w
    }

    #[test]
    fn steps_equal_the_plain_loop() {
        checks::follows_twin("adam", OptimiserOptions::default(), twin);
    }

    #[test]
    fn golden_values() {
        // The first step is lr · g/(|g| + 1e-8), whatever g is: here g = 2 + 0.5 · 1.
        let sample = Sample { start: &[1.0], gradients: &[&[2.0], &[-1.0]] };
        let found = checks::walk::<f64>("adam", OptimiserOptions::default(), &sample, 0.1, 0.5);
        let first = 1.0 - 0.1 * 2.5 / (2.5 + 1e-8);
        assert!((found[0][0] - first).abs() < 1e-15, "{found:?}");
        // g = −1 + 0.5 · 0.9 = −0.55 (to 1e-9): m = 0.225 − 0.055 = 0.17, v = 0.00624375 + 0.0003025 = 0.00654625.
        let second = first - 0.1 * (0.17 / 0.19) / (0.006_546_25f64 / 0.001999).sqrt();
        assert!((found[1][0] - second).abs() < 1e-9, "{found:?}");
    }
}
