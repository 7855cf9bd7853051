//! Composites against plain formulas in double precision, through the slow twin.

mod gradients;
mod losses;
mod norms;
mod reductions;

use super::*;
use crate::exec::cpu::Executable;
use crate::program::reference::narrow;
use crate::tensor::{Tensor, element, set_element};

const INF: f64 = f64::INFINITY;

pub(super) fn tensor(dtype: Dtype, shape: &[usize], values: &[f64]) -> Tensor {
    let mut t = Tensor::zeros(dtype, shape).unwrap();
    assert_eq!(t.len(), values.len());
    for (i, &v) in values.iter().enumerate() {
        set_element(dtype, t.bytes_mut(), i, v, v as i128);
    }
    t
}

/// A tensor of doubles.
pub(super) fn doubles(shape: &[usize], values: &[f64]) -> Tensor {
    tensor(Dtype::F64, shape, values)
}

/// Numbers that look random, in −2 … 2.
pub(super) fn noise(count: usize, seed: u64) -> Vec<f64> {
    let at = |i: u64| {
        (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed << 32).wrapping_mul(0xd134_2543_de82_ef95)
    };
    (0..count as u64).map(|i| (at(i) >> 40) as f64 / f64::from(1 << 22) - 2.0).collect()
}

/// The program of a text whose inputs are called a, b, c, … and whose outputs are all that `expr` binds.
fn program(expr: &str, inputs: &[Tensor]) -> Program {
    let names = ["a", "b", "c", "d", "e"];
    let declared: Vec<String> = inputs.iter().zip(names).map(|(t, n)| format!("input {n}: {t:?}\n")).collect();
    let outputs = (0..results(expr)).map(|i| format!("y{i}")).collect::<Vec<_>>().join(", ");
    Program::parse(&format!("program t\n{}{outputs} = {expr}\noutput {outputs}", declared.concat()), "t").unwrap()
}

/// Number of results of a call.
fn results(expr: &str) -> usize {
    match expr.split('(').next().unwrap_or_default() {
        "moments" | "cross_entropy" | "rms_norm_grad" => 2,
        "layer_norm_stats" | "layer_norm_grad" | "batch_norm_train" | "batch_norm_grad" => 3,
        _ => 1,
    }
}

/// All outputs of a call, as doubles.
pub(super) fn run(expr: &str, inputs: &[Tensor]) -> Vec<Vec<f64>> {
    let p = program(expr, inputs);
    let views: Vec<_> = inputs.iter().map(Tensor::view).collect();
    let numbers = |t: &Tensor| (0..t.len()).map(|i| element(t.dtype(), t.bytes(), i).0).collect();
    p.reference(&views).unwrap().iter().map(numbers).collect()
}

/// The only output.
pub(super) fn one(expr: &str, inputs: &[Tensor]) -> Vec<f64> {
    run(expr, inputs).remove(0)
}

/// Why a call is refused.
pub(super) fn refused(expr: &str, inputs: &[Tensor]) -> String {
    let mut p = Program::new("t");
    let operands: Vec<ValueId> =
        inputs.iter().enumerate().map(|(i, t)| p.input(&i.to_string(), t.dtype(), t.shape()).unwrap()).collect();
    p.composite(expr, &operands, Options::none()).unwrap_err().to_string()
}

/// Equal to 12 digits; NaN is NaN.
pub(super) fn close(got: &[f64], want: &[f64]) {
    let near = |(g, w): (&f64, &f64)| g == w || g.is_nan() && w.is_nan() || (g - w).abs() <= 1e-12 * (1.0 + w.abs());
    assert!(got.len() == want.len() && got.iter().zip(want).all(near), "{got:?}\nis not\n{want:?}");
}

/// To the six digits of the specification's values.
pub(super) fn six(got: &[f64], want: &[f64]) {
    let near = |(g, w): (&f64, &f64)| (g - w).abs() <= 1e-6 * w.abs();
    assert!(got.len() == want.len() && got.iter().zip(want).all(near), "{got:?}\nis not\n{want:?}");
}

/// Executions in narrow types, plain and by the executor, stay inside the reference's bounds.
pub(super) fn narrow_too(expr: &str, inputs: &[Tensor]) {
    let numbers = |t: &Tensor| (0..t.len()).map(|i| element(t.dtype(), t.bytes(), i).0).collect::<Vec<f64>>();
    let runtime = sapwood_skeleton::Runtime::threads(1).unwrap();
    for dtype in [Dtype::F32, Dtype::F16, Dtype::Bf16] {
        let own = |t: &Tensor| if t.dtype().is_float() { dtype } else { t.dtype() };
        let narrowed: Vec<Tensor> = inputs.iter().map(|t| tensor(own(t), t.shape(), &numbers(t))).collect();
        let p = program(expr, &narrowed);
        assert_eq!(Program::parse(&p.to_string(), expr).unwrap().to_string(), p.to_string());
        let views: Vec<_> = narrowed.iter().map(Tensor::view).collect();
        let mut executable = Executable::new(&crate::compile(&p, &crate::Options::default()).unwrap()).unwrap();
        for outputs in [narrow::execute(&p, &views), executable.run(runtime.exec(), &views).unwrap()] {
            let checks = p.compare(&views, &outputs).unwrap();
            let tight = 200.0 * dtype.unit_roundoff().max(1e-5);
            assert!(checks.iter().all(|c| c.ok && c.bound < tight), "{expr} {dtype} {checks:?}");
        }
    }
}

#[test]
fn every_composite_is_registered_once() {
    let names: Vec<&str> = ALL.iter().flat_map(|file| file.iter()).map(|c| c.name).collect();
    for (i, name) in names.iter().enumerate() {
        assert!(!names[..i].contains(name) && crate::elementwise::find(name).is_none(), "{name}");
        assert!(*name == "moments" || crate::monoids::find(name).is_none(), "{name}");
    }
    let source = include_str!("../mod.rs");
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/composites")).unwrap() {
        let file = file.unwrap().file_name().into_string().unwrap();
        let Some(name) = file.strip_suffix(".rs") else { continue };
        let shared = ["mod", "normalise", "options"].contains(&name);
        assert!(shared || source.contains(&format!("    {name}::OPS,")), "{file} is not in ALL");
    }
}

#[test]
fn unknown_options_and_types_are_refused() {
    let (x, n) = (doubles(&[2, 3], &[0.0; 6]), tensor(Dtype::I32, &[2, 3], &[0.0; 6]));
    let text =
        |expr: &str| Program::parse(&format!("program t input a: f64[2, 3] y = {expr}"), "t").unwrap_err().to_string();
    assert!(text("layer_norm(a, epsilon=1)").contains("no option 'epsilon'"));
    assert!(text("layer_norm(a, axis=2)").contains("axis 2"));
    assert!(text("group_norm(a, groups=2)").contains("do not divide"));
    assert!(text("lp_norm(a, p=3)").contains("order 1 and 2"));
    assert!(text("nll_loss(a, iota(shape=[2]), reduction=3)").contains("not 3"));
    assert!(text("nll_loss(a, iota(shape=[3]))").contains("labels of shape [3]"));
    assert!(text("cross_entropy_grad(a, sum(a, axes=[1]))").contains("whole numbers"));
    assert!(text("layer_norm(a, reshape(a, shape=[1,2,3]))").contains("would widen"));
    for file in ALL {
        for c in
            file.iter().filter(|c| c.operands.0 == 1 && !["mean", "l1", "sumsq", "global_max_pool"].contains(&c.name))
        {
            assert!(refused(c.name, std::slice::from_ref(&n)).contains("does not take i32"), "{}", c.name);
            assert!(refused(c.name, &[]).contains("operands"), "{}", c.name);
        }
    }
    assert!(refused("mse", &[x.clone(), n]).contains("cast one of them"));
}
