//! `exp` and `ln` with the same bits on every processor, and the trait of the numbers the project computes with.
//!
//! Each function is one branch-free polynomial with explicit fused multiply-adds, at most 2 units in the last place
//! from the true value, so a plain loop over it becomes vector code inside [`isa::vectorized`]. No table, no libm.

use crate::isa;
use std::fmt::{Debug, Display};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A floating-point type that networks compute with: `f32` or `f64`.
pub trait Real:
    bytemuck::Pod
    + Copy
    + Send
    + Sync
    + PartialOrd
    + Default
    + Debug
    + Display
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Name of the type, as `--dtype` spells it.
    const NAME: &'static str;
    /// Rounds to nearest, ties to even.
    fn from_f64(x: f64) -> Self;
    /// Exact.
    fn to_f64(self) -> f64;
    /// self · a + b, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// e^self, see [`exp_f32`] and [`exp_f64`].
    fn exp(self) -> Self;
    /// Natural logarithm, see [`ln_f32`] and [`ln_f64`].
    fn ln(self) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// The larger of two; NaN if one is NaN; +0 above −0.
    fn max_nan(self, other: Self) -> Self;
}

macro_rules! real {
    ($t:ident, $exp:ident, $ln:ident) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NAME: &'static str = stringify!($t);
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                $t::mul_add(self, a, b)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline(always)]
            fn max_nan(self, other: Self) -> Self {
                if self.is_nan() {
                    self
                } else if other.is_nan() {
                    other
                } else if self > other || (self == other && self.is_sign_positive()) {
                    self
                } else {
                    other
                }
            }
        }
    };
}

real!(f32, exp_f32, ln_f32);
real!(f64, exp_f64, ln_f64);

/// e^x. Range reduction x = n·ln 2 + r, |r| ≤ ln 2 / 2 (Cody & Waite 1980), Taylor's series to r^7, scaling by 2^n in two
/// steps so that subnormal results are rounded once. Overflow gives +∞, underflow +0.
#[inline(always)]
pub fn exp_f32(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0; // 1.5 · 2^23: adding it rounds to a whole number
    const LN2_HIGH: f32 = 0.693_359_4; // 10 bits: n · LN2_HIGH is exact
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let clamped = clamp_f32(x, -104.0, 89.0);
    let shifted = clamped.mul_add(std::f32::consts::LOG2_E, MAGIC);
    let n = shifted - MAGIC;
    let r = (-n).mul_add(LN2_LOW, (-n).mul_add(LN2_HIGH, clamped));
    let mut p = 1.0 / 5040.0;
    p = r.mul_add(p, 1.0 / 720.0);
    p = r.mul_add(p, 1.0 / 120.0);
    p = r.mul_add(p, 1.0 / 24.0);
    p = r.mul_add(p, 1.0 / 6.0);
    p = r.mul_add(p, 0.5);
    let y = 1.0 + (r * r).mul_add(p, r);
    let n = (shifted.to_bits() as i32).wrapping_sub(MAGIC.to_bits() as i32);
    let half = n >> 1;
    let y = y * f32::from_bits(((half + 127) as u32) << 23) * f32::from_bits(((n - half + 127) as u32) << 23);
    if x.is_nan() { x } else { y }
}

/// e^x in double precision: as [`exp_f32`], Taylor's series to r^13.
#[inline(always)]
pub fn exp_f64(x: f64) -> f64 {
    const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const SERIES: [f64; 12] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ];
    let clamped = clamp_f64(x, -746.0, 710.0);
    let shifted = clamped.mul_add(std::f64::consts::LOG2_E, MAGIC);
    let n = shifted - MAGIC;
    let r = (-n).mul_add(LN2_LOW, (-n).mul_add(LN2_HIGH, clamped));
    let mut p = SERIES[0];
    for &c in &SERIES[1..] {
        p = r.mul_add(p, c);
    }
    let y = 1.0 + (r * r).mul_add(p, r);
    let n = (shifted.to_bits() as i64).wrapping_sub(MAGIC.to_bits() as i64);
    let half = n >> 1;
    let y = y * f64::from_bits(((half + 1023) as u64) << 52) * f64::from_bits(((n - half + 1023) as u64) << 52);
    if x.is_nan() { x } else { y }
}

/// ln x. x = 2^k·(1 + f), 1 + f in [√½, √2); with s = f/(2 + f), ln(1 + f) = f − (f²/2 − s·(f²/2 + R)), where
/// R = ⅔s² + ⅖s⁴ + … (the area-tangent series, arranged as in FreeBSD's msun). ln 0 = −∞, ln of a negative number is NaN.
#[inline(always)]
pub fn ln_f32(x: f32) -> f32 {
    const LN2_HIGH: f32 = 0.693_138_1;
    const LN2_LOW: f32 = 9.058_001e-6;
    let tiny = x < f32::MIN_POSITIVE;
    let scaled = if tiny { x * 33_554_432.0 } else { x }; // 2^25
    let bits = scaled.to_bits().wrapping_sub(0x3f35_04f3); // bits of √½
    let k = (bits as i32 >> 23) as f32 - if tiny { 25.0 } else { 0.0 };
    let f = f32::from_bits((bits & 0x007f_ffff).wrapping_add(0x3f35_04f3)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut p = 2.0 / 11.0;
    p = z.mul_add(p, 2.0 / 9.0);
    p = z.mul_add(p, 2.0 / 7.0);
    p = z.mul_add(p, 2.0 / 5.0);
    p = z.mul_add(p, 2.0 / 3.0);
    let half = 0.5 * f * f;
    let y = k.mul_add(LN2_HIGH, f - (half - s.mul_add(half + z * p, k * LN2_LOW)));
    let y = if x == f32::INFINITY { x } else { y };
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if x < 0.0 || x.is_nan() { f32::NAN } else { y }
}

/// ln x in double precision: as [`ln_f32`], with eleven terms of the series.
#[inline(always)]
pub fn ln_f64(x: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let tiny = x < f64::MIN_POSITIVE;
    let scaled = if tiny { x * 18_014_398_509_481_984.0 } else { x }; // 2^54
    let bits = scaled.to_bits().wrapping_sub(ROOT_HALF);
    let k = (bits as i64 >> 52) as f64 - if tiny { 54.0 } else { 0.0 };
    let f = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut p = 2.0 / 23.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        p = z.mul_add(p, 2.0 / odd);
    }
    let half = 0.5 * f * f;
    let y = k.mul_add(LN2_HIGH, f - (half - s.mul_add(half + z * p, k * LN2_LOW)));
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x < 0.0 || x.is_nan() { f64::NAN } else { y }
}

/// `x` inside [low, high]; NaN becomes `low` (the caller puts NaN back).
#[inline(always)]
fn clamp_f32(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > low { x } else { low };
    if x < high { x } else { high }
}

/// [`clamp_f32`] in double precision.
#[inline(always)]
fn clamp_f64(x: f64, low: f64, high: f64) -> f64 {
    let x = if x > low { x } else { low };
    if x < high { x } else { high }
}

/// Replaces each element by its `exp`.
pub fn exp_slice<T: Real>(x: &mut [T]) {
    isa::vectorized(
        #[inline(always)]
        || x.iter_mut().for_each(|v| *v = v.exp()),
    );
}

/// Replaces each element by its natural logarithm.
pub fn ln_slice<T: Real>(x: &mut [T]) {
    isa::vectorized(
        #[inline(always)]
        || x.iter_mut().for_each(|v| *v = v.ln()),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units in the last place of the true value's f32 neighbourhood.
    fn ulps_f32(got: f32, want: f64) -> f64 {
        let nearest = want as f32;
        if !nearest.is_finite() || nearest == 0.0 {
            return if got == nearest { 0.0 } else { f64::INFINITY };
        }
        let ulp = f64::from(f32::from_bits(nearest.abs().to_bits() + 1)) - f64::from(nearest.abs());
        (f64::from(got) - want).abs() / ulp
    }

    fn ulps_f64(got: f64, want: f64) -> f64 {
        (got.to_bits() as i64 - want.to_bits() as i64).abs() as f64
    }

    #[test]
    fn exp_f32_is_within_two_ulps() {
        let mut worst = 0f64;
        let mut x = -104.5f32;
        while x < 89.5 {
            worst = worst.max(ulps_f32(exp_f32(x), f64::from(x).exp()));
            x += 0.000_977;
        }
        assert!(worst <= 2.0, "{worst}");
        for tiny in [1e-10f32, -1e-10, 0.0, -0.0, 1e-40] {
            assert_eq!(exp_f32(tiny), 1.0);
        }
    }

    #[test]
    fn exp_f64_is_within_two_ulps_of_the_system_library() {
        let worst = (0..400_000)
            .map(|i| -707.9 + f64::from(i) * 0.003_541)
            .map(|x| ulps_f64(exp_f64(x), x.exp()))
            .fold(0.0, f64::max);
        assert!(worst <= 2.0, "{worst}");
    }

    #[test]
    fn ln_f32_is_within_two_ulps() {
        let worst = (1u32..0x7f80_0000)
            .step_by(1009)
            .map(f32::from_bits)
            .map(|x| ulps_f32(ln_f32(x), f64::from(x).ln()))
            .fold(0.0, f64::max);
        assert!(worst <= 2.0, "{worst}");
    }

    #[test]
    fn ln_f64_is_within_two_ulps_of_the_system_library() {
        let step = 0x7ff0_0000_0000_0000u64 / 400_000;
        let worst = (1..400_000u64)
            .map(|i| f64::from_bits(i * step + i))
            .map(|x| ulps_f64(ln_f64(x), x.ln()))
            .fold(0.0, f64::max);
        let near =
            (0..20_000).map(|i| 0.9 + f64::from(i) * 1e-5).map(|x| ulps_f64(ln_f64(x), x.ln())).fold(0.0, f64::max);
        assert!(worst <= 2.0 && near <= 2.0, "{worst} {near}");
    }

    #[test]
    fn special_values() {
        assert_eq!(exp_f32(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp_f32(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp_f64(f64::INFINITY), f64::INFINITY);
        assert_eq!(exp_f64(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp_f64(709.9), f64::INFINITY);
        assert_eq!(exp_f64(-745.0), f64::from_bits(1));
        assert!(exp_f32(f32::NAN).is_nan() && exp_f64(f64::NAN).is_nan());
        assert_eq!(ln_f32(0.0), f32::NEG_INFINITY);
        assert_eq!(ln_f64(-0.0), f64::NEG_INFINITY);
        assert_eq!(ln_f32(1.0), 0.0);
        assert_eq!(ln_f64(1.0), 0.0);
        assert_eq!(ln_f32(f32::INFINITY), f32::INFINITY);
        assert_eq!(ln_f64(f64::INFINITY), f64::INFINITY);
        assert!(ln_f32(-1.0).is_nan() && ln_f64(-1.0).is_nan() && ln_f64(f64::NAN).is_nan());
    }

    #[test]
    fn slices_have_the_bits_of_the_scalars_at_every_level() {
        let x: Vec<f32> = (0..1003).map(|i| i as f32 * 0.17 - 90.0).collect();
        let want: Vec<u32> = x.iter().map(|&v| exp_f32(v).to_bits()).collect();
        for level in isa::Level::ALL {
            let mut y = x.clone();
            isa::vectorized_at(level, || y.iter_mut().for_each(|v| *v = exp_f32(*v)));
            assert!(y.iter().zip(&want).all(|(a, b)| a.to_bits() == *b));
        }
        let mut y: Vec<f64> = (1..500).map(f64::from).collect();
        let want: Vec<f64> = y.iter().map(|&v| ln_f64(v)).collect();
        ln_slice(&mut y);
        assert_eq!(y, want);
    }

    #[test]
    fn max_follows_the_rule_for_nan_and_zeros() {
        assert!(f32::NAN.max_nan(1.0).is_nan() && 1f64.max_nan(f64::NAN).is_nan());
        assert!((-0f32).max_nan(0.0).is_sign_positive() && 0f32.max_nan(-0.0).is_sign_positive());
        assert_eq!(2f64.max_nan(3.0), 3.0);
    }
}
