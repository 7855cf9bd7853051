//! Number types of stored values and index types of stored positions, and nothing about how they are stored.
//!
//! A pattern matrix is a *value type*, [`One`], not a format: no kernel has a second path for matrices without values.
//! Start with [`Scalar`] and [`Index`].

use bytemuck::Pod;
use half::{bf16, f16};
use std::fmt::Debug;

pub use sapwood_skeleton::math::Real;

/// A value as it is stored. Sums are taken in [`Acc`](Scalar::Acc): f64 for f64, f32 for all others.
pub trait Scalar: Copy + Send + Sync + PartialEq + Debug + Default + 'static {
    /// The type sums are taken in.
    type Acc: Real;
    /// Name, as `--dtype` and JSON spell it.
    const NAME: &'static str;
    /// Every value is 1 and none is stored.
    const PATTERN: bool = false;
    /// Exact.
    fn widen(self) -> Self::Acc;
    /// Rounds to nearest, ties to even, once.
    fn narrow(acc: Self::Acc) -> Self;

    /// The value in the type of a dense operand: exact to a wider type, rounded to nearest to a narrower one.
    #[inline(always)]
    fn to<T: Real>(self) -> T {
        if Self::PATTERN { T::ONE } else { T::from_f64(self.widen().to_f64()) }
    }
}

/// The value of a pattern matrix: always 1, zero bytes of storage. Narrowing any number to it gives 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct One;

impl Scalar for One {
    type Acc = f32;
    const NAME: &'static str = "pattern";
    const PATTERN: bool = true;
    #[inline(always)]
    fn widen(self) -> f32 {
        1.0
    }
    #[inline(always)]
    fn narrow(_: f32) -> One {
        One
    }
}

macro_rules! scalar {
    ($type:ty, $acc:ty, $name:literal, $widen:expr, $narrow:expr) => {
        impl Scalar for $type {
            type Acc = $acc;
            const NAME: &'static str = $name;
            #[inline(always)]
            fn widen(self) -> $acc {
                $widen(self)
            }
            #[inline(always)]
            fn narrow(acc: $acc) -> $type {
                $narrow(acc)
            }
        }
    };
}

scalar!(f64, f64, "f64", |x| x, |x| x);
scalar!(f32, f32, "f32", |x| x, |x| x);
scalar!(bf16, f32, "bf16", bf16::to_f32, bf16::from_f32);
scalar!(f16, f32, "f16", f16::to_f32, f16::from_f32);

/// An unsigned type that holds a column number or an offset. The two are chosen independently of each other.
pub trait Index: Pod + Ord + Send + Sync + Debug + Default + 'static {
    /// Name, as messages and JSON spell it.
    const NAME: &'static str;
    /// The next wider type, for messages.
    const WIDER: &'static str;
    /// The number itself.
    fn to_usize(self) -> usize;
    /// `None` if the type is too small.
    fn try_from_usize(i: usize) -> Option<Self>;
    /// The low bits of `i`: for numbers known to fit.
    fn truncate(i: usize) -> Self;
}

macro_rules! index {
    ($type:ty, $name:literal, $wider:literal) => {
        impl Index for $type {
            const NAME: &'static str = $name;
            const WIDER: &'static str = $wider;
            #[inline(always)]
            fn to_usize(self) -> usize {
                self as usize
            }
            #[inline(always)]
            fn try_from_usize(i: usize) -> Option<$type> {
                <$type>::try_from(i).ok()
            }
            #[inline(always)]
            fn truncate(i: usize) -> $type {
                i as $type
            }
        }
    };
}

index!(u8, "u8", "u16");
index!(u16, "u16", "u32");
index!(u32, "u32", "u64");
index!(u64, "u64", "u64");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_even_once() {
        assert_eq!(bf16::narrow(1.0 + 1.0 / 256.0), bf16::from_f32(1.0));
        assert_eq!(bf16::narrow(1.0 + 3.0 / 256.0), bf16::from_f32(1.0 + 4.0 / 256.0));
        assert_eq!(f16::narrow(65520.0), f16::INFINITY);
        assert_eq!(f16::narrow(65519.0), f16::MAX);
    }

    #[test]
    fn values_convert_to_the_operand_type() {
        assert_eq!(0.1f32.to::<f64>(), f64::from(0.1f32));
        assert_eq!(0.1f64.to::<f32>(), 0.1f32);
        assert_eq!(One.to::<f64>(), 1.0);
        assert_eq!(size_of::<One>(), 0);
    }

    #[test]
    fn indices_know_their_range() {
        assert_eq!(u8::try_from_usize(255), Some(255));
        assert_eq!(u8::try_from_usize(256), None);
        assert_eq!(u16::try_from_usize(65536), None);
        assert_eq!(u64::try_from_usize(usize::MAX), Some(u64::MAX));
    }
}
