//! Reductions that choose among elements: max, min, argmax, argmin, topk, and, or.

use super::bounded::Element;
use crate::dtype::Dtype;
use crate::monoids::{NanPolicy, Params};
use std::cmp::Ordering;

/// Which of two comes first: the larger one, or with `up` the smaller one; NaN before all numbers, or with
/// [`NanPolicy::Ignore`] behind them. ±0 are equal.
fn first(a: Element, b: Element, is_float: bool, up: bool, nan: NanPolicy) -> Ordering {
    let (a_nan, b_nan) = (is_float && a.float.is_nan(), is_float && b.float.is_nan());
    if a_nan || b_nan {
        return if nan == NanPolicy::Ignore { a_nan.cmp(&b_nan) } else { b_nan.cmp(&a_nan) };
    }
    let rising = if is_float { a.float.total_cmp(&b.float) } else { a.int.cmp(&b.int) };
    let rising = if is_float && a.float == b.float { Ordering::Equal } else { rising };
    if up { rising } else { rising.reverse() }
}

/// Whether it is certain that two elements differ as they seem to.
fn apart(a: Element, b: Element) -> bool {
    let error = a.error + b.error;
    error == 0.0 || error.is_finite() && (a.float.is_nan() || b.float.is_nan() || (a.float - b.float).abs() > error)
}

/// The extreme element (the least one with `up`); the bound is the largest one.
pub(super) fn extreme(group: &[Element], dtype: Dtype, up: bool, p: &Params) -> Element {
    let mut best = group[0];
    for &e in &group[1..] {
        let order = first(e, best, dtype.is_float(), up, p.nan);
        // Of equal zeros +0 is the larger.
        let zero = order == Ordering::Equal && e.float.is_sign_negative() == up && dtype.is_float();
        if order == Ordering::Less || zero {
            best = e;
        }
    }
    let error = group.iter().fold(0.0, |all: f64, e| all.max(e.error));
    Element { error, ..best }
}

/// Index of the extreme element.
pub(super) fn index(group: &[Element], dtype: Dtype, up: bool, p: &Params) -> Element {
    let mut best = 0;
    for i in 1..group.len() {
        let order = first(group[i], group[best], dtype.is_float(), up, p.nan);
        if order == Ordering::Less || order == Ordering::Equal && p.last {
            best = i;
        }
    }
    let certain = (0..group.len()).all(|i| i == best || apart(group[i], group[best]));
    Element::of_int(best as i128, certain && group[best].error.is_finite())
}

/// The k first elements, then their indices.
pub(super) fn topk(group: &[Element], dtype: Dtype, p: &Params) -> Vec<Element> {
    let mut order: Vec<usize> = (0..group.len()).collect();
    order.sort_by(|&i, &j| first(group[i], group[j], dtype.is_float(), p.smallest, NanPolicy::Propagate));
    let error = group.iter().fold(0.0, |all: f64, e| all.max(e.error));
    let widest = |i: usize| Element { error, ..group[i] };
    let certain = |at: usize| {
        let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|n| order.get(n));
        neighbours.into_iter().all(|&n| apart(widest(n), group[order[at]]))
    };
    let values = order[..p.k].iter().map(|&i| widest(i));
    let indices = (0..p.k).map(|at| Element::of_int(order[at] as i128, certain(at)));
    values.chain(indices).collect()
}

/// Whether all elements are true (`decides` is false), or any is (`decides` is true).
pub(super) fn truth(group: &[Element], decides: bool) -> Element {
    let says = |e: &&Element| (e.int != 0) == decides;
    let decided = group.iter().any(|e| says(&e));
    let certain = group.iter().any(|e| says(&e) && e.error == 0.0) || group.iter().all(|e| e.error == 0.0);
    Element::of_int(i128::from(decided == decides), certain)
}
