//! Elementwise operations and casts.

use super::bounded::{Bounded, Element, narrowed, smallest, times};
use crate::dtype::Dtype;
use crate::elementwise::{Elementwise, Gives, Takes};
use crate::error::Result;
use crate::scalar::{Const, ScalarBuilder, eval};

/// One operation on all elements.
pub(super) fn mapped(op: &Elementwise, x: &[&Bounded], dtype: Dtype, shape: &[usize]) -> Result<Bounded> {
    let from = x[0].dtype;
    Bounded::build(dtype, shape, |i| {
        let elements: Vec<Element> = x.iter().map(|v| v.element(i)).collect();
        Ok(applied(op, &elements, from, dtype))
    })
}

/// One operation on elements of type `from`; floats in real numbers, everything else by the operation's own arithmetic.
pub(super) fn applied(op: &Elementwise, x: &[Element], from: Dtype, dtype: Dtype) -> Element {
    if op.takes == Takes::Where {
        return chosen(x, dtype);
    }
    if from.is_float() {
        return real(op, x, dtype);
    }
    let mut b = ScalarBuilder::new();
    let kind = from.scalar();
    let operands: Vec<_> = (0..x.len()).map(|i| b.arg(i, kind)).collect();
    let out = (op.expr)(&mut b, &operands);
    let out = b.narrow(out, dtype);
    let constants: Vec<Const> = x.iter().map(|e| Const::from_int(e.int, kind)).collect();
    let value = eval(b.code(), &constants)[out.0 as usize];
    Element::of_int(value.to_int(), x.iter().all(|e| e.error == 0.0))
}

/// The second or third operand. Where the condition is not certain, either is right.
fn chosen(x: &[Element], dtype: Dtype) -> Element {
    let (this, other) = if x[0].int != 0 { (x[1], x[2]) } else { (x[2], x[1]) };
    if x[0].error == 0.0 {
        return this;
    }
    let apart = if dtype.is_float() {
        distance(this.float, other.float)
    } else {
        times((this.int != other.int).into(), f64::INFINITY)
    };
    Element { error: (apart + other.error).max(this.error), ..this }
}

/// |a − b|; 0 of equal infinities and of NaN twice, ∞ where only one is finite.
pub(super) fn distance(a: f64, b: f64) -> f64 {
    if a == b || a.is_nan() && b.is_nan() {
        return 0.0;
    }
    let apart = (a - b).abs();
    if apart.is_nan() { f64::INFINITY } else { apart }
}

/// An operation on floats.
fn real(op: &Elementwise, x: &[Element], dtype: Dtype) -> Element {
    let at: Vec<f64> = x.iter().map(|e| e.float).collect();
    let z = (op.real)(&at);
    let passed = passed_on(op, x, &at, z);
    if op.gives == Gives::Bool {
        return Element::of_int(z as i128, passed == 0.0);
    }
    let (exact, ulps) = (x.iter().all(|e| e.error == 0.0), (op.ulps)(&at));
    // A correctly rounded operation on exact operands is exact if its result is a number of the type.
    if !z.is_finite() || ulps == 0.0 || exact && ulps <= 1.0 && (z == 0.0 || dtype.round(z) == z) {
        return Element::of_float(z, passed);
    }
    let register = dtype.scalar().dtype();
    // The reference itself rounds to double precision; composed operations may underflow halfway, and then multiply.
    let unit = register.unit_roundoff() + Dtype::F64.unit_roundoff();
    let least = if register == Dtype::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let size = at.iter().filter(|x| x.is_finite()).fold(1.0, |size: f64, x| size.max(x.abs()));
    let underflow = if ulps <= 1.0 { smallest(register) } else { times(least, size) };
    let own = if z == 0.0 && passed == 0.0 { 0.0 } else { times(ulps * unit, z.abs()) + underflow };
    narrowed(Element::of_float(z, passed + own), dtype)
}

/// What errors of the operands do to the result: by the slopes, and at all ends of the operands' intervals, which is exact
/// for monotone operations and shows steps.
fn passed_on(op: &Elementwise, x: &[Element], at: &[f64], z: f64) -> f64 {
    if x.iter().all(|e| e.error == 0.0) {
        return 0.0;
    }
    // What is compared may be equal within the errors; a divisor may be 0.
    let last = x[x.len() - 1];
    let near = |gap: f64| gap <= x[0].error + last.error;
    let close = op.gives == Gives::Bool && x.len() == 2 && near((at[0] - at[1]).abs());
    let singular = matches!(op.name, "div" | "reciprocal") && last.error > 0.0 && last.error >= last.float.abs();
    if close || singular || op.name == "rem" || x.iter().any(|e| e.error.is_infinite()) {
        return f64::INFINITY;
    }
    let ends = (0..1usize << x.len()).map(|mask| {
        let end = |(i, e): (usize, &Element)| e.float + if mask >> i & 1 == 0 { e.error } else { -e.error };
        distance((op.real)(&x.iter().enumerate().map(end).collect::<Vec<_>>()), z)
    });
    let ends = ends.fold(0.0, f64::max);
    if !z.is_finite() || op.gives == Gives::Bool {
        return ends;
    }
    let slopes = (op.slopes)(at, z);
    let sloped = x.iter().zip(slopes).map(|(e, slope)| times(slope, e.error)).sum::<f64>();
    if sloped.is_nan() { f64::INFINITY } else { ends.max(sloped) }
}

/// A whole number as an element of type `to`.
pub(super) fn cast_int(int: i128, to: Dtype) -> Element {
    if !to.is_float() {
        return Element::of_int(to.wrap(int), true);
    }
    let (float, unit) = (int as f64, to.unit_roundoff());
    let exact = to.round(float) == float && float as i128 == int;
    let register = to.scalar().dtype().unit_roundoff();
    Element::of_float(float, if exact { 0.0 } else { float.abs() * (unit + register + Dtype::F64.unit_roundoff()) })
}

/// An element of type `from` as one of type `to`.
pub(super) fn cast(e: Element, from: Dtype, to: Dtype) -> Element {
    if !from.is_float() {
        let whole = cast_int(e.int, to);
        return Element { error: if e.error > 0.0 { f64::INFINITY } else { whole.error }, ..whole };
    }
    if to.is_float() {
        let fits = to.unit_roundoff() <= from.unit_roundoff() && !(from == Dtype::Bf16 && to == Dtype::F16);
        let exact = e.error == 0.0 && to.round(e.float) == e.float;
        if fits || exact || !e.float.is_finite() {
            return e;
        }
        let register = if from == Dtype::F64 && to.is_narrow() { Dtype::F32.unit_roundoff() } else { 0.0 };
        let rounding = (to.unit_roundoff() + register) * (e.float.abs() + e.error) + smallest(to);
        return Element { error: e.error + rounding, ..e };
    }
    let whole = |x: f64| match to {
        Dtype::Bool => i128::from(x != 0.0),
        _ => to.wrap(Const::from_f64(x, to.scalar()).to_int()),
    };
    let ends = [e.float - e.error, e.float + e.error].map(whole);
    let crosses = to == Dtype::Bool && e.error > 0.0 && e.float.abs() <= e.error;
    let certain = e.error == 0.0 || !crosses && e.error.is_finite() && ends[0] == ends[1] && ends[0] == whole(e.float);
    Element::of_int(whole(e.float), certain)
}
