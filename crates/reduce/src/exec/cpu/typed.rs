//! The loops: one function per kind of instruction, over untyped memory whose type is told.
//!
//! Each loop is compiled for the instruction set in use, and computes what [`crate::scalar::eval`] computes for one element.

use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Binary, Compare, Const, Unary};
use half::{bf16, f16};
use sapwood_skeleton::isa;
use sapwood_skeleton::math::Real;

/// An operand of a loop.
#[derive(Debug, Clone, Copy)]
pub(super) enum In {
    /// Elements one after another.
    Vector(*const u8),
    /// One value for all.
    Splat(Const),
}

/// A register type as memory holds it.
trait Element: Copy + 'static {
    fn from_const(c: Const) -> Self;
}

macro_rules! elements {
    ($($t:ty: |$c:ident| $e:expr),* $(,)?) => {
        $(impl Element for $t {
            #[inline(always)]
            fn from_const($c: Const) -> Self {
                $e
            }
        })*
    };
}

elements! {
    f32: |c| f32::from_bits(c.bits() as u32),
    f64: |c| f64::from_bits(c.bits()),
    i32: |c| c.bits() as i32,
    u32: |c| c.bits() as u32,
    i64: |c| c.bits() as i64,
    u64: |c| c.bits(),
    u8: |c| c.bits() as u8,
}

/// Runs `$body` with `$T` the memory type of a register type.
macro_rules! with_type {
    ($kind:expr, $T:ident => $body:expr) => {
        match $kind {
            Scalar::F32 => {
                type $T = f32;
                $body
            }
            Scalar::F64 => {
                type $T = f64;
                $body
            }
            Scalar::I32 => {
                type $T = i32;
                $body
            }
            Scalar::I64 => {
                type $T = i64;
                $body
            }
            Scalar::U32 => {
                type $T = u32;
                $body
            }
            Scalar::U64 => {
                type $T = u64;
                $body
            }
            Scalar::Bool => {
                type $T = u8;
                $body
            }
        }
    };
}

/// An operand inside a loop. A trait and not a closure, so that it is always compiled with the loop.
trait Operand<T>: Copy {
    fn nth(self, i: usize) -> T;
}

/// Elements one after another. No slice: a check of the index would keep the loop from becoming vector code.
#[derive(Clone, Copy)]
struct Elements<T>(*const T);

#[expect(unsafe_code, reason = "untyped memory")]
impl<T: Copy> Operand<T> for Elements<T> {
    #[inline(always)]
    fn nth(self, i: usize) -> T {
        // SAFETY: loops run over as many elements as the operand has: the contract of this module's functions.
        unsafe { self.0.add(i).read() }
    }
}

/// One value for all elements.
#[derive(Clone, Copy)]
struct Same<T>(T);

impl<T: Copy> Operand<T> for Same<T> {
    #[inline(always)]
    fn nth(self, _: usize) -> T {
        self.0
    }
}

/// Runs `$body` with `$at` the operand: splat operands keep their loops free of loads.
macro_rules! operand {
    ($in:expr, $T:ty, |$at:ident| $body:expr) => {
        match $in {
            In::Vector(p) => {
                let $at = Elements(p.cast::<$T>());
                $body
            }
            In::Splat(c) => {
                let $at = Same(<$T>::from_const(c));
                $body
            }
        }
    };
}

/// out[i] = f(i), compiled for the instruction set in use.
#[inline(always)]
fn fill<R>(out: &mut [R], f: impl Fn(usize) -> R) {
    isa::vectorized(
        #[inline(always)]
        || out.iter_mut().enumerate().for_each(|(i, o)| *o = f(i)),
    );
}

/// The value at `data`.
///
/// # Safety
/// `data` points to an element of the type.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn load(kind: Scalar, data: *const u8) -> Const {
    // SAFETY: the caller's.
    unsafe {
        match kind {
            Scalar::F32 => Const::from(data.cast::<f32>().read()),
            Scalar::F64 => Const::from(data.cast::<f64>().read()),
            Scalar::I32 => Const::from(data.cast::<i32>().read()),
            Scalar::I64 => Const::from(data.cast::<i64>().read()),
            Scalar::U32 => Const::from(data.cast::<u32>().read()),
            Scalar::U64 => Const::from(data.cast::<u64>().read()),
            Scalar::Bool => Const::from(data.read() != 0),
        }
    }
}

/// Copies, or repeats a value.
///
/// # Safety
/// Here and below: vectors have `n` elements of the type, and `out` room for `n` that overlaps no operand.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn copy(kind: Scalar, n: usize, a: In, out: *mut u8) {
    with_type!(kind, T => {
        // SAFETY: the caller's.
        unsafe {
            let out = std::slice::from_raw_parts_mut(out.cast::<T>(), n);
            operand!(a, T, |at| fill(out, #[inline(always)] |i| at.nth(i)));
        }
    });
}

#[inline(always)]
fn float<T: Real>(op: Unary, n: usize, out: &mut [T], at: impl Operand<T>, whole: fn(Unary, T) -> T) {
    debug_assert_eq!(n, out.len());
    match op {
        Unary::Neg => fill(
            out,
            #[inline(always)]
            |i| -at.nth(i),
        ),
        Unary::Abs => fill(
            out,
            #[inline(always)]
            |i| at.nth(i).abs(),
        ),
        Unary::Sqrt => fill(
            out,
            #[inline(always)]
            |i| at.nth(i).sqrt(),
        ),
        Unary::Exp => fill(
            out,
            #[inline(always)]
            |i| at.nth(i).exp(),
        ),
        Unary::Ln => fill(
            out,
            #[inline(always)]
            |i| at.nth(i).ln(),
        ),
        _ => fill(
            out,
            #[inline(always)]
            |i| whole(op, at.nth(i)),
        ),
    }
}

macro_rules! whole {
    ($name:ident, $t:ty) => {
        fn $name(op: Unary, x: $t) -> $t {
            match op {
                Unary::Floor => x.floor(),
                Unary::Ceil => x.ceil(),
                Unary::Round => x.round_ties_even(),
                Unary::Trunc => x.trunc(),
                _ => x,
            }
        }
    };
}

whole!(whole_f32, f32);
whole!(whole_f64, f64);

macro_rules! int_unary {
    ($op:expr, $n:expr, $a:expr, $out:expr, $t:ty, $abs:expr) => {{
        let out = std::slice::from_raw_parts_mut($out.cast::<$t>(), $n);
        operand!($a, $t, |at| match $op {
            Unary::Neg => fill(
                out,
                #[inline(always)]
                |i| at.nth(i).wrapping_neg()
            ),
            Unary::Not => fill(
                out,
                #[inline(always)]
                |i| !at.nth(i)
            ),
            Unary::Abs => fill(
                out,
                #[inline(always)]
                |i| ($abs)(at.nth(i))
            ),
            _ => fill(
                out,
                #[inline(always)]
                |i| at.nth(i)
            ),
        })
    }};
}

/// An operation of one operand.
///
/// # Safety
/// See [`copy`].
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn unary(op: Unary, kind: Scalar, n: usize, a: In, out: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        match kind {
            Scalar::F32 => {
                let out = std::slice::from_raw_parts_mut(out.cast::<f32>(), n);
                operand!(a, f32, |at| float(op, n, out, at, whole_f32));
            }
            Scalar::F64 => {
                let out = std::slice::from_raw_parts_mut(out.cast::<f64>(), n);
                operand!(a, f64, |at| float(op, n, out, at, whole_f64));
            }
            Scalar::I32 => int_unary!(op, n, a, out, i32, i32::wrapping_abs),
            Scalar::I64 => int_unary!(op, n, a, out, i64, i64::wrapping_abs),
            Scalar::U32 => int_unary!(op, n, a, out, u32, |x| x),
            Scalar::U64 => int_unary!(op, n, a, out, u64, |x| x),
            Scalar::Bool => {
                let out = std::slice::from_raw_parts_mut(out, n);
                operand!(a, u8, |at| fill(
                    out,
                    #[inline(always)]
                    |i| if op == Unary::Not { at.nth(i) ^ 1 } else { at.nth(i) }
                ));
            }
        }
    }
}

#[inline(always)]
fn max<T: Real>(a: T, b: T) -> T {
    a.max_nan(b)
}

#[inline(always)]
fn min<T: Real>(a: T, b: T) -> T {
    -max(-a, -b)
}

#[inline(always)]
fn float_binary<T: Real>(op: Binary, out: &mut [T], a: impl Operand<T>, b: impl Operand<T>) {
    match op {
        Binary::Add => fill(
            out,
            #[inline(always)]
            |i| a.nth(i) + b.nth(i),
        ),
        Binary::Sub => fill(
            out,
            #[inline(always)]
            |i| a.nth(i) - b.nth(i),
        ),
        Binary::Mul => fill(
            out,
            #[inline(always)]
            |i| a.nth(i) * b.nth(i),
        ),
        Binary::Div => fill(
            out,
            #[inline(always)]
            |i| a.nth(i) / b.nth(i),
        ),
        Binary::Max => fill(
            out,
            #[inline(always)]
            |i| max(a.nth(i), b.nth(i)),
        ),
        Binary::Min => fill(
            out,
            #[inline(always)]
            |i| min(a.nth(i), b.nth(i)),
        ),
        Binary::Rem => fill(
            out,
            #[inline(always)]
            |i| T::from_f64(a.nth(i).to_f64() % b.nth(i).to_f64()),
        ),
        _ => fill(
            out,
            #[inline(always)]
            |i| a.nth(i),
        ),
    }
}

macro_rules! int_binary {
    ($op:expr, $n:expr, $ab:expr, $out:expr, $t:ty) => {{
        let out = std::slice::from_raw_parts_mut($out.cast::<$t>(), $n);
        let [a, b] = $ab;
        // Whole numbers are rarely in the way: one loop each, splat operands repeated by the closure.
        #[inline(always)]
        unsafe fn read(x: In, i: usize) -> $t {
            // SAFETY: the caller's: the vector has an element i.
            unsafe {
                match x {
                    In::Vector(p) => p.cast::<$t>().add(i).read(),
                    In::Splat(c) => <$t>::from_const(c),
                }
            }
        }
        match $op {
            Binary::Add => fill(
                out,
                #[inline(always)]
                |i| read(a, i).wrapping_add(read(b, i)),
            ),
            Binary::Sub => fill(
                out,
                #[inline(always)]
                |i| read(a, i).wrapping_sub(read(b, i)),
            ),
            Binary::Mul => fill(
                out,
                #[inline(always)]
                |i| read(a, i).wrapping_mul(read(b, i)),
            ),
            Binary::Div => fill(
                out,
                #[inline(always)]
                |i| if read(b, i) == 0 { 0 } else { read(a, i).wrapping_div(read(b, i)) },
            ),
            Binary::Rem => fill(
                out,
                #[inline(always)]
                |i| if read(b, i) == 0 { 0 } else { read(a, i).wrapping_rem(read(b, i)) },
            ),
            Binary::Max => fill(
                out,
                #[inline(always)]
                |i| read(a, i).max(read(b, i)),
            ),
            Binary::Min => fill(
                out,
                #[inline(always)]
                |i| read(a, i).min(read(b, i)),
            ),
            Binary::And => fill(
                out,
                #[inline(always)]
                |i| read(a, i) & read(b, i),
            ),
            Binary::Or => fill(
                out,
                #[inline(always)]
                |i| read(a, i) | read(b, i),
            ),
            Binary::Xor => fill(
                out,
                #[inline(always)]
                |i| read(a, i) ^ read(b, i),
            ),
        }
    }};
}

/// An operation of two operands.
///
/// # Safety
/// See [`copy`].
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn binary(op: Binary, kind: Scalar, n: usize, ab: [In; 2], out: *mut u8) {
    macro_rules! floats {
        ($t:ty) => {{
            let out = std::slice::from_raw_parts_mut(out.cast::<$t>(), n);
            operand!(ab[0], $t, |a| operand!(ab[1], $t, |b| float_binary(op, out, a, b)))
        }};
    }
    // SAFETY: the caller's.
    unsafe {
        match kind {
            Scalar::F32 => floats!(f32),
            Scalar::F64 => floats!(f64),
            Scalar::I32 => int_binary!(op, n, ab, out, i32),
            Scalar::I64 => int_binary!(op, n, ab, out, i64),
            Scalar::U32 => int_binary!(op, n, ab, out, u32),
            Scalar::U64 => int_binary!(op, n, ab, out, u64),
            Scalar::Bool => int_binary!(op, n, ab, out, u8),
        }
    }
}

#[inline(always)]
fn ordered<T: PartialOrd>(op: Compare, out: &mut [u8], a: impl Operand<T>, b: impl Operand<T>) {
    match op {
        Compare::Eq => fill(
            out,
            #[inline(always)]
            |i| u8::from(a.nth(i) == b.nth(i)),
        ),
        Compare::Ne => fill(
            out,
            #[inline(always)]
            |i| u8::from(a.nth(i) != b.nth(i)),
        ),
        Compare::Lt => fill(
            out,
            #[inline(always)]
            |i| u8::from(a.nth(i) < b.nth(i)),
        ),
        Compare::Le => fill(
            out,
            #[inline(always)]
            |i| u8::from(a.nth(i) <= b.nth(i)),
        ),
        Compare::Gt => fill(
            out,
            #[inline(always)]
            |i| u8::from(a.nth(i) > b.nth(i)),
        ),
        Compare::Ge => fill(
            out,
            #[inline(always)]
            |i| u8::from(a.nth(i) >= b.nth(i)),
        ),
    }
}

/// A comparison; the results are bytes 0 and 1.
///
/// # Safety
/// See [`copy`]; `kind` is the operands' type.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn compare(op: Compare, kind: Scalar, n: usize, ab: [In; 2], out: *mut u8) {
    with_type!(kind, T => {
        // SAFETY: the caller's.
        unsafe {
            let out = std::slice::from_raw_parts_mut(out, n);
            operand!(ab[0], T, |a| operand!(ab[1], T, |b| ordered::<T>(op, out, a, b)));
        }
    });
}

/// `yes` where the condition is not 0, else `no`.
///
/// # Safety
/// See [`copy`].
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn select(kind: Scalar, n: usize, condition: In, [yes, no]: [In; 2], out: *mut u8) {
    with_type!(kind, T => {
        // SAFETY: the caller's.
        unsafe {
            let out = std::slice::from_raw_parts_mut(out.cast::<T>(), n);
            operand!(condition, u8, |c| {
                operand!(yes, T, |a| operand!(no, T, |b| {
                    fill(out, #[inline(always)] |i| {
                        let (a, b) = (a.nth(i), b.nth(i));
                        if c.nth(i) != 0 { a } else { b }
                    })
                }))
            });
        }
    });
}

/// `yes` where the comparison of `a` and `b` holds, else `no`, in one loop.
///
/// # Safety
/// See [`copy`]; the type is f32 or f64.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn choose(op: Compare, kind: Scalar, n: usize, [a, b]: [In; 2], [yes, no]: [In; 2], out: *mut u8) {
    macro_rules! run {
        ($t:ty) => {{
            let out = std::slice::from_raw_parts_mut(out.cast::<$t>(), n);
            operand!(a, $t, |a| operand!(b, $t, |b| operand!(yes, $t, |yes| operand!(no, $t, |no| {
                match op {
                    Compare::Eq => fill(
                        out,
                        #[inline(always)]
                        |i| if a.nth(i) == b.nth(i) { yes.nth(i) } else { no.nth(i) },
                    ),
                    Compare::Ne => fill(
                        out,
                        #[inline(always)]
                        |i| if a.nth(i) != b.nth(i) { yes.nth(i) } else { no.nth(i) },
                    ),
                    Compare::Lt => fill(
                        out,
                        #[inline(always)]
                        |i| if a.nth(i) < b.nth(i) { yes.nth(i) } else { no.nth(i) },
                    ),
                    Compare::Le => fill(
                        out,
                        #[inline(always)]
                        |i| if a.nth(i) <= b.nth(i) { yes.nth(i) } else { no.nth(i) },
                    ),
                    Compare::Gt => fill(
                        out,
                        #[inline(always)]
                        |i| if a.nth(i) > b.nth(i) { yes.nth(i) } else { no.nth(i) },
                    ),
                    Compare::Ge => fill(
                        out,
                        #[inline(always)]
                        |i| if a.nth(i) >= b.nth(i) { yes.nth(i) } else { no.nth(i) },
                    ),
                }
            }))))
        }};
    }
    // SAFETY: the caller's.
    unsafe {
        match kind {
            Scalar::F32 => run!(f32),
            _ => run!(f64),
        }
    }
}

/// a · b + c, rounded once.
///
/// # Safety
/// See [`copy`]; the type is f32 or f64.
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn fma(kind: Scalar, n: usize, abc: [In; 3], out: *mut u8) {
    macro_rules! run {
        ($t:ty) => {{
            let out = std::slice::from_raw_parts_mut(out.cast::<$t>(), n);
            operand!(abc[0], $t, |a| operand!(abc[1], $t, |b| operand!(abc[2], $t, |c| {
                fill(
                    out,
                    #[inline(always)]
                    |i| a.nth(i).mul_add(b.nth(i), c.nth(i)),
                )
            })))
        }};
    }
    // SAFETY: the caller's.
    unsafe {
        match kind {
            Scalar::F32 => run!(f32),
            _ => run!(f64),
        }
    }
}

/// Conversion between register types.
///
/// # Safety
/// See [`copy`]; `a` has type `from`, `out` type `to`.
#[expect(unsafe_code, reason = "untyped memory")]
#[expect(clippy::unnecessary_cast, reason = "the table of types has the operand's own in it")]
pub(super) unsafe fn convert(from: Scalar, to: Scalar, n: usize, a: In, out: *mut u8) {
    with_type!(from, F => {
        // SAFETY: the caller's.
        unsafe {
            operand!(a, F, |at| match to {
                Scalar::F32 => fill(std::slice::from_raw_parts_mut(out.cast::<f32>(), n), #[inline(always)] |i| at.nth(i) as f32),
                Scalar::F64 => fill(std::slice::from_raw_parts_mut(out.cast::<f64>(), n), #[inline(always)] |i| at.nth(i) as f64),
                Scalar::I32 => fill(std::slice::from_raw_parts_mut(out.cast::<i32>(), n), #[inline(always)] |i| at.nth(i) as i32),
                Scalar::I64 => fill(std::slice::from_raw_parts_mut(out.cast::<i64>(), n), #[inline(always)] |i| at.nth(i) as i64),
                Scalar::U32 => fill(std::slice::from_raw_parts_mut(out.cast::<u32>(), n), #[inline(always)] |i| at.nth(i) as u32),
                Scalar::U64 => fill(std::slice::from_raw_parts_mut(out.cast::<u64>(), n), #[inline(always)] |i| at.nth(i) as u64),
                Scalar::Bool => {
                    let zero = F::from_const(Const::from_bits(0, from));
                    fill(std::slice::from_raw_parts_mut(out, n), #[inline(always)] |i| u8::from(at.nth(i) != zero));
                }
            });
        }
    });
}

/// Rounds to half precision, or wraps in a short whole-number type, inside a register type.
///
/// # Safety
/// See [`copy`].
#[expect(unsafe_code, reason = "untyped memory")]
pub(super) unsafe fn narrow(d: Dtype, kind: Scalar, n: usize, a: In, out: *mut u8) {
    macro_rules! run {
        ($t:ty, |$x:ident| $e:expr) => {{
            let out = std::slice::from_raw_parts_mut(out.cast::<$t>(), n);
            operand!(a, $t, |at| fill(
                out,
                #[inline(always)]
                |i| {
                    let $x = at.nth(i);
                    $e
                }
            ))
        }};
    }
    // SAFETY: the caller's.
    unsafe {
        match d {
            Dtype::F16 => run!(f32, |x| f16::from_f32(x).to_f32()),
            Dtype::Bf16 => run!(f32, |x| bf16::from_f32(x).to_f32()),
            Dtype::I8 => run!(i32, |x| i32::from(x as i8)),
            Dtype::I16 => run!(i32, |x| i32::from(x as i16)),
            Dtype::U8 => run!(u32, |x| u32::from(x as u8)),
            Dtype::U16 => run!(u32, |x| u32::from(x as u16)),
            _ => copy(kind, n, a, out),
        }
    }
}
