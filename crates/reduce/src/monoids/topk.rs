//! The k largest (or smallest) elements with their indices, best first.
//!
//! The accumulator is a sorted list of k pairs. Two lists merge by taking, place by place, the better of l[i] and
//! r[k − 1 − i] (the upper half of Batcher's bitonic merge), which keeps the k best of both, and sorting what is then
//! bitonic.

use super::{Empty, Params, ReduceOp, greatest, least};
use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Compare, Const, ScalarBuilder, ScalarExpr};

/// The k best elements and their indices.
pub(super) static TOPK: TopK = TopK;

/// See [`TOPK`].
#[derive(Debug)]
pub(super) struct TopK;

/// Places of the list: a power of two, so that a bitonic list sorts by halves.
fn places(p: &Params) -> usize {
    p.k.max(1).next_power_of_two()
}

/// Whether (x, i) comes before (y, j): better value, then smaller index; NaN before all numbers.
fn before(b: &mut ScalarBuilder, p: &Params, l: (ScalarExpr, ScalarExpr), r: (ScalarExpr, ScalarExpr)) -> ScalarExpr {
    let better = b.compare(if p.smallest { Compare::Lt } else { Compare::Gt }, l.0, r.0);
    let equal = b.compare(Compare::Eq, l.0, r.0);
    let (better, equal) = if b.kind(l.0).is_float() {
        let (l_nan, r_nan) = (b.is_nan(l.0), b.is_nan(r.0));
        let only = b.compare(Compare::Gt, l_nan, r_nan);
        let both = b.and(l_nan, r_nan);
        (b.or(better, only), b.or(equal, both))
    } else {
        (better, equal)
    };
    let nearer = b.compare(Compare::Lt, l.1, r.1);
    let tie = b.and(equal, nearer);
    b.or(better, tie)
}

type Pair = (ScalarExpr, ScalarExpr);

/// The two pairs in order.
fn sorted(b: &mut ScalarBuilder, p: &Params, l: Pair, r: Pair) -> (Pair, Pair) {
    let keep = before(b, p, l, r);
    let first = (b.select(keep, l.0, r.0), b.select(keep, l.1, r.1));
    let second = (b.select(keep, r.0, l.0), b.select(keep, r.1, l.1));
    (first, second)
}

impl ReduceOp for TopK {
    fn name(&self) -> &'static str {
        "topk"
    }
    fn summary(&self) -> &'static str {
        "the k best elements and their indices, best first"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d != Dtype::Bool
    }
    fn parts(&self, x: Scalar, p: &Params) -> Vec<Scalar> {
        [vec![x; places(p)], vec![Scalar::I64; places(p)]].concat()
    }
    fn outputs(&self, d: Dtype, p: &Params) -> Vec<Dtype> {
        [vec![d; p.k], vec![Dtype::I64; p.k]].concat()
    }
    fn identity(&self, x: Scalar, p: &Params) -> Vec<Const> {
        let worst = if p.smallest { greatest(x) } else { least(x) };
        [vec![worst; places(p)], vec![Const::from(i64::MAX); places(p)]].concat()
    }
    fn lift(&self, b: &mut ScalarBuilder, p: &Params, x: ScalarExpr, index: ScalarExpr) -> Vec<ScalarExpr> {
        let rest = self.identity(b.kind(x), p);
        let mut parts: Vec<ScalarExpr> = rest.into_iter().map(|c| b.constant(c)).collect();
        (parts[0], parts[places(p)]) = (x, index);
        parts
    }
    fn combine(&self, b: &mut ScalarBuilder, p: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        let n = places(p);
        let mut best: Vec<Pair> =
            (0..n).map(|i| sorted(b, p, (l[i], l[n + i]), (r[n - 1 - i], r[2 * n - 1 - i])).0).collect();
        let mut half = n / 2;
        while half > 0 {
            for at in (0..n).filter(|at| at & half == 0) {
                (best[at], best[at + half]) = sorted(b, p, best[at], best[at + half]);
            }
            half /= 2;
        }
        best.iter().map(|pair| pair.0).chain(best.iter().map(|pair| pair.1)).collect()
    }
    fn finish(&self, _: &mut ScalarBuilder, p: &Params, a: &[ScalarExpr], _: ScalarExpr) -> Vec<ScalarExpr> {
        let n = places(p);
        [&a[..p.k], &a[n..n + p.k]].concat()
    }
    fn empty(&self, _: Dtype, _: &Params) -> Empty {
        Empty::Error
    }
}
