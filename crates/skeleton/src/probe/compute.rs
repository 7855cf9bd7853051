//! Multiply-adds in registers: what the arithmetic of a core can do at best, on the instruction set that our kernels use.

use super::Source;
use crate::math::Real;
use crate::{ChunkPlan, Exec, Result, isa};
use sapwood_machine::Kernel;
use std::hint::black_box;

/// Numbers that are worked on: a small part of the first cache.
const NUMBERS: usize = 1024;

/// Multiply-adds of each number between loading and storing it. Chains of neighbours are independent, and short enough
/// for the processor to see several at once, which hides the latency of each.
const CHAIN: usize = 16;

/// Passes over the numbers in a unit.
const PASSES: usize = 4;

/// Multiply-adds of f32 and f64.
pub(super) struct Registers;

impl Source for Registers {
    fn kernels(&self) -> &'static [Kernel] {
        &[Kernel::FmaF32, Kernel::FmaF64]
    }

    fn run(&mut self, kernel: Kernel, exec: Exec<'_>, units: usize) -> Result<f64> {
        let work = match kernel {
            Kernel::FmaF32 => chains::<f32>,
            _ => chains::<f64>,
        };
        let done = exec.map_chunks(&ChunkPlan::of(exec.threads(), 1), |_, _, _| Ok(work(units)))?;
        Ok(done.iter().sum())
    }
}

/// Runs the chains and returns the FLOP done. The numbers stay near 1: x ← x·a + (1 − a).
fn chains<T: Real>(units: usize) -> f64 {
    let (factor, rest) = black_box((T::from_f64(0.875), T::from_f64(0.125)));
    let mut numbers = [T::ONE; NUMBERS];
    for _ in 0..units * PASSES {
        isa::vectorized(
            #[inline(always)]
            || pass(&mut numbers, factor, rest),
        );
        black_box(&mut numbers);
    }
    2.0 * (units * PASSES * NUMBERS * CHAIN) as f64
}

#[inline(always)]
fn pass<T: Real>(numbers: &mut [T], factor: T, rest: T) {
    for number in numbers {
        let mut x = *number;
        for _ in 0..CHAIN {
            x = x.mul_add(factor, rest);
        }
        *number = x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runtime;

    #[test]
    fn every_worker_does_its_chains() {
        let mut numbers = [2.0f64; 3];
        pass(&mut numbers, 0.5, 0.0);
        assert_eq!(numbers, [2.0 / 65536.0; 3]);
        let runtime = Runtime::threads(3).unwrap();
        for kernel in Registers.kernels() {
            assert_eq!(Registers.run(*kernel, runtime.exec(), 2).unwrap(), (3 * 2 * 4 * 1024 * 16 * 2) as f64);
        }
    }
}
