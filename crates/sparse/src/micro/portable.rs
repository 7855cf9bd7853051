//! The plain loops, compiled for the baseline or for AVX2 and FMA.

use super::{Micro, Run, Source, weight};
use crate::order::{LANES, fold_lanes};
use crate::scalar::{Index, Scalar};
use sapwood_skeleton::math::Real;

/// Loops compiled for what the compilation target guarantees.
#[derive(Clone, Copy)]
pub(super) struct Portable;

/// The same loops compiled for `Level::Avx2`; proof that the processor has its instructions.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    pub(super) fn detect() -> Option<Avx2> {
        use sapwood_skeleton::isa::{Level, detected};
        (detected() >= Level::Avx2).then_some(Avx2(()))
    }
}

macro_rules! plain {
    ($level:ty, $self:ident, $body:ident => $enter:expr) => {
        impl<T: Real> Micro<T> for $level {
            #[inline(always)]
            fn enter<R>($self, $body: impl FnOnce() -> R) -> R {
                $enter
            }

            #[inline(never)]
            fn sums<V: Scalar, I: Index>(self, run: &Run<'_, I, V>, from: &Source<'_, T>, sums: &mut [T]) {
                Micro::<T>::enter(
                    self,
                    #[inline(always)]
                    || match from.right.is_empty() {
                        true => all::<T, V, I, false>(run, from, sums),
                        false => all::<T, V, I, true>(run, from, sums),
                    },
                );
            }
        }
    };
}

plain!(Portable, self, body => body());
#[cfg(target_arch = "x86_64")]
plain!(Avx2, self, body => enter_avx2(self, body));

/// Runs `body`, and all that is inlined into it, with the instructions of `Level::Avx2`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(unsafe_code, reason = "switches instructions on")]
fn enter_avx2<R>(_proof: Avx2, body: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c,movbe")]
    fn run<R>(body: impl FnOnce() -> R) -> R {
        body()
    }
    // SAFETY: the processor has these instructions (`_proof`).
    unsafe { run(body) }
}

#[inline(always)]
fn all<T: Real, V: Scalar, I: Index, const SCALED: bool>(run: &Run<'_, I, V>, from: &Source<'_, T>, sums: &mut [T]) {
    if from.k == 1 {
        return lanes::<T, V, I, SCALED>(run, from, sums);
    }
    let mut at = 0;
    while from.k - at >= 32 {
        tile::<T, V, I, SCALED, 32>(run, from, at, sums);
        at += 32;
    }
    while from.k - at >= 8 {
        tile::<T, V, I, SCALED, 8>(run, from, at, sums);
        at += 8;
    }
    while at < from.k {
        tile::<T, V, I, SCALED, 1>(run, from, at, sums);
        at += 1;
    }
}

/// The sums of `W` columns from `at` on, kept in registers.
#[inline(always)]
fn tile<T: Real, V: Scalar, I: Index, const SCALED: bool, const W: usize>(
    run: &Run<'_, I, V>,
    from: &Source<'_, T>,
    at: usize,
    sums: &mut [T],
) {
    for (row, sums) in run.rows().zip(sums.chunks_exact_mut(from.k)) {
        let mut acc = [T::ZERO; W];
        for p in row {
            let column = run.entries.columns[p].to_usize();
            let x = &from.x[column * from.k + at..][..W];
            let w = weight::<V, T, SCALED>(run.entries.values, from.right, p, column);
            for q in 0..W {
                acc[q] = if V::PATTERN && !SCALED { acc[q] + x[q] } else { w.mul_add(x[q], acc[q]) };
            }
        }
        sums[at..at + W].copy_from_slice(&acc);
    }
}

/// The Lanes8 sums; also what other levels use where they have nothing better.
#[inline(always)]
pub(super) fn lanes<T: Real, V: Scalar, I: Index, const SCALED: bool>(
    run: &Run<'_, I, V>,
    from: &Source<'_, T>,
    sums: &mut [T],
) {
    for (row, sum) in run.rows().zip(sums) {
        let mut acc = [T::ZERO; LANES];
        let mut p = row.start;
        // Unrolled, with known lanes: the sums stay in registers.
        while p < row.end {
            for lane in 0..LANES {
                if p + lane < row.end {
                    let column = run.entries.columns[p + lane].to_usize();
                    let w = weight::<V, T, SCALED>(run.entries.values, from.right, p + lane, column);
                    let x = from.x[column];
                    acc[lane] = if V::PATTERN && !SCALED { acc[lane] + x } else { w.mul_add(x, acc[lane]) };
                }
            }
            p += LANES;
        }
        *sum = fold_lanes(acc);
    }
}
