//! What the reference says, and that executions in narrow types stay inside its bounds.

use super::*;
use crate::dtype::Dtype;
use crate::monoids::{self, NanPolicy, Params};
use crate::program::Axes;
use crate::program::random::{self, Dice};
use crate::tensor::set_element;
use narrow::execute;
use proptest::prelude::*;

const INF: f64 = f64::INFINITY;

/// A tensor with the given numbers.
fn tensor(dtype: Dtype, shape: &[usize], values: &[f64]) -> Tensor {
    let mut t = Tensor::zeros(dtype, shape).unwrap();
    for (i, &v) in values.iter().enumerate() {
        set_element(dtype, t.bytes_mut(), i, v, v as i128);
    }
    t
}

/// The `hash` fill of the goldens, scaled.
fn hash(dtype: Dtype, shape: &[usize], scale: f64) -> Tensor {
    let count: usize = shape.iter().product();
    let h = |i: usize| (i as u64).wrapping_mul(2_654_435_761) as u32 >> 8;
    let value =
        |i| if dtype.is_float() { (f64::from(h(i)) / 16_777_216.0 - 0.5) * scale } else { f64::from(h(i) % 251) };
    tensor(dtype, shape, &(0..count).map(value).collect::<Vec<_>>())
}

/// Values and errors of every output of a text with inputs x, ….
fn values(text: &str, inputs: &[&Tensor]) -> Result<Vec<Bounded>> {
    let p = Program::parse(&format!("program t {text}"), "t")?;
    p.reference_bounded(&inputs.iter().map(|t| t.view()).collect::<Vec<_>>())
}

/// The single output of a text with the input x, as numbers.
fn of(text: &str, x: &Tensor) -> Vec<f64> {
    let text = format!("input x: {x:?} y = {text} output y");
    let y = values(&text, &[x]).unwrap().remove(0);
    (0..y.len()).map(|i| y.element(i).float).collect()
}

#[test]
fn nothing_reduces_to_what_the_table_says() {
    let (f, i) = (Tensor::zeros(Dtype::F32, &[2, 0]).unwrap(), Tensor::zeros(Dtype::I8, &[2, 0]).unwrap());
    for (text, want) in [("sum", 0.0), ("prod", 1.0), ("max", -INF), ("min", INF), ("compensated", 0.0)] {
        assert_eq!(of(&format!("{text}(x, axes=[1])"), &f), [want, want], "{text}");
    }
    assert!(of("mean(x, axes=[1])", &f)[0].is_nan() && of("mean(x, axes=[0])", &f).is_empty());
    for (text, want) in [("sum", 0.0), ("prod", 1.0), ("max", -128.0), ("min", 127.0)] {
        assert_eq!(of(&format!("{text}(x, axes=[1])"), &i), [want, want], "{text}");
    }
    let b = Tensor::zeros(Dtype::Bool, &[0]).unwrap();
    assert_eq!([of("and(x, axes=[0])", &b), of("or(x, axes=[0])", &b)], [[1.0], [0.0]]);
    assert!(values("input x: f32[0] y = argmax(x, axes=[0]) output y", &[&f]).is_err());
}

#[test]
fn nan_and_zeros_follow_their_rules() {
    let x = tensor(Dtype::F32, &[5], &[1.0, f64::NAN, 3.0, f64::NAN, 3.0]);
    let run = |name: &str, nan: NanPolicy, last: bool| {
        let mut p = Program::new("t");
        let v = p.input("x", Dtype::F32, &[5]).unwrap();
        let params = Params { nan, last, ..Params::default() };
        let y = p.reduce(monoids::find(name).unwrap(), params, v, &Axes::All, false).unwrap()[0];
        p.output("y", y).unwrap();
        p.reference_bounded(&[x.view()]).unwrap()[0].element(0).float
    };
    assert!(run("max", NanPolicy::Propagate, false).is_nan() && run("min", NanPolicy::Propagate, false).is_nan());
    assert_eq!([run("max", NanPolicy::Ignore, false), run("min", NanPolicy::Ignore, false)], [3.0, 1.0]);
    let places =
        [NanPolicy::Propagate, NanPolicy::Ignore].map(|nan| [false, true].map(|last| run("argmax", nan, last)));
    assert_eq!(places, [[1.0, 3.0], [2.0, 4.0]]);
    let zeros = tensor(Dtype::F64, &[3], &[-0.0, 0.0, -0.0]);
    assert!(
        of("max(x, axes=[0])", &zeros)[0].is_sign_positive() && of("min(x, axes=[0])", &zeros)[0].is_sign_negative()
    );
    assert_eq!(of("argmax(x, axes=[0])", &zeros), [0.0]);
    assert_eq!(of("argmin(x, axes=[0], last=true)", &zeros), [2.0]);
    assert!(of("sum(x, axes=[0])", &tensor(Dtype::F32, &[2], &[-0.0; 2]))[0].is_sign_negative());
}

#[test]
fn topk_is_sorted_by_value_then_place() {
    let x = tensor(Dtype::F32, &[2, 5], &[1.0, 7.0, f64::NAN, 7.0, 2.0, 5.0, 5.0, 5.0, -1.0, INF]);
    let text = |rest: &str| format!("input x: f32[2, 5] a, b = topk(x, k=3{rest}) output a, b");
    let two = values(&text(""), &[&x]).unwrap();
    let rows = |b: &Bounded| (0..b.len()).map(|i| b.element(i).float).collect::<Vec<_>>();
    assert!(rows(&two[0])[0].is_nan());
    assert_eq!(rows(&two[0])[1..], [7.0, 7.0, INF, 5.0, 5.0]);
    assert_eq!(rows(&two[1]), [2.0, 1.0, 3.0, 4.0, 0.0, 1.0]);
    let low = values(&text(", largest=false"), &[&x]).unwrap();
    assert_eq!(rows(&low[1]), [2.0, 0.0, 4.0, 3.0, 0.0, 1.0]);
    let down = values("input x: f32[2, 5] a, b = topk(x, k=1, axis=0) output a, b", &[&x]).unwrap();
    assert_eq!((down[0].shape.as_slice(), rows(&down[1])), (&[1, 5][..], vec![1.0, 0.0, 0.0, 0.0, 1.0]));
}

#[test]
fn whole_numbers_wrap_and_are_exact() {
    let x = tensor(Dtype::I8, &[3], &[100.0, 100.0, 2.0]);
    assert_eq!([of("sum(x, axes=[0])", &x), of("prod(x, axes=[0])", &x)], [[-54.0], [32.0]]);
    assert_eq!(of("x * x", &x), [16.0, 16.0, 4.0]);
    assert_eq!(of("cast(x * 0 - 1, to=u64)", &x)[0], u64::MAX as f64);
    let most = Tensor::from_slice(Dtype::U64, &[3], &[u64::MAX; 3]).unwrap();
    let y = values("input x: u64[3] y = prod(x, axes=[0]) output y", &[&most]).unwrap();
    assert_eq!(y[0].values, Values::Ints(vec![i128::from(u64::MAX)]));
    let big = Tensor::from_slice(Dtype::I64, &[2], &[i64::MAX, 2]).unwrap();
    let y = values("input x: i64[2] y = sum(x, axes=[0]) + 5 output y", &[&big]).unwrap();
    assert_eq!(y[0].values, Values::Ints(vec![i128::from(i64::MIN) + 6]));
    let f = tensor(Dtype::F32, &[4], &[-1.9, 300.0, f64::NAN, 0.5]);
    assert_eq!(of("cast(x, to=i8)", &f), [-1.0, 44.0, 0.0, 0.0]);
    assert_eq!(of("cast(x, to=bool)", &f), [1.0; 4]);
    // A quarter of the way: 3 x is not certain to pass 1 where 3 x = 1 within the errors.
    let third = tensor(Dtype::F32, &[1], &[1.0 / 3.0]);
    let y = values("input x: f32[1] y = cast(x * 3, to=i32) z = x * 3 < 0.5 output y, z", &[&third]).unwrap();
    assert_eq!([y[0].errors[0], y[1].errors[0]], [INF, 0.0]);
}

#[test]
fn choices_within_the_errors_are_unknown() {
    // x · 1.1 rounds, so that neighbouring numbers may change places.
    let x = tensor(Dtype::F32, &[3], &[1.5, 1.5 + 2f64.powi(-23), 0.5]);
    let text = |call: &str| format!("input x: f32[3] z = x * 1.1 y = {call} output y");
    let errors = |call: &str| values(&text(call), &[&x]).unwrap().remove(0).errors;
    assert_eq!(errors("argmax(z, axes=[0])"), [INF]);
    assert_eq!(errors("argmin(z, axes=[0])"), [0.0]);
    assert_eq!(errors("argmax(x, axes=[0])"), [0.0]);
    assert_eq!([errors("z < 1.65")[0], errors("z < 1.65")[2]], [INF, 0.0]);
    assert_eq!(errors("or(z < 1, axes=[0])"), [0.0]);
    assert_eq!(errors("and(slice(z, starts=[0], ends=[1]) < 1.65, axes=[0])"), [INF]);
    let either = errors("where(z < 1.65, x, x + 1)");
    assert!(either[0] >= 1.0 && either[0] < 1.1 && either[2] == 0.0, "{either:?}");
    let places = "input x: f32[3] v, y = topk(x * 1.1, k=3) output y";
    assert_eq!(values(places, &[&x]).unwrap()[0].errors, [INF, INF, 0.0]);
    assert_eq!(errors("1 / (z - z)"), [INF, INF, 0.0]);
}

#[test]
fn labels_are_checked() {
    let x = hash(Dtype::F32, &[2, 3], 1.0);
    let text = "input x: f32[2, 3] input l: i32[2] y = gather_label(x, l, axis=1) output y";
    let y = values(text, &[&x, &tensor(Dtype::I32, &[2], &[2.0, 0.0])]).unwrap().remove(0);
    let want = x.as_slice::<f32>();
    assert_eq!(y.values, Values::Floats(vec![f64::from(want[2]), f64::from(want[3])]));
    for bad in [3.0, -1.0] {
        let e = values(text, &[&x, &tensor(Dtype::I32, &[2], &[0.0, bad])]).unwrap_err().to_string();
        assert!(e.contains(&format!("label {bad} at place 1 is outside 0..3")), "{e}");
    }
}

#[test]
fn inputs_are_checked_and_may_be_strided() {
    let x = hash(Dtype::F32, &[2, 3], 1.0);
    let wrong = values("input x: f32[3, 2] output x", &[&x]).unwrap_err();
    assert!(matches!(wrong, Error::Input { name, .. } if name == "x"));
    assert!(
        values("input x: f64[2, 3] output x", &[&x]).is_err() && values("input x: f32[2, 3] output x", &[]).is_err()
    );
    let p = Program::parse("program t input x: f32[3, 2] y = x + 0 output y", "t").unwrap();
    let turned = TensorView::new(Dtype::F32, &[3, 2], &[1, 3], x.bytes()).unwrap();
    let y = p.reference(&[turned]).unwrap().remove(0);
    let (a, b) = (x.as_slice::<f32>(), y.as_slice::<f32>());
    assert_eq!(b, [a[0], a[3], a[1], a[4], a[2], a[5]]);
}

#[test]
fn the_bound_of_a_sum_is_gamma_of_its_depth() {
    let x = hash(Dtype::F32, &[4096], 1.0);
    let y = values("input x: f32[4096] y = sum(x, axes=[0]) output y", &[&x]).unwrap().remove(0);
    let size: f64 = x.as_slice::<f32>().iter().map(|v| f64::from(v.abs())).sum();
    let cu = 38.0 * 2f64.powi(-24);
    assert!((y.errors[0] - cu / (1.0 - cu) * size).abs() < 1e-12, "{:?}", y.errors);
    assert_eq!(y.element(0).float, 0.11197662353515625);
    // Two groups: twice the depth. Half precision: the accumulator's depth, and one rounding.
    let two =
        values("input x: f32[4,3,64] y = sum(x, axes=[0,2]) output y", &[&hash(Dtype::F32, &[4, 3, 64], 1.0)]).unwrap();
    let one =
        values("input x: f32[3,4,64] y = sum(x, axes=[1,2]) output y", &[&hash(Dtype::F32, &[3, 4, 64], 1.0)]).unwrap();
    assert!(two[0].errors[0] > 1.5 * one[0].errors[0]);
    let h = values("input x: f16[70000] y = mean(x) output y", &[&tensor(Dtype::F16, &[70000], &vec![1.0; 70000])])
        .unwrap();
    assert_eq!(h[0].element(0).float, 1.0);
    assert!(h[0].errors[0] < 6e-4, "{:?}", h[0].errors);
}

#[test]
fn overflow_is_infinite_or_unknown() {
    let x = tensor(Dtype::F32, &[3], &[3e38, 3e38, -3e38]);
    let y = values("input x: f32[3] y = x * 10 z = sum(x, axes=[0]) output y, z", &[&x]).unwrap();
    assert_eq!((y[0].values.clone(), &y[0].errors[..]), (Values::Floats(vec![INF, INF, -INF]), &[0.0; 3][..]));
    assert_eq!(y[1].errors, [INF]);
    let half = tensor(Dtype::F16, &[2], &[60000.0, 60000.0]);
    assert_eq!(of("sum(x, axes=[0])", &half), [INF]);
    assert_eq!(of("mean(x)", &half), [60000.0]);
}

#[test]
fn a_wrong_result_is_found() {
    let (x, n) = (hash(Dtype::F32, &[100], 4.0), hash(Dtype::I32, &[100], 1.0));
    let text =
        "program t input x: f32[100] input n: i32[100] y = sum(exp(x), axes=[0]) z = n + 1 w = log(x) output y, z, w";
    let p = Program::parse(text, "t").unwrap();
    let inputs = [x.view(), n.view()];
    let right = execute(&p, &inputs);
    let checks = p.compare(&inputs, &right).unwrap();
    assert!(checks.iter().all(|c| c.ok) && checks[0].bound > 0.0 && checks[1].bound == 0.0, "{checks:?}");
    let oks = |outputs: &[Tensor]| p.compare(&inputs, outputs).unwrap().iter().map(|c| c.ok).collect::<Vec<_>>();
    let mut wrong = right.clone();
    wrong[0].as_mut_slice::<f32>()[0] *= 1.00001;
    wrong[1].as_mut_slice::<i32>()[99] += 1;
    let nan = right[2].as_slice::<f32>().iter().position(|v| v.is_nan()).unwrap();
    wrong[2].as_mut_slice::<f32>()[nan] = 0.0;
    assert_eq!(oks(&wrong), [false; 3]);
    assert!(p.compare(&inputs, &right[1..]).is_err());
}

fn within(p: &Program, scale: f64) {
    let tensors: Vec<Tensor> = p.inputs().iter().map(|&v| hash(p.dtype(v), p.shape(v), scale)).collect();
    let views: Vec<_> = tensors.iter().map(Tensor::view).collect();
    let outputs = execute(p, &views);
    let checks = p.compare(&views, &outputs).unwrap();
    let wrong: Vec<_> = p.outputs().iter().zip(&checks).filter(|(_, c)| !c.ok).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{p}");
}

#[test]
fn underflow_halfway_stays_inside_the_bound() {
    let x: Vec<f64> = (0..256).map(|i| f64::from(i) - 128.0).collect();
    for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64] {
        let text = format!(
            "program t input x: {dtype}[256] a = silu(x) b = sigmoid(x) c = exp(x) d = tanh(x) output a, b, c, d"
        );
        let (p, x) = (Program::parse(&text, "t").unwrap(), tensor(dtype, &[256], &x));
        let checks = p.compare(&[x.view()], &execute(&p, &[x.view()])).unwrap();
        assert!(checks.iter().all(|c| c.ok), "{dtype} {checks:?}");
    }
}

#[test]
fn every_operator_stays_inside_its_bound() {
    for op in monoids::ALL {
        for dtype in Dtype::ALL.into_iter().filter(|d| op.accepts(*d)) {
            for (shape, axes) in [(&[5000][..], &[0][..]), (&[3, 130], &[1]), (&[33, 2, 7], &[0, 2]), (&[4, 1], &[1])] {
                for scale in [1.0, 30.0, 1e-3] {
                    let mut p = Program::new("t");
                    let x = p.input("x", dtype, shape).unwrap();
                    let is_topk = op.name() == "topk";
                    let (k, axes) = if is_topk { (1, vec![axes[0]]) } else { (0, axes.to_vec()) };
                    let made = p.reduce(*op, Params { k, ..Params::default() }, x, &Axes::These(axes), false).unwrap();
                    for (i, v) in made.into_iter().enumerate() {
                        p.output(&i.to_string(), v).unwrap();
                    }
                    within(&p, scale);
                }
            }
        }
    }
}

/// A name, and the number at each place.
type Pattern = (&'static str, fn(usize) -> f64);

/// Numbers whose sums round badly.
const PATTERNS: [Pattern; 6] = [
    ("cancelling", |i| [1e8, 1.0, -1e8][i % 3]),
    ("geometric", |i| 1.5f64.powi(i as i32 % 60 - 30)),
    ("rising", |i| i as f64 * 1.001),
    ("alternating", |i| if i % 2 == 0 { 1.0 + i as f64 / 7.0 } else { -1.0 - i as f64 / 7.0 }),
    ("far from zero", |i| 10000.0 + 0.1 * (i % 5) as f64),
    ("falling", |i| 1.0 / (1.0 + i as f64)),
];

#[test]
fn awkward_numbers_stay_inside_the_bounds() {
    for (name, pattern) in PATTERNS {
        let x = tensor(Dtype::F32, &[10_000], &(0..10_000).map(pattern).collect::<Vec<_>>());
        // Whole numbers of 2^-40 add exactly; none of these numbers needs finer ones to the last digit that counts here.
        let exact: i128 = x.as_slice::<f32>().iter().map(|v| (f64::from(*v) * 2f64.powi(40)) as i128).sum();
        for op in ["sum", "compensated", "mean_m2", "online", "max"] {
            let names = if ["mean_m2", "online"].contains(&op) { "y, z" } else { "y" };
            let text = format!("program t input x: f32[10000] {names} = {op}(x, axes=[0]) output {names}");
            let p = Program::parse(&text, "t").unwrap();
            let got = execute(&p, &[x.view()]);
            let checks = p.compare(&[x.view()], &got).unwrap();
            assert!(checks.iter().all(|c| c.ok), "{name} {op} {checks:?}");
            if ["sum", "compensated"].contains(&op) {
                let want = exact as f64 / 2f64.powi(40);
                let off = (f64::from(got[0].as_slice::<f32>()[0]) - want).abs();
                assert!(off <= checks[0].bound * 1.001 + 1e-7, "{name} {op}: {off} > {}", checks[0].bound);
            }
        }
    }
}

#[test]
fn two_forms_of_the_variance_share_their_bounds() {
    for (name, pattern) in PATTERNS {
        let x = tensor(Dtype::F32, &[10_000], &(0..10_000).map(pattern).collect::<Vec<_>>());
        let one = Program::parse("program t input x: f32[10000] m, y = moments(x) output y", "t").unwrap();
        let two = Program::parse("program t input x: f32[10000] y = mean(square(x - mean(x))) output y", "t").unwrap();
        let inputs = [x.view()];
        for (p, other) in [(&one, &two), (&two, &one)] {
            let check = p.compare(&inputs, &execute(other, &inputs)).unwrap();
            assert!(check[0].ok, "{name} {check:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn random_programs_stay_inside_their_bounds(bytes in prop::collection::vec(any::<u8>(), 8..80), ops in 1usize..14, floats in any::<bool>()) {
        let types = if floats { &Dtype::ALL[..4] } else { &Dtype::ALL };
        let mut p = random::program(&mut Dice::new(&bytes), ops, types);
        for v in 0..p.values() as u32 {
            p.output(&format!("v{v}"), ValueId(v)).unwrap();
        }
        within(&p, 4.0);
    }
}
