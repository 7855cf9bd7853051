//! Clipping: gradients whose length, over all parameters that are learnt, is above a limit are shortened to it.

use super::CHUNK;
use crate::Result;
use crate::network::Network;
use crate::number::Number;
use sapwood_skeleton::monoid::{Max, Sum};
use sapwood_skeleton::{ChunkPlan, Exec, isa, rows};
use sapwood_sparse::{Block, Real};

/// Added to the length, so that a quotient by it is never infinite; the value of PyTorch's `clip_grad_norm_`.
const MARGIN: f64 = 1e-6;

/// Multiplies the gradients of all parameters that are learnt by min(1, max_norm / (length + 1e-6)), as PyTorch's
/// `clip_grad_norm_`, and returns their length before: the root of the sum of all squares, in double precision and in a
/// fixed order. What a norm layer only remembers (its "gradient" is a mean or a variance) neither counts nor changes.
///
/// A length that is no finite number leaves everything as it is: the loss of the next epoch ends the run, and says where.
///
/// # Errors
/// When the executor fails.
pub fn clip<T: Number>(exec: Exec<'_>, network: &Network<T>, gradients: &mut [Block<T>], max_norm: f64) -> Result<f64> {
    let learnt: Vec<bool> = network.parameters().map(|p| p.role.learnt()).collect();
    let of = |gradients: &[Block<T>]| -> Result<f64> {
        let total = sum_of_squares(exec, gradients, &learnt, 1.0)?;
        if total.is_finite() {
            return Ok(total.sqrt());
        }
        // Squares of doubles may be too large where the length is not.
        let largest = largest(exec, gradients, &learnt)?;
        Ok(largest * sum_of_squares(exec, gradients, &learnt, 1.0 / largest)?.sqrt())
    };
    let norm = of(gradients)?;
    let factor = max_norm / (norm + MARGIN);
    if norm.is_finite() && factor < 1.0 {
        for (gradient, _) in gradients.iter_mut().zip(&learnt).filter(|(_, learnt)| **learnt) {
            scale(exec, gradient, T::from_f64(factor))?;
        }
    }
    Ok(norm)
}

/// Σ (g · factor)² over the parameters that are learnt: in the fixed tree within a parameter, then in their order.
fn sum_of_squares<T: Real>(exec: Exec<'_>, gradients: &[Block<T>], learnt: &[bool], factor: f64) -> Result<f64> {
    let mut total = 0.0;
    for (gradient, _) in gradients.iter().zip(learnt).filter(|(_, learnt)| **learnt) {
        let values = gradient.as_slice();
        let plan = ChunkPlan::of(values.len(), CHUNK);
        total += exec.reduce_chunks(&plan, &Sum::<f64>::new(), |_, _, range| Ok(squares(&values[range], factor)))?;
    }
    Ok(total)
}

/// Σ (g · factor)², in eight sums of every eighth number so that it runs as vector code; the grouping is always the same.
fn squares<T: Real>(values: &[T], factor: f64) -> f64 {
    let mut sums = [0.0; 8];
    isa::vectorized(
        #[inline(always)]
        || {
            for part in values.chunks(sums.len()) {
                sums.iter_mut().zip(part).for_each(|(sum, g)| {
                    let g = g.to_f64() * factor;
                    *sum += g * g;
                });
            }
        },
    );
    sums.iter().sum()
}

/// The largest |g| of the parameters that are learnt; NaN if there is one.
fn largest<T: Real>(exec: Exec<'_>, gradients: &[Block<T>], learnt: &[bool]) -> Result<f64> {
    let mut largest = 0.0;
    for (gradient, _) in gradients.iter().zip(learnt).filter(|(_, learnt)| **learnt) {
        let values = gradient.as_slice();
        let of_block = exec.reduce(values.len(), &Max::<f64>::new(), |i| values[i].to_f64().abs())?;
        largest = of_block.map_or(largest, |of_block| of_block.max_nan(largest));
    }
    Ok(largest)
}

fn scale<T: Real>(exec: Exec<'_>, gradient: &mut Block<T>, factor: T) -> Result<()> {
    let plan = ChunkPlan::of(gradient.as_slice().len(), CHUNK);
    exec.for_chunks_mut(&plan, rows(gradient.as_mut_slice(), 1), |_, _, values| {
        isa::vectorized(
            #[inline(always)]
            || values.iter_mut().for_each(|g| *g *= factor),
        );
        Ok(())
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{Cost, Size};
    use crate::layer::{Backward, Cx, InPlace, Layer, Needs};
    use crate::network::{Builder, FEATURES, Input};
    use crate::optimiser::checks;
    use crate::parameter::{Parameter, Role};
    use sapwood_skeleton::Runtime;

    /// A layer that learns a gain and remembers a mean and a variance, as batch norm does.
    struct Remembering([Parameter<f64>; 3]);

    impl Layer<f64> for Remembering {
        fn kind(&self) -> &'static str {
            "remembering"
        }
        fn width(&self, inputs: &[usize]) -> Result<usize> {
            Ok(inputs[0])
        }
        fn needs(&self) -> Needs {
            Needs::default()
        }
        fn in_place(&self) -> InPlace {
            InPlace::First
        }
        fn forward(&self, _: &[&Block<f64>], _: &mut Block<f64>, _: &mut Cx<'_, f64>) -> Result<()> {
            Ok(())
        }
        fn backward(&self, _: Backward<'_, f64>, _: &mut Cx<'_, f64>) -> Result<()> {
            Ok(())
        }
        fn cost(&self, _: &Size<'_>) -> Cost {
            Cost::default()
        }
        fn parameters(&self) -> &[Parameter<f64>] {
            &self.0
        }
        fn parameters_mut(&mut self) -> &mut [Parameter<f64>] {
            &mut self.0
        }
    }

    #[test]
    fn gradients_are_shortened_to_the_limit_and_what_is_remembered_stays() {
        let runtime = Runtime::sequential().unwrap();
        let mut b = Builder::new("toy", Input { width: 1, sparse: false });
        let z = b.linear("lin", FEATURES, 2, true).unwrap();
        let row = |name: &str, role| Parameter::new(name.into(), role, 1, 2);
        let own = [row("gain", Role::Gain), row("mean", Role::Mean), row("variance", Role::Variance)];
        b.push("norm", &[&z], Remembering(own)).unwrap();
        let network = b.finish().unwrap();
        let start = [[3.0, 0.0], [0.0, 4.0], [12.0, 0.0], [100.0, 200.0], [300.0, 400.0]];
        let gradients =
            || -> Vec<Block<f64>> { start.iter().map(|row| Block::from_fn(1, 2, |_, j| row[j]).unwrap()).collect() };
        let flat = |g: &[Block<f64>]| g.iter().flat_map(|b| b.as_slice().to_vec()).collect::<Vec<_>>();
        // Length √(9 + 16 + 144) = 13 over weight, bias and gain.
        let mut clipped = gradients();
        assert_eq!(clip(runtime.exec(), &network, &mut clipped, 6.5).unwrap(), 13.0);
        let factor = 6.5 / (13.0 + 1e-6);
        let want = [3.0 * factor, 0.0, 0.0, 4.0 * factor, 12.0 * factor, 0.0, 100.0, 200.0, 300.0, 400.0];
        assert_eq!(flat(&clipped), want);
        for enough in [13.1, f64::INFINITY] {
            let mut same = gradients();
            assert_eq!(clip(runtime.exec(), &network, &mut same, enough).unwrap(), 13.0);
            assert_eq!(flat(&same), flat(&gradients()));
        }
    }

    #[test]
    fn the_length_has_the_same_bits_on_any_number_of_threads_and_equals_the_plain_sum() {
        fn of<T: Number>() {
            let network = checks::toy::<T>(500);
            let mut found = Vec::new();
            for threads in [1, 2, 3, 8] {
                let runtime = Runtime::threads(threads).unwrap();
                let mut gradients = network.like_parameters().unwrap();
                checks::fill(&mut gradients, |i| ((i * 37 % 101) as f64 - 50.0) * 0.013);
                let plain: f64 = gradients.iter().flat_map(|b| b.as_slice()).map(|g| g.to_f64().powi(2)).sum();
                let norm = clip(runtime.exec(), &network, &mut gradients, 1.0).unwrap();
                assert!((norm / plain.sqrt() - 1.0).abs() < 1e-12, "{norm} {plain}");
                let after: f64 = gradients.iter().flat_map(|b| b.as_slice()).map(|g| g.to_f64().powi(2)).sum();
                assert!((after.sqrt() - 1.0).abs() < 2e-6, "{after}");
                found.push((norm.to_bits(), gradients.iter().flat_map(|b| b.as_slice().to_vec()).collect::<Vec<T>>()));
            }
            assert!(found.iter().all(|f| *f == found[0]));
        }
        of::<f32>();
        of::<f64>();
    }

    #[test]
    fn zero_huge_and_broken_gradients() {
        let runtime = Runtime::sequential().unwrap();
        let network = checks::toy::<f64>(2);
        let with = |value: f64| {
            let mut gradients = network.like_parameters().unwrap();
            gradients[0].as_mut_slice()[..2].copy_from_slice(&[value, 0.5]);
            let norm = clip(runtime.exec(), &network, &mut gradients, 1.0).unwrap();
            (norm, gradients[0].as_slice()[0], gradients[0].as_slice()[1])
        };
        let mut zero = network.like_parameters().unwrap();
        assert_eq!(clip(runtime.exec(), &network, &mut zero, 1.0).unwrap(), 0.0);
        assert!(zero.iter().all(|b| b.as_slice().iter().all(|g| *g == 0.0)));
        let (norm, largest, _) = with(1e200);
        assert_eq!((norm, largest), (1e200, 1.0));
        let (norm, first, other) = with(f64::NAN);
        assert!(norm.is_nan() && first.is_nan() && other == 0.5);
        let (norm, first, other) = with(f64::INFINITY);
        assert!(!norm.is_finite() && first == f64::INFINITY && other == 0.5);
    }
}
