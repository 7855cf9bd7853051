//! The only source of random numbers: counter-based streams, so that a number depends on its key and never on the
//! order in which, or the thread on which, numbers are drawn.
//!
//! Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Key =
//! (seed low, seed high); counter = (unit low, unit high, a, purpose << 24 | b). Start with [`Stream`].

use crate::isa;
use crate::{Error, Result};

const M0: u32 = 0xD251_1F53;
const M1: u32 = 0xCD9E_8D57;
const W0: u32 = 0x9E37_79B9;
const W1: u32 = 0xBB67_AE85;

/// What a stream is for. Two purposes never share a number; the codes are part of every result's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Purpose {
    /// Initial weights.
    Weights = 1,
    /// Dropout masks.
    Dropout = 2,
    /// Draws of edges or nodes.
    Draw = 3,
    /// Keyed hashes that order units before a draw.
    Order = 4,
    /// Resamples of the bootstrap.
    Bootstrap = 5,
    /// Flips of the sign-flip test.
    SignFlip = 6,
    /// Random features.
    Features = 7,
    /// Operands of probes and benchmarks.
    Probe = 8,
    /// Inputs of tests.
    Test = 9,
    /// Graphs made by generators.
    Generate = 10,
    /// Random signs of sketches.
    Sketch = 11,
    /// Moves of the planner's search.
    Plan = 12,
    /// Inputs of compiled programs.
    Fill = 13,
}

/// A stream of random words, addressed by `(a, b, unit)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    key: [u32; 2],
    purpose: u32,
}

impl Stream {
    /// The stream of a seed and a purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Stream {
        Stream { key: [seed as u32, (seed >> 32) as u32], purpose: (purpose as u32) << 24 }
    }

    /// Four random words of unit `unit` under the keys `a` and `b`.
    ///
    /// # Errors
    /// [`Error::StreamKey`] if `b` ≥ 2^24.
    pub fn at(&self, a: u32, b: u32, unit: u64) -> Result<[u32; 4]> {
        let last = self.last(b)?;
        Ok(philox([unit as u32, (unit >> 32) as u32, a, last], self.key))
    }

    /// The words of the units `first_unit ..`, one entry of `out` each; the same numbers as [`Stream::at`], faster.
    ///
    /// As a plain stream, number i is word i mod 4 of unit i div 4.
    ///
    /// # Errors
    /// [`Error::StreamKey`] if `b` ≥ 2^24.
    pub fn fill(&self, a: u32, b: u32, first_unit: u64, out: &mut [[u32; 4]]) -> Result<()> {
        let last = self.last(b)?;
        let key = self.key;
        isa::vectorized(
            #[inline(always)]
            || fill_blocks(key, a, last, first_unit, out),
        );
        Ok(())
    }

    /// A keyed hash of `unit`: words 0 (low) and 1 (high) of [`Stream::at`].
    ///
    /// # Errors
    /// [`Error::StreamKey`] if `b` ≥ 2^24.
    pub fn hash64(&self, a: u32, b: u32, unit: u64) -> Result<u64> {
        let w = self.at(a, b, unit)?;
        Ok(u64::from(w[0]) | u64::from(w[1]) << 32)
    }

    fn last(&self, b: u32) -> Result<u32> {
        if b >> 24 == 0 { Ok(self.purpose | b) } else { Err(Error::StreamKey { b }) }
    }
}

/// Units computed side by side: 16 lanes of 32 bits fill an AVX-512 register.
const LANES: usize = 16;

#[inline(always)]
fn fill_blocks(key: [u32; 2], a: u32, last: u32, first: u64, out: &mut [[u32; 4]]) {
    let mut unit = first;
    let mut blocks = out.chunks_exact_mut(LANES);
    for block in &mut blocks {
        let mut c = [[0u32; LANES], [0; LANES], [a; LANES], [last; LANES]];
        for lane in 0..LANES {
            let u = unit.wrapping_add(lane as u64);
            c[0][lane] = u as u32;
            c[1][lane] = (u >> 32) as u32;
        }
        philox_lanes(&mut c, key);
        for lane in 0..LANES {
            block[lane] = [c[0][lane], c[1][lane], c[2][lane], c[3][lane]];
        }
        unit = unit.wrapping_add(LANES as u64);
    }
    for slot in blocks.into_remainder() {
        *slot = philox([unit as u32, (unit >> 32) as u32, a, last], key);
        unit = unit.wrapping_add(1);
    }
}

#[inline(always)]
fn philox_lanes(c: &mut [[u32; LANES]; 4], mut key: [u32; 2]) {
    for _ in 0..10 {
        for lane in 0..LANES {
            let p0 = u64::from(M0) * u64::from(c[0][lane]);
            let p1 = u64::from(M1) * u64::from(c[2][lane]);
            let (c1, c3) = (c[1][lane], c[3][lane]);
            c[0][lane] = (p1 >> 32) as u32 ^ c1 ^ key[0];
            c[1][lane] = p1 as u32;
            c[2][lane] = (p0 >> 32) as u32 ^ c3 ^ key[1];
            c[3][lane] = p0 as u32;
        }
        key = [key[0].wrapping_add(W0), key[1].wrapping_add(W1)];
    }
}

#[inline(always)]
fn philox(mut c: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let p0 = u64::from(M0) * u64::from(c[0]);
        let p1 = u64::from(M1) * u64::from(c[2]);
        c = [(p1 >> 32) as u32 ^ c[1] ^ key[0], p1 as u32, (p0 >> 32) as u32 ^ c[3] ^ key[1], p0 as u32];
        key = [key[0].wrapping_add(W0), key[1].wrapping_add(W1)];
    }
    c
}

/// A number of [0, 1) with 53 random bits: the high 53 bits of `high:low`, times 2^−53.
#[inline(always)]
pub fn uniform_f64(low: u32, high: u32) -> f64 {
    let bits = (u64::from(high) << 32 | u64::from(low)) >> 11;
    bits as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A number of [0, 1) with 24 random bits: the high 24 bits of `word`, times 2^−24.
#[inline(always)]
pub fn uniform_f32(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
}

/// A whole number of [0, n), by the high half of `word` · n; the bias is below n / 2^32. 0 if `n` is 0.
#[inline(always)]
pub fn below(word: u32, n: u32) -> u32 {
    ((u64::from(word) * u64::from(n)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_random123() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn fill_equals_at() {
        let s = Stream::new(0x1234_5678_9abc_def0, Purpose::Test);
        for n in [0usize, 1, 15, 16, 17, 100] {
            let first = (1u64 << 32) - 20;
            let mut out = vec![[0u32; 4]; n];
            s.fill(7, 9, first, &mut out).unwrap();
            for (i, w) in out.iter().enumerate() {
                assert_eq!(*w, s.at(7, 9, first + i as u64).unwrap());
            }
        }
    }

    #[test]
    fn keys_purposes_and_seeds_differ() {
        let s = Stream::new(1, Purpose::Test);
        let all = [
            s.at(0, 0, 0).unwrap(),
            s.at(1, 0, 0).unwrap(),
            s.at(0, 1, 0).unwrap(),
            s.at(0, 0, 1).unwrap(),
            s.at(0, 0, 1 << 32).unwrap(),
            Stream::new(2, Purpose::Test).at(0, 0, 0).unwrap(),
            Stream::new(1, Purpose::Draw).at(0, 0, 0).unwrap(),
        ];
        for i in 0..all.len() {
            for j in 0..i {
                assert_ne!(all[i], all[j]);
            }
        }
        assert!(matches!(s.at(0, 1 << 24, 0), Err(Error::StreamKey { .. })));
    }

    #[test]
    fn uniforms_have_the_right_moments() {
        let s = Stream::new(3, Purpose::Test);
        let n = 100_000u64;
        let (mut mean, mut square) = (0.0, 0.0);
        for i in 0..n {
            let w = s.at(0, 0, i).unwrap();
            let u = uniform_f64(w[0], w[1]);
            assert!((0.0..1.0).contains(&u));
            mean += u;
            square += u * u;
        }
        let n = n as f64;
        assert!((mean / n - 0.5).abs() < 0.004);
        assert!((square / n - 1.0 / 3.0).abs() < 0.004);
        assert_eq!(uniform_f32(u32::MAX), 1.0 - 2f32.powi(-24));
        assert_eq!(below(u32::MAX, 10), 9);
    }
}
