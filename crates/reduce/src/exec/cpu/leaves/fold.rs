//! Operators whose accumulator is one number and whose combination is one operation: sum, product, maximum, …

use super::{Acc, Leaf, Tile};
use crate::dtype::Scalar;
use crate::monoids::{Params, ReduceOp};
use crate::scalar::{Binary, Instr, ScalarBuilder};
use crate::tree::LANES;
use sapwood_skeleton::isa;
use sapwood_skeleton::math::Real;

/// An associative operation on a type.
trait Operation<T> {
    /// Changes no other value.
    const IDENTITY: T;
    fn of(a: T, b: T) -> T;
}

macro_rules! identity {
    (zero f32) => {
        -0.0
    };
    (zero f64) => {
        -0.0
    };
    (zero $t:ident) => {
        0
    };
    (one f32) => {
        1.0
    };
    (one f64) => {
        1.0
    };
    (one $t:ident) => {
        1
    };
    (least f32) => {
        f32::NEG_INFINITY
    };
    (least f64) => {
        f64::NEG_INFINITY
    };
    (least $t:ident) => {
        $t::MIN
    };
    (greatest f32) => {
        f32::INFINITY
    };
    (greatest f64) => {
        f64::INFINITY
    };
    (greatest $t:ident) => {
        $t::MAX
    };
}

macro_rules! operations {
    ($($name:ident<$($t:ident),*>: $identity:ident, |$a:ident, $b:ident| $e:expr;)*) => {
        $(struct $name;
        $(impl Operation<$t> for $name {
            const IDENTITY: $t = identity!($identity $t);
            #[inline(always)]
            fn of($a: $t, $b: $t) -> $t {
                $e
            }
        })*)*
    };
}

operations! {
    Add<f32, f64>: zero, |a, b| a + b;
    Mul<f32, f64>: one, |a, b| a * b;
    Max<f32, f64>: least, |a, b| a.max_nan(b);
    Min<f32, f64>: greatest, |a, b| -(-a).max_nan(-b);
    AddInt<i32, u32, i64, u64>: zero, |a, b| a.wrapping_add(b);
    MulInt<i32, u32, i64, u64>: one, |a, b| a.wrapping_mul(b);
    MaxInt<i32, u32, i64, u64>: least, |a, b| a.max(b);
    MinInt<i32, u32, i64, u64>: greatest, |a, b| a.min(b);
    And<u8>: one, |a, b| a & b;
    Or<u8>: zero, |a, b| a | b;
}

#[derive(Debug)]
struct Fold {
    op: Binary,
    parts: [Scalar; 1],
}

/// Recognises operators that take elements as they are and combine two by one operation.
pub(super) fn leaf(op: &dyn ReduceOp, params: &Params, x: Scalar) -> Option<Box<dyn Leaf>> {
    if op.two_pass().is_some() || op.parts(x, params) != [x] {
        return None;
    }
    let mut b = ScalarBuilder::new();
    let (l, r) = (b.arg(0, x), b.arg(1, x));
    if op.lift(&mut b, params, l, r) != [l] {
        return None;
    }
    let [result] = op.combine(&mut b, params, &[l], &[r])[..] else { return None };
    match b.code().get(result.0 as usize)?.0 {
        Instr::Binary(op, a, c) if (a, c) == (l, r) => supported(op, x).then(|| Box::new(Fold { op, parts: [x] }) as _),
        _ => None,
    }
}

fn supported(op: Binary, x: Scalar) -> bool {
    use Binary::{Add, And, Max, Min, Mul, Or};
    if x == Scalar::Bool { matches!(op, And | Or) } else { matches!(op, Add | Mul | Max | Min) }
}

/// Calls `$run::<T, O>` for the type and operation of a leaf.
macro_rules! dispatch {
    ($self:expr, $run:ident $args:tt) => {
        dispatch!(@kinds $self, $run $args, F32 f32 Add Mul Max Min, F64 f64 Add Mul Max Min,
            I32 i32 AddInt MulInt MaxInt MinInt, U32 u32 AddInt MulInt MaxInt MinInt,
            I64 i64 AddInt MulInt MaxInt MinInt, U64 u64 AddInt MulInt MaxInt MinInt)
    };
    (@kinds $self:expr, $run:ident $args:tt, $($kind:ident $t:ident $add:ident $mul:ident $max:ident $min:ident),*) => {
        match ($self.parts[0], $self.op) {
            $((Scalar::$kind, Binary::Add) => $run::<$t, $add> $args,
            (Scalar::$kind, Binary::Mul) => $run::<$t, $mul> $args,
            (Scalar::$kind, Binary::Max) => $run::<$t, $max> $args,
            (Scalar::$kind, _) => $run::<$t, $min> $args,)*
            (Scalar::Bool, Binary::And) => $run::<u8, And> $args,
            (Scalar::Bool, _) => $run::<u8, Or> $args,
        }
    };
}

#[expect(unsafe_code, reason = "untyped memory")]
impl Leaf for Fold {
    fn parts(&self) -> &[Scalar] {
        &self.parts
    }

    unsafe fn rows(&self, x: &Tile, out: Acc, _: *mut u64) {
        // SAFETY: the contract of the trait.
        unsafe { dispatch!(self, rows(x, out)) }
    }

    unsafe fn columns(&self, x: &Tile, acc: Acc, fresh: bool, _: *mut u64) {
        // SAFETY: the contract of the trait.
        unsafe { dispatch!(self, columns(x, acc, fresh)) }
    }

    unsafe fn combine(&self, n: usize, acc: Acc, other: Acc, _: *mut u64) {
        // SAFETY: the contract of the trait.
        unsafe { dispatch!(self, combine(n, acc, other)) }
    }
}

/// Row r of a tile.
///
/// # Safety
/// The tile's memory holds it.
#[expect(unsafe_code, reason = "untyped memory")]
#[inline(always)]
pub(super) unsafe fn row<'a, T>(x: &Tile, r: usize) -> &'a [T] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(x.data.cast::<T>().add(r * x.stride), x.cols) }
}

/// # Safety
/// The contract of [`Leaf::rows`].
#[expect(unsafe_code, reason = "untyped memory")]
unsafe fn rows<T: Copy, O: Operation<T>>(x: &Tile, out: Acc) {
    // SAFETY: the contract; elements of `out` are apart from the tile.
    unsafe {
        let out = std::slice::from_raw_parts_mut(out.part(0).cast::<T>(), x.rows);
        isa::vectorized(
            #[inline(always)]
            || {
                for (r, out) in out.iter_mut().enumerate() {
                    let row = row::<T>(x, r);
                    *out = match row.len() {
                        0..=16 => short::<T, O, 16>(row),
                        17..=32 => short::<T, O, 32>(row),
                        33..=64 => short::<T, O, 64>(row),
                        65..=128 => short::<T, O, 128>(row),
                        _ => chunk::<T, O>(row),
                    };
                }
            },
        );
    }
}

/// One halving of lanes.
#[inline(always)]
fn halve<T: Copy, O: Operation<T>, const HALF: usize>(lanes: &mut [T]) {
    let (low, high) = lanes.split_at_mut(HALF);
    for i in 0..HALF {
        low[i] = O::of(low[i], high[i]);
    }
}

/// Folds `W` lanes (a power of two from 16 to 128) by halves.
#[inline(always)]
fn halves<T: Copy, O: Operation<T>, const W: usize>(lanes: &mut [T; W]) -> T {
    if W > 64 {
        halve::<T, O, 64>(&mut lanes[..]);
    }
    if W > 32 {
        halve::<T, O, 32>(&mut lanes[..]);
    }
    if W > 16 {
        halve::<T, O, 16>(&mut lanes[..]);
    }
    halve::<T, O, 8>(&mut lanes[..]);
    halve::<T, O, 4>(&mut lanes[..]);
    halve::<T, O, 2>(&mut lanes[..]);
    halve::<T, O, 1>(&mut lanes[..]);
    lanes[0]
}

/// The value of a row of at most `W` elements; absent lanes are the identity, which is as good as skipping them.
#[inline(always)]
fn short<T: Copy, O: Operation<T>, const W: usize>(x: &[T]) -> T {
    let mut lanes = [O::IDENTITY; W];
    let n = x.len().min(W);
    lanes[..n].copy_from_slice(&x[..n]);
    halves::<T, O, W>(&mut lanes)
}

/// The value of a row of more than 128 elements.
#[inline(always)]
fn chunk<T: Copy, O: Operation<T>>(x: &[T]) -> T {
    let mut lanes = [O::IDENTITY; LANES];
    let mut blocks = x.chunks_exact(LANES);
    if let Some(first) = blocks.next() {
        lanes.copy_from_slice(first);
    }
    for block in &mut blocks {
        for (a, &b) in lanes.iter_mut().zip(block) {
            *a = O::of(*a, b);
        }
    }
    for (a, &b) in lanes.iter_mut().zip(blocks.remainder()) {
        *a = O::of(*a, b);
    }
    halves::<T, O, LANES>(&mut lanes)
}

/// # Safety
/// The contract of [`Leaf::columns`].
#[expect(unsafe_code, reason = "untyped memory")]
unsafe fn columns<T: Copy, O: Operation<T>>(x: &Tile, acc: Acc, fresh: bool) {
    // SAFETY: the contract; the lanes are apart from the tile.
    unsafe {
        let acc = std::slice::from_raw_parts_mut(acc.part(0).cast::<T>(), x.cols);
        let mut r = usize::from(fresh);
        if fresh {
            acc.copy_from_slice(row(x, 0));
        }
        isa::vectorized(
            #[inline(always)]
            || {
                while r + 4 <= x.rows {
                    let [a, b, c, d]: [&[T]; 4] = std::array::from_fn(|i| row(x, r + i));
                    for ((((s, &a), &b), &c), &d) in acc.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                        *s = O::of(O::of(O::of(O::of(*s, a), b), c), d);
                    }
                    r += 4;
                }
                while r < x.rows {
                    acc.iter_mut().zip(row::<T>(x, r)).for_each(|(s, &a)| *s = O::of(*s, a));
                    r += 1;
                }
            },
        );
    }
}

/// # Safety
/// The contract of [`Leaf::combine`].
#[expect(unsafe_code, reason = "untyped memory")]
unsafe fn combine<T: Copy, O: Operation<T>>(n: usize, acc: Acc, other: Acc) {
    // SAFETY: the contract; the two are apart.
    unsafe {
        let acc = std::slice::from_raw_parts_mut(acc.part(0).cast::<T>(), n);
        let other = std::slice::from_raw_parts(other.part(0).cast::<T>().cast_const(), n);
        isa::vectorized(
            #[inline(always)]
            || acc.iter_mut().zip(other).for_each(|(a, &b)| *a = O::of(*a, b)),
        );
    }
}

/// Whether an operator has this leaf.
#[cfg(test)]
pub(super) fn is_recognised(op: &'static dyn ReduceOp, x: Scalar) -> bool {
    leaf(op, &Params::default(), x).is_some()
}
