//! Vector code has the bits of the scalar evaluation, for every instruction, type and length.

use super::*;
use crate::dtype::Dtype;
use crate::scalar::{Binary, ScalarBuilder, Unary, eval};

const KINDS: [Scalar; 7] = [Scalar::F32, Scalar::F64, Scalar::I32, Scalar::I64, Scalar::U32, Scalar::U64, Scalar::Bool];

/// Values worth trying, as many as asked for.
fn values(kind: Scalar, n: usize, seed: usize) -> Vec<Const> {
    let reals = [0.0, -0.0, 1.0, -1.5, 3.25, 1e-40, -7.75, 88.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.1, 1e9];
    let ints =
        [0i128, 1, -1, 7, 255, 256, -129, 70000, i128::from(i32::MIN), i128::from(i64::MAX), i128::from(u64::MAX)];
    (0..n)
        .map(|i| i * (seed + 1) + seed)
        .map(
            |i| {
                if kind.is_float() { Const::from_f64(reals[i % 13], kind) } else { Const::from_int(ints[i % 11], kind) }
            },
        )
        .collect()
}

fn pack(values: &[Const]) -> Vec<u64> {
    let size = values.first().map_or(1, |v| v.kind().dtype().bytes());
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.bits().to_le_bytes()[..size].to_vec()).collect();
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(&bytes);
    words
}

fn unpack(words: &[u64], kind: Scalar, n: usize) -> Vec<Const> {
    let size = kind.dtype().bytes();
    let bytes = &bytemuck::cast_slice::<u64, u8>(words)[..n * size];
    let bits = |c: &[u8]| c.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b));
    bytes.chunks(size).map(|c| Const::from_bits(bits(c), kind)).collect()
}

fn same(a: Const, b: Const) -> bool {
    a == b || a.kind().is_float() && a.to_f64().is_nan() && b.to_f64().is_nan()
}

/// Runs the code both ways on `n` elements; operands with an odd number are splat where `splat`.
#[expect(unsafe_code, reason = "calls the code under test")]
fn check(b: &ScalarBuilder, kinds: &[Scalar], results: &[ScalarExpr], n: usize, splat: bool) {
    let code = VectorCode::new(b.code(), results);
    let args: Vec<Vec<Const>> = kinds.iter().enumerate().map(|(i, &k)| values(k, n, i)).collect();
    let packed: Vec<Vec<u64>> = args.iter().map(|a| pack(a)).collect();
    let is_splat = |i: usize| splat && i % 2 == 1;
    let pointers: Vec<Arg> =
        packed.iter().enumerate().map(|(i, w)| Arg { data: w.as_ptr().cast(), splat: is_splat(i), step: 0 }).collect();
    let mut outs: Vec<Vec<u64>> = results.iter().map(|_| vec![0; n.max(1)]).collect();
    let out_pointers: Vec<*mut u8> = outs.iter_mut().map(|o| o.as_mut_ptr().cast()).collect();
    let mut scratch = vec![0u64; code.scratch()];
    // SAFETY: all vectors have n elements of at most eight bytes and are apart.
    unsafe { code.run(n, &pointers, &out_pointers, scratch.as_mut_ptr()) };
    for i in 0..n {
        let point: Vec<Const> = args.iter().enumerate().map(|(a, v)| v[if is_splat(a) { 0 } else { i }]).collect();
        let want = eval(b.code(), &point);
        for (r, out) in results.iter().zip(&outs) {
            let got = unpack(out, b.kind(*r), n)[i];
            assert!(same(got, want[r.0 as usize]), "{:?} of {point:?}: {got:?}", b.code()[r.0 as usize]);
        }
    }
}

#[test]
fn every_instruction_has_the_bits_of_eval() {
    use Unary::{Abs, Ceil, Exp, Floor, Ln, Neg, Not, Round, Sqrt, Trunc};
    for kind in KINDS {
        for n in [0, 1, 7, 33] {
            for splat in [false, true] {
                let mut b = ScalarBuilder::new();
                let (x, y, c) = (b.arg(0, kind), b.arg(1, kind), b.arg(2, Scalar::Bool));
                let mut results = vec![b.select(c, x, y), b.select(c, y, x)];
                let float = kind.is_float();
                for op in [Neg, Abs, Sqrt, Exp, Ln, Floor, Ceil, Round, Trunc, Not] {
                    let fits = if float { op != Not } else { op == Not || op == Neg && kind != Scalar::Bool };
                    if fits {
                        results.push(b.unary(op, x));
                    }
                }
                use Binary::{Add, And, Div, Max, Min, Mul, Or, Rem, Sub, Xor};
                for op in [Add, Sub, Mul, Div, Rem, Max, Min, And, Or, Xor] {
                    let bits = matches!(op, And | Or | Xor);
                    if bits != float && (bits || kind != Scalar::Bool) {
                        results.push(b.binary(op, x, y));
                    }
                }
                for op in [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge] {
                    results.push(b.compare(op, x, y));
                }
                results.extend(KINDS.iter().filter(|k| **k != kind).map(|&k| b.convert(x, k)).collect::<Vec<_>>());
                let narrow = Dtype::ALL.into_iter().filter(|d| d.is_narrow() && d.scalar() == kind);
                results.extend(narrow.map(|d| b.narrow(x, d)).collect::<Vec<_>>());
                if float {
                    for op in [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge] {
                        let zero = b.number(0.0, x);
                        let test = b.compare(op, y, zero);
                        results.push(b.select(test, x, y));
                    }
                    let third = b.arg(3, kind);
                    results.push(b.fma(x, y, third));
                }
                check(&b, &[kind, kind, Scalar::Bool, kind], &results, n, splat);
            }
        }
    }
}

#[test]
fn long_chains_reuse_temporaries_and_blocks() {
    let mut b = ScalarBuilder::new();
    let (x, y) = (b.arg(0, Scalar::F32), b.arg(1, Scalar::F32));
    let mut v = x;
    for i in 0..20 {
        let w = b.mul(v, y);
        v = if i % 3 == 0 { b.sub(w, x) } else { b.add(w, w) };
    }
    let five = b.number(5.0, x);
    let results = [v, x, five];
    let code = VectorCode::new(b.code(), &results);
    assert!(code.scratch() <= 3 * BLOCK, "{}", code.scratch());
    check(&b, &[Scalar::F32; 2], &results, 2 * BLOCK + 5, false);
    assert_eq!(VectorCode::new(b.code(), &[x]).scratch(), 0);
}
