//! Element-wise work on arrays that stay in the cache and on larger ones, as activations and their gradients do between two products.

use super::Source;
use crate::{ChunkPlan, Exec, Result, isa, rows};
use sapwood_machine::Kernel;
use std::hint::black_box;

/// Numbers of a worker at least.
const LEAST: usize = 4 << 10;

/// At most.
const MOST: usize = 1 << 22;

/// Two arrays, as long as each other.
pub(super) struct Pass {
    kernel: [Kernel; 1],
    /// Numbers of each worker; it works on as many when it is alone.
    numbers: usize,
    x: Vec<f32>,
    y: Vec<f32>,
}

impl Pass {
    /// Arrays of about `bytes` together, within bounds for each worker.
    pub(super) fn new(exec: Exec<'_>, kernel: Kernel, bytes: u64) -> Result<Pass> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let numbers = (bytes / (8 * exec.threads())).clamp(LEAST, MOST);
        let all = numbers * exec.threads();
        let (mut x, mut y) = (Vec::new(), Vec::new());
        exec.fill(&mut x, all, |i| (i % 7) as f32 - 3.0)?;
        exec.fill(&mut y, all, |_| 0.0)?;
        Ok(Pass { kernel: [kernel], numbers, x, y })
    }
}

impl Source for Pass {
    fn kernels(&self) -> &[Kernel] {
        &self.kernel
    }

    fn run(&mut self, _: Kernel, exec: Exec<'_>, units: usize) -> Result<f64> {
        let (numbers, all) = (self.numbers, self.numbers * exec.threads());
        let (x, y) = (&self.x[..all], &mut self.y[..all]);
        // all passes in one step: what a step costs is measured by itself
        exec.for_chunks_mut(&ChunkPlan::of(exec.threads(), 1), rows(y, numbers), |_, worker, y| {
            let x = &x[worker.start * numbers..][..numbers];
            (0..units).for_each(|_| pass(black_box(x), black_box(&mut *y)));
            Ok(())
        })?;
        Ok(3.0 * units as f64 * size_of_val(x) as f64)
    }
}

/// y = max(0, x/2 + y/2).
fn pass(x: &[f32], y: &mut [f32]) {
    isa::vectorized(
        #[inline(always)]
        || {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = x.mul_add(0.5, 0.5 * *y).max(0.0);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runtime;

    #[test]
    fn all_elements_are_passed_and_counted() {
        let runtime = Runtime::threads(2).unwrap();
        let mut source = Pass::new(runtime.exec(), Kernel::Elementwise, 0).unwrap();
        assert_eq!(source.x.len(), 2 * LEAST);
        assert_eq!(source.run(Kernel::Elementwise, runtime.exec().limit(1), 1).unwrap(), (12 * LEAST) as f64);
        source.y.fill(0.0);
        assert_eq!(source.run(Kernel::Elementwise, runtime.exec(), 2).unwrap(), (2 * 12 * 2 * LEAST) as f64);
        let twice = |x: f32| (0.5 * x + 0.5 * (0.5 * x).max(0.0)).max(0.0);
        assert!(source.y.iter().zip(&source.x).all(|(&y, &x)| y == twice(x)));
    }
}
