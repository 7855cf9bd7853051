//! One element at a time: the slow twin of everything that executes scalar code.

use super::{Binary, Compare, Const, Instr, Unary};
use crate::dtype::{Dtype, Scalar};
use half::{bf16, f16};
use sapwood_skeleton::math::Real;

/// Values of all instructions of `code` for the operands `args`.
pub fn eval(code: &[(Instr, Scalar)], args: &[Const]) -> Vec<Const> {
    let mut values: Vec<Const> = Vec::with_capacity(code.len());
    for &(instr, kind) in code {
        let at = |e: super::ScalarExpr| values[e.0 as usize];
        let value = match instr {
            Instr::Arg(i) => args[i as usize],
            Instr::Const(c) => c,
            Instr::Unary(op, a) => unary(op, at(a)),
            Instr::Binary(op, a, b) => binary(op, at(a), at(b)),
            Instr::Compare(op, a, b) => Const::from(compare(op, at(a), at(b))),
            Instr::Select(c, a, b) => at(if at(c).bits() != 0 { a } else { b }),
            Instr::Fma(a, b, c) => match kind {
                Scalar::F32 => Const::from(f32_of(at(a)).mul_add(f32_of(at(b)), f32_of(at(c)))),
                _ => Const::from(at(a).to_f64().mul_add(at(b).to_f64(), at(c).to_f64())),
            },
            Instr::Convert(a) => convert(at(a), kind),
            Instr::Narrow(d, a) => narrow(at(a), d),
        };
        values.push(value);
    }
    values
}

fn f32_of(c: Const) -> f32 {
    f32::from_bits(c.bits() as u32)
}

fn float<T: Real>(op: Unary, x: T, whole: fn(Unary, f64) -> f64) -> T {
    match op {
        Unary::Neg => -x,
        Unary::Abs => x.abs(),
        Unary::Sqrt => x.sqrt(),
        Unary::Exp => x.exp(),
        Unary::Ln => x.ln(),
        _ => T::from_f64(whole(op, x.to_f64())),
    }
}

fn whole(op: Unary, x: f64) -> f64 {
    match op {
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::Round => x.round_ties_even(),
        Unary::Trunc => x.trunc(),
        _ => x,
    }
}

fn unary(op: Unary, a: Const) -> Const {
    match (a.kind(), op) {
        (Scalar::F32, _) => Const::from(float(op, f32_of(a), whole)),
        (Scalar::F64, _) => Const::from(float(op, a.to_f64(), whole)),
        (Scalar::Bool, Unary::Not) => Const::from(a.bits() == 0),
        (kind, Unary::Not) => Const::from_int(!a.to_int(), kind),
        (kind, Unary::Neg) => Const::from_int(-a.to_int(), kind),
        (kind, Unary::Abs) => Const::from_int(a.to_int().abs(), kind),
        _ => a,
    }
}

fn float_binary<T: Real>(op: Binary, a: T, b: T) -> T {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Rem => T::from_f64(a.to_f64() % b.to_f64()),
        Binary::Max => a.max_nan(b),
        Binary::Min => -((-a).max_nan(-b)),
        _ => a,
    }
}

fn binary(op: Binary, a: Const, b: Const) -> Const {
    let kind = a.kind();
    let (x, y) = (a.to_int(), b.to_int());
    match (kind, op) {
        (Scalar::F32, _) => Const::from(float_binary(op, f32_of(a), f32_of(b))),
        (Scalar::F64, _) => Const::from(float_binary(op, a.to_f64(), b.to_f64())),
        (_, Binary::Add) => Const::from_int(x + y, kind),
        (_, Binary::Sub) => Const::from_int(x - y, kind),
        (_, Binary::Mul) => Const::from_int(x.wrapping_mul(y), kind),
        (_, Binary::Div) => Const::from_int(if y == 0 { 0 } else { x / y }, kind),
        (_, Binary::Rem) => Const::from_int(if y == 0 { 0 } else { x % y }, kind),
        (_, Binary::Max) => Const::from_int(x.max(y), kind),
        (_, Binary::Min) => Const::from_int(x.min(y), kind),
        (_, Binary::And) => Const::from_int(x & y, kind),
        (_, Binary::Or) => Const::from_int(x | y, kind),
        (_, Binary::Xor) => Const::from_int(x ^ y, kind),
    }
}

fn ordered<T: PartialOrd>(op: Compare, a: &T, b: &T) -> bool {
    match op {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Lt => a < b,
        Compare::Le => a <= b,
        Compare::Gt => a > b,
        Compare::Ge => a >= b,
    }
}

fn compare(op: Compare, a: Const, b: Const) -> bool {
    if a.kind().is_float() { ordered(op, &a.to_f64(), &b.to_f64()) } else { ordered(op, &a.to_int(), &b.to_int()) }
}

fn convert(a: Const, to: Scalar) -> Const {
    match (a.kind().is_float(), to.is_float()) {
        // From double to single directly; through f64 is exact the other way.
        (true, _) => Const::from_f64(a.to_f64(), to),
        (false, _) => Const::from_int(a.to_int(), to),
    }
}

fn narrow(a: Const, to: Dtype) -> Const {
    match to {
        Dtype::F16 => Const::from(f16::from_f32(f32_of(a)).to_f32()),
        Dtype::Bf16 => Const::from(bf16::from_f32(f32_of(a)).to_f32()),
        Dtype::F32 | Dtype::F64 => a,
        _ => Const::from_int(to.wrap(a.to_int()), a.kind()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ScalarBuilder;
    use super::*;

    #[test]
    fn equal_instructions_are_kept_once() {
        let mut b = ScalarBuilder::new();
        let x = b.arg(0, Scalar::F32);
        let (p, q) = (b.mul(x, x), b.mul(x, x));
        assert_eq!((p, b.code().len()), (q, 2));
        let zero = b.number(0.0, x);
        let minus = b.number(-0.0, x);
        assert_ne!(zero, minus);
    }

    #[test]
    fn arithmetic_follows_the_rules() {
        let two = |op, a: Const, b: Const| binary(op, a, b);
        assert_eq!(two(Binary::Add, 250u32.into(), u32::MAX.into()), Const::from(249u32));
        assert_eq!(two(Binary::Mul, i64::MAX.into(), i64::MAX.into()), Const::from(1i64));
        assert_eq!(two(Binary::Div, 7i32.into(), 0i32.into()), Const::from(0i32));
        assert_eq!(two(Binary::Max, (-0f32).into(), 0f32.into()), Const::from(0f32));
        assert_eq!(two(Binary::Min, 0f64.into(), (-0f64).into()), Const::from(-0f64));
        assert!(two(Binary::Min, f32::NAN.into(), 1f32.into()).to_f64().is_nan());
        assert!(compare(Compare::Ne, f64::NAN.into(), f64::NAN.into()));
        assert_eq!(convert(Const::from(-1.9f64), Scalar::I32), Const::from(-1i32));
        assert_eq!(convert(Const::from(-1i32), Scalar::U64), Const::from(u64::MAX));
        assert_eq!(narrow(Const::from(300i32), Dtype::I8), Const::from(44i32));
        assert_eq!(narrow(Const::from(2049f32), Dtype::F16), Const::from(2048f32));
    }
}
