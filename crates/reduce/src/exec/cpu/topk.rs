//! The k best elements along an axis: each line is gathered, selected and sorted. Order does not round, so any way has the
//! same result.

use crate::dtype::Dtype;
use crate::monoids::Params;
use crate::tensor::element;
use std::cmp::Ordering;

/// Better first: by value, NaN before all numbers, then by index.
fn compare(p: &Params, a: &(f64, i128, i64), b: &(f64, i128, i64)) -> Ordering {
    let nan = b.0.is_nan().cmp(&a.0.is_nan());
    let int = a.1.cmp(&b.1);
    let value =
        if a.0.is_nan() || b.0.is_nan() { Ordering::Equal } else { a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal) };
    let value = if value == Ordering::Equal && !a.0.is_nan() { int } else { value };
    nan.then(if p.smallest { value } else { value.reverse() }).then(a.2.cmp(&b.2))
}

/// Calls `put` with place, value and index of the k best of a line: `n` elements from `first` on, `stride` apart.
pub(super) fn line(
    (dtype, bytes): (Dtype, &[u8]),
    p: &Params,
    (n, stride): (usize, usize),
    first: usize,
    mut put: impl FnMut(usize, (f64, i128), i64),
) {
    let whole = |e: (f64, i128)| if dtype.is_float() { (e.0, 0) } else { (0.0, e.1) };
    let mut list: Vec<(f64, i128, i64)> = (0..n)
        .map(|i| {
            let (float, int) = whole(element(dtype, bytes, first + i * stride));
            (float, int, i as i64)
        })
        .collect();
    if p.k < n && p.k > 0 {
        list.select_nth_unstable_by(p.k - 1, |a, b| compare(p, a, b));
    }
    list.truncate(p.k);
    list.sort_unstable_by(|a, b| compare(p, a, b));
    for (i, (float, int, index)) in list.into_iter().enumerate() {
        put(i, (float, int), index);
    }
}
