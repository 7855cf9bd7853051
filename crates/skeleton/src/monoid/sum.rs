//! Sums of floating-point numbers, accumulated in double precision.

use super::{Entry, Monoid};
use crate::math::Real;
use std::marker::PhantomData;

pub(super) const ENTRY: Entry =
    Entry { name: "sum", summary: "sum in double precision, rounded once by whoever narrows it" };

/// Sum of `T` (`f32` or `f64`) in an `f64`. The sum of nothing is +0; the sum of one −0 is −0.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum<T>(PhantomData<fn(T)>);

impl<T> Sum<T> {
    /// The monoid.
    pub fn new() -> Self {
        Sum(PhantomData)
    }
}

impl<T: Real> Monoid for Sum<T> {
    type Item = T;
    type Acc = f64;

    fn unit(&self) -> f64 {
        0.0
    }

    #[inline(always)]
    fn lift(&self, x: T) -> f64 {
        x.to_f64()
    }

    #[inline(always)]
    fn push(&self, acc: &mut f64, x: T) {
        *acc += x.to_f64();
    }

    #[inline(always)]
    fn combine(&self, a: f64, b: f64) -> f64 {
        a + b
    }
}
