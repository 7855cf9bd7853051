//! Which instruction set the kernels use: found once, the same answer for all crates.
//!
//! Results never depend on the level: every kernel has the same bits at each of them. `SAPWOOD_ISA=portable|avx2|avx512`
//! lowers the level for tests and for comparing.

use crate::{Error, Result};
use std::sync::OnceLock;

/// An instruction-set level, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// What the compilation target guarantees.
    Portable,
    /// x86-64-v3: AVX2 and FMA.
    Avx2,
    /// x86-64-v4: AVX-512 F, BW, CD, DQ, VL.
    Avx512,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// The name used in `SAPWOOD_ISA` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }
}

/// The best level of this processor.
pub fn detected() -> Level {
    static DETECTED: OnceLock<Level> = OnceLock::new();
    *DETECTED.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    if pulp::x86::V4::try_new().is_some() {
        Level::Avx512
    } else if pulp::x86::V3::try_new().is_some() {
        Level::Avx2
    } else {
        Level::Portable
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Portable
}

/// The level in use: `SAPWOOD_ISA` if it names one that the processor has, else [`detected`].
///
/// A value that names none is ignored here and reported by [`check`].
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| check().unwrap_or_else(|_| detected()))
}

/// Reads `SAPWOOD_ISA`.
///
/// # Errors
/// [`Error::Isa`] if it names no level, or one that this processor lacks.
pub fn check() -> Result<Level> {
    let Some(value) = std::env::var_os("SAPWOOD_ISA").filter(|v| !v.is_empty()) else {
        return Ok(detected());
    };
    let value = value.to_string_lossy().into_owned();
    match Level::ALL.iter().find(|l| l.name() == value) {
        Some(&level) if level <= detected() => Ok(level),
        Some(_) => Err(Error::Isa { value, why: "this processor lacks it" }),
        None => Err(Error::Isa { value, why: "no such level" }),
    }
}

/// Runs `f` compiled for the level in use, so that plain loops inside it become vector code.
///
/// Only what is inlined into `f` is compiled that way: mark the functions it calls `#[inline(always)]`. Fused
/// multiply-adds must be written out (`mul_add`): the compiler never contracts, so the bits are the same at each level.
#[inline(always)]
pub fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    vectorized_at(level(), f)
}

/// [`vectorized`] at a given level; a level that the processor lacks falls back to the best it has.
#[inline(always)]
pub fn vectorized_at<R>(level: Level, f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        if level >= Level::Avx512
            && let Some(simd) = pulp::x86::V4::try_new()
        {
            return simd.vectorize(f);
        }
        if level >= Level::Avx2
            && let Some(simd) = pulp::x86::V3::try_new()
        {
            return simd.vectorize(f);
        }
    }
    let _ = level;
    f()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_gives_the_same_bits() {
        let x: Vec<f32> = (0..1000).map(|i| (i as f32).sin()).collect();
        let run = |level| {
            let mut acc = 0.1f32;
            vectorized_at(level, || {
                for &v in &x {
                    acc = v.mul_add(1.3, acc) + v;
                }
            });
            acc.to_bits()
        };
        let first = run(Level::Portable);
        assert!(Level::ALL.iter().all(|&l| run(l) == first));
    }

    #[test]
    fn levels_are_ordered_and_named() {
        assert!(Level::Portable < Level::Avx2 && Level::Avx2 < Level::Avx512);
        assert!(level() <= detected());
    }
}
