//! Reductions: what each operator means over one group of elements, and how far its tree may be from it.
//!
//! c is the depth of the canonical tree of the reduction's own form, and at most n − 1; γ_k = k u / (1 − k u) with the u of
//! the accumulator (Higham 2002, lemma 3.1). For the other symbols see each operator.

use super::bounded::{Bounded, Element, narrowed, smallest, times};
use super::{generic, order};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::monoids::{Empty, NanPolicy, Params, ReduceOp};
use crate::tensor::c_strides;

/// What the bound of a group depends on, beside its elements.
struct Tree {
    /// Type of the elements.
    dtype: Dtype,
    /// Type of the accumulator.
    wide: Dtype,
    /// Combinations below the result, at most.
    c: f64,
    /// Those of the reduction's form.
    depth: u64,
    /// Folds of lanes, each of which meets an element once: 8 for each level.
    folds: f64,
}

impl Tree {
    fn gamma(&self, k: f64) -> f64 {
        let ku = k * self.wide.unit_roundoff();
        if ku < 1.0 { ku / (1.0 - ku) } else { f64::INFINITY }
    }

    fn overflows(&self, size: f64) -> bool {
        self.wide.round(size).is_infinite() || size.is_nan()
    }

    /// What a result of composed operations may lose to underflow.
    fn underflow(&self) -> f64 {
        if self.wide == Dtype::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE }
    }
}

/// The outputs of a reduction, whose tree has depth `depth`.
pub(super) fn reduced(
    op: &dyn ReduceOp,
    params: &Params,
    axes: &[usize],
    x: &Bounded,
    outputs: Vec<(Dtype, &[usize])>,
    depth: u64,
) -> Result<Vec<Bounded>> {
    let kept: Vec<usize> = (0..x.shape.len()).filter(|a| !axes.contains(a)).collect();
    let (groups, members) = (places(&x.shape, &kept), places(&x.shape, axes));
    let c = depth.min((members.len() as u64).saturating_sub(1)) as f64;
    let tree = Tree { dtype: x.dtype, wide: x.dtype.scalar().dtype(), c, depth, folds: (8 * depth / 38) as f64 };
    let mut made: Vec<Vec<Element>> = Vec::with_capacity(groups.len());
    for &group in &groups {
        let elements: Vec<Element> = members.iter().map(|&m| x.element(group + m)).collect();
        made.push(if elements.is_empty() {
            nothing(op, params, x.dtype)?
        } else {
            results(op, params, &elements, &tree)
        });
    }
    // With k, one axis stays: the results of a group stand along it.
    let k = params.k.max(1);
    let inner: usize = if params.k > 0 { x.shape[axes[0] + 1..].iter().product() } else { 1 };
    let build = |(port, (dtype, shape)): (usize, (Dtype, &[usize]))| {
        Bounded::build(dtype, shape, |i| {
            let (outer, rank, within) = (i / inner / k, i / inner % k, i % inner);
            Ok(narrowed(made[outer * inner + within][port * k + rank], dtype))
        })
    };
    outputs.into_iter().enumerate().map(build).collect()
}

/// Places of the elements along `axes` (ascending), in C order.
fn places(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    let strides = c_strides(shape);
    axes.iter().fold(vec![0], |places, &axis| {
        places.iter().flat_map(|p| (0..shape[axis]).map(move |i| (p, i))).map(|(p, i)| p + i * strides[axis]).collect()
    })
}

/// Over no elements.
fn nothing(op: &dyn ReduceOp, params: &Params, dtype: Dtype) -> Result<Vec<Element>> {
    let Empty::Values(values) = op.empty(dtype, params) else {
        return Err(Error::value(op.name(), "empty axis: there is no answer over 0 elements"));
    };
    Ok(values.iter().map(|v| Element { float: v.to_f64(), int: v.to_int(), error: 0.0 }).collect())
}

fn results(op: &dyn ReduceOp, p: &Params, x: &[Element], tree: &Tree) -> Vec<Element> {
    let (dtype, is_float) = (tree.dtype, tree.dtype.is_float());
    let exact = || x.iter().all(|e| e.error == 0.0);
    let wrapped = |int: i128| vec![Element::of_int(dtype.wrap(int), exact())];
    match op.name() {
        "sum" if is_float => vec![sum(x, tree, tree.gamma(tree.c))],
        "sum" => wrapped(x.iter().fold(0, |s, e| dtype.wrap(s + e.int))),
        "prod" if is_float => vec![product(x, tree)],
        "prod" => wrapped(x.iter().fold(1, |s, e| dtype.wrap(s.wrapping_mul(e.int)))),
        "max" => vec![order::extreme(x, dtype, false, p)],
        "min" => vec![order::extreme(x, dtype, true, p)],
        "argmax" => vec![order::index(x, dtype, false, p)],
        "argmin" => vec![order::index(x, dtype, true, p)],
        "topk" => order::topk(x, dtype, p),
        "and" => vec![order::truth(x, false)],
        "or" => vec![order::truth(x, true)],
        "moments" => moments(x, tree),
        "online" => online(x, tree),
        "compensated" => {
            // The corrections Σ|e| ≤ γ_c Σ|x| are added with errors of their own (Ogita, Rump & Oishi 2005, prop. 4.5).
            let (u, c) = (tree.wide.unit_roundoff(), tree.c);
            let plain = sum(x, tree, tree.gamma(c) * tree.gamma(2.0 * c));
            vec![Element { error: plain.error + times(u, plain.float.abs()), ..plain }]
        }
        _ => generic::folded(op, p, x, tree.wide, tree.depth),
    }
}

/// Σ x with the errors that double precision makes, as two numbers (TwoSum, Knuth).
fn exactly(x: impl Iterator<Item = f64>) -> f64 {
    let (mut high, mut low) = (-0.0, 0.0);
    for x in x {
        let s: f64 = high + x;
        let seen = s - high;
        low += (high - (s - seen)) + (x - seen);
        high = s;
    }
    if low == 0.0 || !high.is_finite() || low.is_nan() { high } else { high + low }
}

/// Σ x: Σ err + γ Σ|x|.
fn sum(x: &[Element], tree: &Tree, gamma: f64) -> Element {
    let z = exactly(x.iter().map(|e| e.float));
    let passed: f64 = x.iter().map(|e| e.error).sum();
    let size: f64 = x.iter().map(|e| e.float.abs()).sum();
    if x.iter().any(|e| !e.float.is_finite()) {
        return Element::of_float(x.iter().map(|e| e.float).sum(), times(passed, f64::INFINITY));
    }
    if tree.overflows(size + passed) && z.abs() < size {
        return Element::of_float(z, f64::INFINITY);
    }
    let own = times(gamma, size + passed) + times(Dtype::F64.unit_roundoff(), z.abs());
    Element::of_float(z, passed + if tree.c == 0.0 { 0.0 } else { own })
}

/// Π x: |z| γ_2n, and Π (|x| + err) − Π |x| from the operands. A part of the product may overflow or underflow although the
/// whole does not.
fn product(x: &[Element], tree: &Tree) -> Element {
    let z: f64 = x.iter().map(|e| e.float).product();
    let largest: f64 = x.iter().map(|e| e.float.abs() + e.error).product();
    let passed = if x.iter().all(|e| e.error == 0.0) { 0.0 } else { largest - z.abs() };
    if !z.is_finite() || passed.is_nan() {
        let certain = passed == 0.0 && x.iter().any(|e| !e.float.is_finite());
        return Element::of_float(z, if certain { 0.0 } else { f64::INFINITY });
    }
    let up: f64 = x.iter().map(|e| (e.float.abs() + e.error).max(1.0)).product();
    let down: f64 = x.iter().map(|e| e.float.abs()).filter(|&a| a < 1.0 && a != 0.0).product();
    if tree.overflows(up) {
        return Element::of_float(z, f64::INFINITY);
    }
    let n = x.len() as f64;
    let lost = if down < tree.underflow() { n * smallest(tree.wide) * up } else { 0.0 };
    let own = if n > 1.0 { tree.gamma(2.0 * n) * (z.abs() + passed) + lost } else { 0.0 };
    Element::of_float(z, passed + own)
}

/// μ and M2 = Σ (x − μ)².
///
/// With A = max |x| and D = max |x − μ|: a merge rounds δ, w, the counts and the step (|δ w| ≤ 2 D) and the mean, and
/// weighs the errors of both sides, so err(μ) ≤ E = γ_{c+1} (A + 10 D). M2 adds n₁ w δ² in each merge: an error of 2 E in δ
/// adds 4 E Σ n₁ w |δ| ≤ 4 E √(Σ n₁ w) √M2 (Cauchy–Schwarz) and 4 E² Σ n₁ w, and n₁ w ≤ min(n₁, n₂) makes Σ n₁ w ≤ n for
/// each fold of lanes; a lane's own centre adds n E². The sums and products round by γ_{c+8} M2. From the operands:
/// err(μ) ≤ Σ err / n and err(M2) ≤ Σ 2 |x − μ| err + err². (The merge: Chan, Golub & LeVeque 1979; the bound is ours.)
fn moments(x: &[Element], tree: &Tree) -> Vec<Element> {
    let n = x.len() as f64;
    let mean = exactly(x.iter().map(|e| e.float)) / n;
    if x.iter().any(|e| !e.float.is_finite()) {
        let unknown = x.iter().any(|e| e.error > 0.0);
        // An infinite element may meet another one, or not: its mean is infinite or NaN, its deviation always NaN.
        let any = if unknown || !mean.is_nan() { f64::INFINITY } else { 0.0 };
        let nan = if unknown { f64::INFINITY } else { 0.0 };
        return vec![Element::of_float(mean, any), Element::of_float(f64::NAN, nan)];
    }
    let m2 = exactly(x.iter().map(|e| (e.float - mean).powi(2)));
    let largest = x.iter().fold(0.0, |a: f64, e| a.max(e.float.abs() + e.error));
    let spread = x.iter().fold(0.0, |d: f64, e| d.max((e.float - mean).abs() + e.error));
    let centre = tree.gamma(tree.c + 1.0) * (largest + 10.0 * spread);
    let merged = 4.0 * centre * (tree.folds * n * m2).sqrt() + (4.0 * tree.folds + 1.0) * n * centre * centre;
    let own = merged + tree.gamma(tree.c + 8.0) * (m2 + merged) + n * smallest(tree.wide);
    let (mean_passed, m2_passed) = x.iter().fold((0.0, 0.0), |(s, q), e| {
        (s + e.error / n, q + 2.0 * (e.float - mean).abs() * e.error + e.error * e.error)
    });
    if tree.overflows(n * spread * spread * 4.0) || tree.overflows(n * largest) {
        return vec![Element::of_float(mean, f64::INFINITY), Element::of_float(m2, f64::INFINITY)];
    }
    vec![Element::of_float(mean, mean_passed + centre), Element::of_float(m2, m2_passed + own)]
}

/// m = max x and s = Σ e^(x − m). A merge rounds an exponential (4 ulp and its argument), a product and a sum: γ_6c, and the
/// arguments on the way from x to m add up to u |x − m|; an error of x or m changes the power by a factor.
fn online(x: &[Element], tree: &Tree) -> Vec<Element> {
    let p = Params { nan: NanPolicy::Propagate, ..Params::default() };
    let m = order::extreme(x, tree.wide, false, &p);
    // One element alone meets nothing, not even when it is NaN.
    let alone = x.len() == 1;
    let power = |e: &Element| if alone || e.float == m.float { 1.0 } else { (e.float - m.float).exp() };
    let s = exactly(x.iter().map(power));
    if !s.is_finite() || m.error.is_infinite() {
        let unknown = x.iter().any(|e| e.error > 0.0);
        return vec![m, Element::of_float(s, if unknown { f64::INFINITY } else { 0.0 })];
    }
    let u = tree.wide.unit_roundoff();
    let error: f64 = x
        .iter()
        .map(|e| {
            let far = times(u, power(e) * if power(e) == 0.0 { 0.0 } else { (e.float - m.float).abs() });
            let far = if e.float == m.float { 0.0 } else { far };
            times(power(e), (e.error + m.error).exp_m1()) + power(e) * tree.gamma(6.0 * tree.c) + far
        })
        .sum();
    let lost = if tree.c == 0.0 { 0.0 } else { x.len() as f64 * tree.underflow() + Dtype::F64.unit_roundoff() * s };
    vec![m, Element::of_float(s, error + lost)]
}
