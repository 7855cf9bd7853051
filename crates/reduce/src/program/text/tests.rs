//! What the text means, how it is refused, and that printing is the inverse of reading.

use super::*;
use crate::dtype::Dtype;
use crate::error::Error;
use crate::program::random::{self, Dice};
use crate::program::{Axes, Op};
use crate::tensor::Tensor;
use proptest::prelude::*;

fn read(body: &str) -> Result<Program> {
    Program::parse(&format!("program t\ninput x: f32[4, 6]\ninput h: f16[6]\n{body}"), "t.tp")
}

/// The statements of a text, without its first lines.
fn printed(body: &str) -> String {
    let text = read(body).unwrap().to_string();
    text.lines().skip(3).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_small_program_is_read() {
    let text = "program softmax # a comment\ninput x: f32[rows,64]\nm = max(x, axes=[-1], keep=true)\ne = exp(x - m)\n\
                y = e / sum(e, axes=[1], keep=true) output y, m";
    let bindings = BTreeMap::from([("rows".to_string(), 3)]);
    let p = Program::parse_bound(text, "s.tp", &bindings).unwrap();
    assert_eq!((p.name.as_str(), p.shape(p.inputs()[0])), ("softmax", &[3, 64][..]));
    assert_eq!(
        p.outputs().iter().map(|(n, v)| (n.as_str(), p.shape(*v).len())).collect::<Vec<_>>(),
        [("y", 2), ("m", 2)]
    );
    let unbound = Program::parse(text, "s.tp").unwrap_err();
    assert!(matches!(unbound, Error::Unbound { input, dim } if input == "x" && dim == "rows"));
    let more = BTreeMap::from([("rows".to_string(), 3), ("columns".to_string(), 3)]);
    let wrong = Program::parse_bound(text, "s.tp", &more).unwrap_err();
    assert!(matches!(&wrong, Error::Value { op, .. } if op.contains("columns")), "{wrong}");
}

#[test]
fn operators_bind_as_usual() {
    let want = "v2 = neg(x)\nv3 = mul(v2, x)\nv4 = add(x, v3)\nv5 = div(x, x)\nv6 = div(v5, x)\nv7 = sub(v4, v6)\n\
                y = lt(v7, x)\noutput y\n";
    assert_eq!(printed("y = x + -x * x - x / x / x < x output y"), want);
    assert_eq!(printed("y = (x + -x * x) - ((x / x) / x) < x output y"), want);
}

#[test]
fn numbers_take_the_type_of_their_neighbour() {
    let types = |body: &str| {
        let p = read(body).unwrap();
        p.nodes().iter().filter(|n| matches!(n.op, Op::Constant(_))).map(|n| p.dtype(n.outputs[0])).collect::<Vec<_>>()
    };
    assert_eq!(types("y = 2 * h"), [Dtype::F16]);
    assert_eq!(types("y = max(0, h) + 1e-5"), [Dtype::F16, Dtype::F16]);
    assert_eq!(types("y = 2 + 3"), [Dtype::F32, Dtype::F32]);
    assert_eq!(types("i = iota(shape=[2,3], axis=1, dtype=i64) y = -3 < i"), [Dtype::I64]);
    assert_eq!(types("y = where(h < 1, 0, h)"), [Dtype::F16, Dtype::F16]);
    assert_eq!(types("y = where(1, 0, h)"), [Dtype::Bool, Dtype::F16]);
    assert!(read("i = iota(shape=[2], dtype=i8) y = i + 1.5").unwrap_err().to_string().contains("1.5 is no i8"));
    assert!(read("i = iota(shape=[2], dtype=u8) y = i + 256").is_err());
}

#[test]
fn names_with_two_meanings_go_by_their_options() {
    assert!(printed("y = max(x, 0) output y").contains("y = max(x, v4)"));
    assert!(printed("y = max(x, axes=[1]) output y").contains("y = max(x, axes=[1])"));
    assert!(read("y = max(x)").unwrap_err().to_string().contains("takes 2 operands"));
    let moments = printed("m, v = moments(x, axes=[1]) output m, v");
    assert_eq!(moments.lines().next(), Some("m, v3 = mean_m2(x, axes=[1])"));
    assert!(moments.contains("v = div(v3, v6)"));
    let both = "a, b = topk(x, k=2, axis=0, largest=false)\nc = argmax(x, axes=[0], last=true)\n";
    assert!(
        printed(both).contains("v2, v3 = topk(x, k=2, largest=false, axis=0)\nv4 = argmax(x, axes=[0], last=true)")
    );
}

#[test]
fn shapes_are_arranged() {
    let p = read(
        "a = reshape(x, shape=[2,-1]) b = slice(x, starts=[1,0], ends=[4,6], steps=[2,1]) c = transpose(x, perm=[1,0])",
    )
    .unwrap();
    let shapes: Vec<&[usize]> = p.nodes()[2..].iter().map(|n| p.shape(n.outputs[0])).collect();
    assert_eq!(shapes, [&[2, 12][..], &[2, 6], &[6, 4]]);
    let strided = "program t input x: f32[64,128] strides [1,64] y = x + x output y";
    let p = Program::parse(strided, "").unwrap();
    assert!(matches!(&p.nodes()[0].op, Op::Input { strides, .. } if *strides == [1, 64]));
    assert!(p.to_string().contains("input x: f32[64, 128] strides [1, 64]\n"));
    for wrong in ["reshape(x, shape=[-1,-1])", "reshape(x, shape=[5,-1])", "reshape(x, shape=[0,-1])", "reshape(x)"] {
        assert!(read(&format!("y = {wrong}")).is_err(), "{wrong}");
    }
}

#[test]
fn faults_are_located() {
    for (body, line, column, says) in [
        ("y = x +", 4, 8, "a value is expected, not the end of the text"),
        ("y = x\n  z = é", 5, 7, "'é' means nothing here"),
        ("y = x + sum(q)", 4, 13, "nothing is called 'q'"),
        ("y = x\ny = x", 5, 1, "bound already"),
        ("x = h", 4, 1, "bound already"),
        ("y = x + h", 4, 7, "cast one of them"),
        ("y = exp(sum(x, axes=[2]))", 4, 9, "axis 2 is outside the tensor"),
        ("y = sum(x, bones=[2])", 4, 5, "no option 'bones'"),
        ("y = exp(x, axes=[1])", 4, 5, "no option 'axes'"),
        ("y = topk(x, k=0)", 4, 5, "at least 1"),
        ("y = topk(x, k=2)", 4, 5, "2 results for 1 names"),
        ("y = x + topk(x, k=2)", 4, 7, "name them first"),
        ("y = sum(axes=[1], x)", 4, 19, "before options"),
        ("y = swish(x)", 4, 5, "no such operation"),
        ("input y: f33[2]", 4, 10, "a type"),
        ("input y: f32[2", 4, 15, "',' is expected"),
        ("input y: f32[99999999999999999999]", 4, 14, "below 2^64"),
        ("input y: f32[9999999999,9999999999]", 4, 7, "passes 2^63"),
        ("input input: f32[2]", 4, 7, "the input's name"),
        ("output z", 4, 8, "nothing is called"),
        ("y = 2x", 4, 5, "'2x' is no number"),
        ("y = x y", 4, 8, "'=' is expected"),
        ("y = cast(x, to=true)", 4, 5, "to has to be a type"),
    ] {
        match read(body) {
            Err(Error::Text { origin, line: l, column: c, message }) => {
                assert!((origin.as_str(), l, c) == ("t.tp", line, column), "{body}: {l}:{c} {message}");
                assert!(message.contains(says), "{body}: {message}");
            }
            other => panic!("{body}: {other:?}"),
        }
    }
    assert!(Program::parse("", "t").is_err() && Program::parse("sum(x)", "t").is_err());
}

#[test]
fn depth_and_length_are_limited() {
    for (open, close) in [("(", ")"), ("-", ""), ("exp(", ")"), ("1+(", ")")] {
        let nested = |n: usize| format!("y = {}x{}", open.repeat(n), close.repeat(n));
        assert!(read(&nested(190)).is_ok(), "{open}");
        let deep = read(&nested(100_000)).unwrap_err();
        assert!(deep.to_string().contains("nested deeper"), "{deep}");
    }
    assert!(read(&" ".repeat(MAX_TEXT)).unwrap_err().to_string().contains("bytes"));
    let list = vec!["1"; MAX_LIST + 1].join(",");
    assert!(read(&format!("y = reshape(x, shape=[{list}])")).unwrap_err().to_string().contains("entries"));
}

/// The text without comments, which reading drops.
fn bare(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.split("  #").next().unwrap())).collect()
}

fn comes_back(p: &Program) {
    let once = p.to_string();
    let again = Program::parse(&once, "printed").unwrap_or_else(|e| panic!("{e}\n{once}"));
    assert_eq!(again.to_string(), bare(&once));
}

#[test]
fn every_number_prints_exactly() {
    let bits: [u64; 8] =
        [1, 0x3ff0_0000_0000_0001, 0x7fef_ffff_ffff_ffff, 1 << 63, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 42];
    for dtype in Dtype::ALL {
        let mut p = Program::new("n");
        for raw in bits {
            // Bytes of any type: the low ones of a bit pattern, turned so that every width varies.
            let bytes =
                raw.rotate_left(if dtype.bytes() < 8 { 64 - 32 + 8 * dtype.bytes() as u32 } else { 0 }).to_le_bytes();
            let mut tensor = Tensor::zeros(dtype, &[]).unwrap();
            tensor.bytes_mut().copy_from_slice(&bytes[..dtype.bytes()]);
            if dtype == Dtype::Bool {
                tensor.bytes_mut()[0] &= 1;
            }
            p.constant(tensor).unwrap();
        }
        let again = Program::parse(&p.to_string(), "n").unwrap();
        for (a, b) in p.nodes().iter().zip(again.nodes()) {
            let (Op::Constant(a), Op::Constant(b)) = (&a.op, &b.op) else { panic!() };
            let (x, y) = (crate::tensor::element(dtype, a.bytes(), 0), crate::tensor::element(dtype, b.bytes(), 0));
            assert!(a.bytes() == b.bytes() || x.0.is_nan() && y.0.is_nan(), "{dtype} {x:?} {y:?}");
        }
    }
}

#[test]
fn awkward_names_come_back() {
    let mut p = Program::new("9 lives");
    let x = p.input("layer/1:0", Dtype::F32, &[2]).unwrap();
    let y = p.input("layer_1_0", Dtype::F32, &[2]).unwrap();
    let z = p.call("add", &[x, y]).unwrap();
    p.reduce(&crate::monoids::SUM, Default::default(), z, &Axes::These(vec![]), false).unwrap();
    for (name, v) in [("output", z), ("v3", z), ("layer_1_0", x), ("nan", y), ("", z)] {
        p.output(name, v).unwrap();
    }
    comes_back(&p);
    assert!(p.to_string().contains("output output_, v3, layer_1_0, nan_, _\n"), "{p}");
    assert!(p.to_string().contains("sum(output_, axes=[], noop=true)"), "{p}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn printing_comes_back(bytes in prop::collection::vec(any::<u8>(), 8..80), ops in 1usize..20) {
        let p = random::program(&mut Dice::new(&bytes), ops, &Dtype::ALL);
        comes_back(&p);
    }

    #[test]
    fn mutated_texts_never_panic(bytes in prop::collection::vec(any::<u8>(), 8..40), cuts in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6)) {
        let mut text = random::program(&mut Dice::new(&bytes), 8, &Dtype::ALL).to_string().into_bytes();
        for (at, byte) in cuts {
            let at = usize::from(at) % text.len();
            if byte < 128 { text[at] = byte } else { text.truncate(at.max(1)) }
        }
        let _ = Program::parse(&String::from_utf8_lossy(&text), "mutated");
    }
}
