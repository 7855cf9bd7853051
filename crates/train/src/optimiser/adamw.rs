//! AdamW (Loshchilov & Hutter, ICLR 2019, algorithm 2) as PyTorch has it: the penalty is no part of the gradient, each
//! step takes lr · l2 · w off the parameter, so that all weights shrink at one rate, whatever their gradients were.

use super::moments::{Moments, Penalty};
use super::{Entry, Optimiser, OptimiserOptions};
use crate::Result;
use crate::network::Network;
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "adamw",
    summary: "Adam (0.9, 0.999, 1e-8) with L2 decoupled: each step takes lr · l2 · w off the weights",
    reads: &[],
    state_per_parameter: 2,
    f32: make,
    f64: make,
};

fn make<T: Number>(network: &Network<T>, _options: OptimiserOptions) -> Result<Box<dyn Optimiser<T>>> {
    Ok(Box::new(Moments::new(network, Penalty::Decoupled)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimiser::Step;
    use crate::optimiser::checks::{self, Sample};

    /// Algorithm 2 with PyTorch's reading of its schedule multiplier: the decay first, then Adam's step.
    fn twin(mut w: f64, gradients: &[f64], step: Step) -> f64 {
        let (mut m, mut v, mut power1, mut power2) = (0.0, 0.0, 1.0, 1.0);
        for g in gradients {
            w *= 1.0 - step.lr * step.l2;
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
        checks::follows_twin("adamw", OptimiserOptions::default(), twin);
    }

    #[test]
    fn golden_values() {
        // lr 0.1, l2 0.5. Step 1: 1 − 0.05 = 0.95, then ± 0.1 · g/(|g| + 1e-8). Step 2: the moments of (2, −1) and (2, 2).
        let sample = Sample { start: &[1.0, 1.0], gradients: &[&[2.0, 2.0], &[-1.0, 2.0]] };
        let found = checks::walk::<f64>("adamw", OptimiserOptions::default(), &sample, 0.1, 0.5);
        let first = 0.95 - 0.1 * 2.0 / (2.0 + 1e-8);
        assert!((found[0][0] - first).abs() < 1e-15 && (found[0][1] - first).abs() < 1e-15, "{found:?}");
        // m = 0.9·0.2 + 0.1·(−1) = 0.08, v = 0.999·0.004 + 0.001 = 0.004996; m̂ = 0.08/0.19, v̂ = 0.004996/0.001999.
        let second = first * 0.95 - 0.1 * (0.08 / 0.19) / ((0.004996f64 / 0.001999).sqrt() + 1e-8);
        assert!((found[1][0] - second).abs() < 1e-14, "{found:?}");
        assert!((found[1][1] - (first * 0.95 - 0.1 * 2.0 / (2.0 + 1e-8))).abs() < 1e-14, "{found:?}");
    }

    #[test]
    fn without_a_penalty_it_is_adam_and_the_penalty_ignores_the_gradients() {
        let sample = Sample { start: &[1.0, -2.0], gradients: &[&[0.3, 0.1], &[-0.2, 0.4], &[0.5, 0.0]] };
        let of = |name, l2| checks::walk::<f64>(name, OptimiserOptions::default(), &sample, 0.01, l2);
        assert_eq!(of("adamw", 0.0), of("adam", 0.0));
        assert_ne!(of("adamw", 0.1), of("adam", 0.1));
        let still = Sample { start: &[1.0, -2.0], gradients: &[&[0.0, 0.0], &[0.0, 0.0]] };
        let shrunk = checks::walk::<f64>("adamw", OptimiserOptions::default(), &still, 0.1, 0.5);
        assert!((shrunk[1][0] - 0.95 * 0.95).abs() < 1e-15 && (shrunk[1][1] + 2.0 * 0.95 * 0.95).abs() < 1e-15);
    }

    #[test]
    fn a_small_penalty_is_not_rounded_away_in_single_precision() {
        let gradients = vec![&[0.0][..]; 1000];
        let sample = Sample { start: &[1.0], gradients: &gradients };
        let found = checks::walk::<f32>("adamw", OptimiserOptions::default(), &sample, 1e-2, 2e-5);
        assert!((found[999][0] - (1.0 - 2e-4)).abs() < 3e-5, "{}", found[999][0]);
    }
}
