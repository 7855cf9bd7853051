//! Largest and smallest element. NaN propagates, +0 is above −0; nothing has no extreme.

use super::{Entry, Monoid};
use crate::math::Real;
use std::marker::PhantomData;

pub(super) const ENTRY: Entry =
    Entry { name: "extreme", summary: "largest or smallest element; NaN propagates, +0 above -0" };

/// Largest element, `None` for no elements.
#[derive(Debug, Clone, Copy, Default)]
pub struct Max<T>(PhantomData<fn(T)>);

/// Smallest element, `None` for no elements.
#[derive(Debug, Clone, Copy, Default)]
pub struct Min<T>(PhantomData<fn(T)>);

impl<T> Max<T> {
    /// The monoid.
    pub fn new() -> Self {
        Max(PhantomData)
    }
}

impl<T> Min<T> {
    /// The monoid.
    pub fn new() -> Self {
        Min(PhantomData)
    }
}

/// `a ⊕ b` where `None` is the unit.
#[inline(always)]
fn either<T>(a: Option<T>, b: Option<T>, choose: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(choose(a, b)),
        (a, None) => a,
        (None, b) => b,
    }
}

impl<T: Real> Monoid for Max<T> {
    type Item = T;
    type Acc = Option<T>;

    fn unit(&self) -> Option<T> {
        None
    }

    #[inline(always)]
    fn lift(&self, x: T) -> Option<T> {
        Some(x)
    }

    #[inline(always)]
    fn push(&self, acc: &mut Option<T>, x: T) {
        *acc = either(*acc, Some(x), T::max_nan);
    }

    #[inline(always)]
    fn combine(&self, a: Option<T>, b: Option<T>) -> Option<T> {
        either(a, b, T::max_nan)
    }
}

/// The smaller of two: −max(−a, −b), which has the same rules for NaN and zeros.
#[inline(always)]
fn min_nan<T: Real>(a: T, b: T) -> T {
    -((-a).max_nan(-b))
}

impl<T: Real> Monoid for Min<T> {
    type Item = T;
    type Acc = Option<T>;

    fn unit(&self) -> Option<T> {
        None
    }

    #[inline(always)]
    fn lift(&self, x: T) -> Option<T> {
        Some(x)
    }

    #[inline(always)]
    fn push(&self, acc: &mut Option<T>, x: T) {
        *acc = either(*acc, Some(x), min_nan);
    }

    #[inline(always)]
    fn combine(&self, a: Option<T>, b: Option<T>) -> Option<T> {
        either(a, b, min_nan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_zeros_and_nothing() {
        let (max, min) = (Max::<f64>::new(), Min::<f64>::new());
        assert_eq!(max.unit(), None);
        assert!(max.combine(Some(f64::NAN), Some(1.0)).unwrap().is_nan());
        assert!(min.combine(Some(1.0), Some(f64::NAN)).unwrap().is_nan());
        assert!(max.combine(Some(-0.0), Some(0.0)).unwrap().is_sign_positive());
        assert!(min.combine(Some(0.0), Some(-0.0)).unwrap().is_sign_negative());
        assert_eq!(min.combine(Some(3.0), None), Some(3.0));
    }
}
