//! AVX-512: up to eight vectors of column sums in registers, a masked last vector, and rows fetched ahead of use.
//!
//! Every function is inlined into [`enter`], where the instruction set is switched on. Column numbers are checked
//! against the operand before they become addresses, so a faulty format cannot read outside it.

use super::{Micro, Run, Source, portable, weight};
use crate::order::{LANES, fold_lanes};
use crate::scalar::{Index, Scalar};
use crate::structure::Stretch;
use sapwood_skeleton::isa::{self, Level};
use sapwood_skeleton::math::Real;
use std::any::TypeId;
use std::arch::x86_64::*;

/// Proof that the processor has the instructions of `Level::Avx512`.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Avx512> {
        (isa::detected() >= Level::Avx512).then_some(Avx512(()))
    }
}

/// Entries that a row of the operand is fetched ahead of its use.
const AHEAD: usize = 12;

impl<T: Real> Micro<T> for Avx512 {
    #[inline(always)]
    fn enter<R>(self, body: impl FnOnce() -> R) -> R {
        enter(self, body)
    }

    #[inline(always)]
    fn sums<V: Scalar, I: Index>(self, run: &Run<'_, I, V>, from: &Source<'_, T>, sums: &mut [T]) {
        if let Some((from, sums)) = cast::<T, f32>(from, sums) {
            compiled(self, run, &from, sums);
        } else if let Some((from, sums)) = cast::<T, f64>(from, sums) {
            compiled(self, run, &from, sums);
        }
    }
}

/// Runs `body`, and all that is inlined into it, with the instructions of `Level::Avx512`.
#[inline(always)]
#[expect(unsafe_code, reason = "switches instructions on")]
fn enter<R>(_proof: Avx512, body: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c,movbe")]
    fn run<R>(body: impl FnOnce() -> R) -> R {
        body()
    }
    // SAFETY: the processor has these instructions (`_proof`).
    unsafe { run(body) }
}

/// The operands as those of type `W`, if that is what `T` is. `Real` has no other types than f32 and f64.
#[inline(always)]
fn cast<'a, 's, T: Real, W: Real>(from: &Source<'a, T>, sums: &'s mut [T]) -> Option<(Source<'a, W>, &'s mut [W])> {
    if TypeId::of::<T>() != TypeId::of::<W>() {
        return None;
    }
    let x = bytemuck::cast_slice(from.x);
    let right = bytemuck::cast_slice(from.right);
    Some((Source { x, right, rows: from.rows, k: from.k, far: from.far }, bytemuck::cast_slice_mut(sums)))
}

#[inline(never)]
fn compiled<W: Wide, V: Scalar, I: Index>(micro: Avx512, run: &Run<'_, I, V>, from: &Source<'_, W>, sums: &mut [W]) {
    enter(
        micro,
        #[inline(always)]
        || match from.right.is_empty() {
            true => all::<W, V, I, false>(micro, run, from, sums),
            false => all::<W, V, I, true>(micro, run, from, sums),
        },
    );
}

#[inline(always)]
fn all<W: Wide, V: Scalar, I: Index, const SCALED: bool>(
    micro: Avx512,
    run: &Run<'_, I, V>,
    from: &Source<'_, W>,
    sums: &mut [W],
) {
    if from.k == 1 {
        return lanes::<W, V, I, SCALED>(micro, run, from, sums);
    }
    let mut at = 0;
    loop {
        let vectors = match (from.k - at).div_ceil(W::LANES) {
            0 => return,
            1 => tile::<W, V, I, SCALED, 1>(micro, run, from, at, sums),
            2 => tile::<W, V, I, SCALED, 2>(micro, run, from, at, sums),
            3 => tile::<W, V, I, SCALED, 3>(micro, run, from, at, sums),
            4..8 => tile::<W, V, I, SCALED, 4>(micro, run, from, at, sums),
            _ => tile::<W, V, I, SCALED, 8>(micro, run, from, at, sums),
        };
        at = from.k.min(at + vectors * W::LANES);
    }
}

/// The sums of the columns from `at` on, as many as `N` vectors hold and the operand has. Gives `N`.
#[inline(always)]
#[expect(unsafe_code, reason = "vector loads and stores at checked places")]
fn tile<W: Wide, V: Scalar, I: Index, const SCALED: bool, const N: usize>(
    _proof: Avx512,
    run: &Run<'_, I, V>,
    from: &Source<'_, W>,
    at: usize,
    sums: &mut [W],
) -> usize {
    let Stretch { columns, values, ahead } = run.entries;
    let width = (from.k - at).min(N * W::LANES);
    assert!(width > (N - 1) * W::LANES && from.x.len() >= from.rows * from.k && values.len() == columns.len());
    let last = W::mask(width - (N - 1) * W::LANES);
    let ahead = if from.far { ahead.get(AHEAD..).unwrap_or_default() } else { &[] };
    for (row, sums) in run.rows().zip(sums.chunks_exact_mut(from.k)) {
        // SAFETY: the processor has AVX-512 (`_proof`). Each row read starts at column·k + at with column < rows, and
        // `width` elements from there lie inside x; so do `width` elements from `at` in the k sums. The last vector is
        // masked to the width, on loads and on the store.
        unsafe {
            let x = from.x.as_ptr().add(at);
            let mut acc = [W::zero(); N];
            for p in row {
                let column = columns[p].to_usize();
                assert!(column < from.rows, "a column number is outside the operand");
                if let Some(next) = ahead.get(p) {
                    let next = x.wrapping_add(next.to_usize().wrapping_mul(from.k));
                    for n in 0..N {
                        _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add(n * W::LANES).cast());
                    }
                }
                let x = x.add(column * from.k);
                let w = W::splat(weight::<V, W, SCALED>(values, from.right, p, column));
                for n in 0..N {
                    let at = x.add(n * W::LANES);
                    let v = if n + 1 < N { W::load(at) } else { W::load_masked(last, at) };
                    acc[n] = if V::PATTERN && !SCALED { W::wide_add(acc[n], v) } else { W::wide_mul_add(w, v, acc[n]) };
                }
            }
            let sums = sums.as_mut_ptr().add(at);
            for n in 0..N {
                let at = sums.add(n * W::LANES);
                if n + 1 < N {
                    W::store(at, acc[n]);
                } else {
                    W::store_masked(last, at, acc[n]);
                }
            }
        }
    }
    N
}

#[inline(always)]
fn lanes<W: Wide, V: Scalar, I: Index, const SCALED: bool>(
    micro: Avx512,
    run: &Run<'_, I, V>,
    from: &Source<'_, W>,
    sums: &mut [W],
) {
    // Gathers take signed 32-bit indices.
    match bytemuck::try_cast_slice::<I, u32>(run.entries.columns) {
        Ok(columns) if TypeId::of::<I>() == TypeId::of::<u32>() && from.rows <= i32::MAX as usize => {
            for (row, sum) in run.rows().zip(sums) {
                let values = if V::PATTERN { &[] } else { &run.entries.values[row.clone()] };
                *sum = gather::<W, V, SCALED>(micro, &columns[row], values, from);
            }
        }
        _ => portable::lanes::<W, V, I, SCALED>(run, from, sums),
    }
}

/// The Lanes8 sum of one row, eight entries at a time.
#[inline(always)]
#[expect(unsafe_code, reason = "gathers at checked places")]
fn gather<W: Wide, V: Scalar, const SCALED: bool>(
    _proof: Avx512,
    columns: &[u32],
    values: &[V],
    from: &Source<'_, W>,
) -> W {
    assert!(from.x.len() >= from.rows && (!SCALED || from.right.len() >= from.rows));
    // SAFETY: the processor has AVX-512 (`_proof`). Only masked-in lanes are read; their indices are compared with the
    // number of rows before the gathers, and the index load itself is masked to the columns that exist.
    unsafe {
        let mut acc = W::eight_zeros();
        let bound = _mm256_set1_epi32(from.rows as i32);
        let mut p = 0;
        while p < columns.len() {
            let mask = 0xffu8 >> (LANES - (columns.len() - p).min(LANES));
            let index = _mm256_maskz_loadu_epi32(mask, columns.as_ptr().add(p).cast());
            let inside = _mm256_mask_cmplt_epu32_mask(mask, index, bound);
            assert!(inside == mask, "a column number is outside the operand");
            let x = W::gather(mask, index, from.x.as_ptr());
            let mut w = W::eight_ones();
            if SCALED {
                w = W::gather(mask, index, from.right.as_ptr());
            }
            if !V::PATTERN {
                let a = eight_values::<W, V>(&values[p..], mask);
                w = if SCALED { W::eight_mul(a, w) } else { a };
            }
            acc = if V::PATTERN && !SCALED { W::eight_add(mask, acc, x) } else { W::eight_mul_add(mask, w, x, acc) };
            p += LANES;
        }
        fold_lanes(W::eight_array(acc))
    }
}

/// The first values, converted; zeros where there are none.
#[inline(always)]
#[expect(unsafe_code, reason = "a masked load")]
unsafe fn eight_values<W: Wide, V: Scalar>(values: &[V], mask: u8) -> W::Eight {
    if TypeId::of::<V>() == TypeId::of::<W>() {
        // SAFETY: V is W, and `mask` covers only values that exist (contract of the caller); AVX-512 is on.
        return unsafe { W::eight_load(mask, values.as_ptr().cast()) };
    }
    let mut buffer = [W::ZERO; LANES];
    for (slot, v) in buffer.iter_mut().zip(values) {
        *slot = v.to();
    }
    // SAFETY: the buffer has eight elements; AVX-512 is on (contract of the caller).
    unsafe { W::eight_load(0xff, buffer.as_ptr()) }
}

/// A number type with 512-bit vectors and vectors of eight.
///
/// # Safety
/// All functions need the instructions of `Level::Avx512`, and pointers to as many elements as they touch.
#[expect(unsafe_code, reason = "wraps instructions")]
trait Wide: Real {
    type Vector: Copy;
    type Eight: Copy;
    type Mask: Copy;
    const LANES: usize;
    /// The first `n` ≤ LANES lanes.
    fn mask(n: usize) -> Self::Mask;
    unsafe fn zero() -> Self::Vector;
    unsafe fn splat(self) -> Self::Vector;
    unsafe fn load(at: *const Self) -> Self::Vector;
    unsafe fn load_masked(mask: Self::Mask, at: *const Self) -> Self::Vector;
    unsafe fn store(at: *mut Self, v: Self::Vector);
    unsafe fn store_masked(mask: Self::Mask, at: *mut Self, v: Self::Vector);
    unsafe fn wide_add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn wide_mul_add(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    unsafe fn eight_zeros() -> Self::Eight;
    unsafe fn eight_ones() -> Self::Eight;
    unsafe fn eight_load(mask: u8, at: *const Self) -> Self::Eight;
    unsafe fn gather(mask: u8, index: __m256i, from: *const Self) -> Self::Eight;
    unsafe fn eight_mul(a: Self::Eight, b: Self::Eight) -> Self::Eight;
    /// acc + x in the lanes of the mask, acc elsewhere.
    unsafe fn eight_add(mask: u8, acc: Self::Eight, x: Self::Eight) -> Self::Eight;
    /// w · x + acc in the lanes of the mask, acc elsewhere.
    unsafe fn eight_mul_add(mask: u8, w: Self::Eight, x: Self::Eight, acc: Self::Eight) -> Self::Eight;
    unsafe fn eight_array(v: Self::Eight) -> [Self; LANES];
}

macro_rules! wide {
    ($t:ident: $vector:ident, $mask:ident, $lanes:literal, $eight:ident,
     $zero:ident $splat:ident $load:ident $loadm:ident $store:ident $storem:ident $add:ident $fma:ident,
     $ezero:ident $esplat:ident $eload:ident $estore:ident $emul:ident $eadd:ident $efma:ident, $gather:expr) => {
        #[expect(unsafe_code, reason = "wraps instructions")]
        impl Wide for $t {
            type Vector = $vector;
            type Eight = $eight;
            type Mask = $mask;
            const LANES: usize = $lanes;
            #[inline(always)]
            fn mask(n: usize) -> $mask {
                $mask::MAX >> ($lanes - n.clamp(1, $lanes))
            }
            #[inline(always)]
            unsafe fn zero() -> $vector {
                // SAFETY: contract of the trait; so below.
                unsafe { $zero() }
            }
            #[inline(always)]
            unsafe fn splat(self) -> $vector {
                // SAFETY: contract of the trait.
                unsafe { $splat(self) }
            }
            #[inline(always)]
            unsafe fn load(at: *const $t) -> $vector {
                // SAFETY: contract of the trait.
                unsafe { $load(at) }
            }
            #[inline(always)]
            unsafe fn load_masked(mask: $mask, at: *const $t) -> $vector {
                // SAFETY: contract of the trait.
                unsafe { $loadm(mask, at) }
            }
            #[inline(always)]
            unsafe fn store(at: *mut $t, v: $vector) {
                // SAFETY: contract of the trait.
                unsafe { $store(at, v) }
            }
            #[inline(always)]
            unsafe fn store_masked(mask: $mask, at: *mut $t, v: $vector) {
                // SAFETY: contract of the trait.
                unsafe { $storem(at, mask, v) }
            }
            #[inline(always)]
            unsafe fn wide_add(a: $vector, b: $vector) -> $vector {
                // SAFETY: contract of the trait.
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            unsafe fn wide_mul_add(a: $vector, b: $vector, c: $vector) -> $vector {
                // SAFETY: contract of the trait.
                unsafe { $fma(a, b, c) }
            }
            #[inline(always)]
            unsafe fn eight_zeros() -> $eight {
                // SAFETY: contract of the trait.
                unsafe { $ezero() }
            }
            #[inline(always)]
            unsafe fn eight_ones() -> $eight {
                // SAFETY: contract of the trait.
                unsafe { $esplat(1.0) }
            }
            #[inline(always)]
            unsafe fn eight_load(mask: u8, at: *const $t) -> $eight {
                // SAFETY: contract of the trait.
                unsafe { $eload(mask, at) }
            }
            #[inline(always)]
            unsafe fn gather(mask: u8, index: __m256i, from: *const $t) -> $eight {
                // SAFETY: contract of the trait.
                unsafe { $gather(mask, index, from) }
            }
            #[inline(always)]
            unsafe fn eight_mul(a: $eight, b: $eight) -> $eight {
                // SAFETY: contract of the trait.
                unsafe { $emul(a, b) }
            }
            #[inline(always)]
            unsafe fn eight_add(mask: u8, acc: $eight, x: $eight) -> $eight {
                // SAFETY: contract of the trait.
                unsafe { $eadd(acc, mask, acc, x) }
            }
            #[inline(always)]
            unsafe fn eight_mul_add(mask: u8, w: $eight, x: $eight, acc: $eight) -> $eight {
                // SAFETY: contract of the trait.
                unsafe { $efma(w, x, acc, mask) }
            }
            #[inline(always)]
            unsafe fn eight_array(v: $eight) -> [$t; LANES] {
                let mut out = [0.0; LANES];
                // SAFETY: the array has eight elements.
                unsafe { $estore(out.as_mut_ptr(), v) };
                out
            }
        }
    };
}

wide!(f32: __m512, __mmask16, 16, __m256,
    _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_maskz_loadu_ps
    _mm512_storeu_ps _mm512_mask_storeu_ps _mm512_add_ps _mm512_fmadd_ps,
    _mm256_setzero_ps _mm256_set1_ps _mm256_maskz_loadu_ps _mm256_storeu_ps
    _mm256_mul_ps _mm256_mask_add_ps _mm256_mask3_fmadd_ps,
    |mask, index, from| _mm256_mmask_i32gather_ps::<4>(_mm256_setzero_ps(), mask, index, from));
wide!(f64: __m512d, __mmask8, 8, __m512d,
    _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_maskz_loadu_pd
    _mm512_storeu_pd _mm512_mask_storeu_pd _mm512_add_pd _mm512_fmadd_pd,
    _mm512_setzero_pd _mm512_set1_pd _mm512_maskz_loadu_pd _mm512_storeu_pd
    _mm512_mul_pd _mm512_mask_add_pd _mm512_mask3_fmadd_pd,
    |mask, index, from| _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), mask, index, from));
