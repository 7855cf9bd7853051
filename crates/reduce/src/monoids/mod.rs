//! Reduction operators: a monoid is one file here and one line in [`ALL`].
//!
//! An operator states its arithmetic once, as scalar expressions; every executor follows them. Start with `sum.rs`. A
//! monoid knows nothing of axes, trees or devices: the tree decides who meets whom, the operator what happens then.

mod all;
mod any;
mod arg;
mod argmax;
mod argmin;
mod compensated;
mod max;
mod min;
mod moments;
mod online;
mod order;
mod prod;
mod sum;
mod topk;

pub(crate) use argmax::ARGMAX;
pub use compensated::COMPENSATED;
pub use max::MAX;
pub use min::MIN;
pub use moments::MOMENTS;
pub(crate) use online::exp_below;
pub use prod::PROD;
pub use sum::SUM;

use crate::dtype::{Dtype, Scalar};
use crate::scalar::{Const, ScalarBuilder, ScalarExpr};

/// What NaN does in `max`, `min`, `argmax` and `argmin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NanPolicy {
    /// One NaN makes the result NaN; for an index the first NaN wins.
    #[default]
    Propagate,
    /// NaN elements are skipped; only NaN gives NaN.
    Ignore,
}

impl NanPolicy {
    /// The name that `--nan` uses.
    pub fn name(self) -> &'static str {
        match self {
            NanPolicy::Propagate => "propagate",
            NanPolicy::Ignore => "ignore",
        }
    }
}

/// What a reduction may be told beside its operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Params {
    /// What NaN does.
    pub nan: NanPolicy,
    /// Of equal elements the last one's index, not the first one's.
    pub last: bool,
    /// Number of elements to keep (`topk`).
    pub k: usize,
    /// The smallest elements, not the largest (`topk`).
    pub smallest: bool,
}

/// An atomic operation of devices that combines one accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Atomic {
    Add,
    Max,
    Min,
    And,
    Or,
}

/// What a reduction over no elements gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Empty {
    /// These outputs.
    Values(Vec<Const>),
    /// There is no answer: an error.
    Error,
}

/// A reduction operator: an associative, commutative combination of accumulators of one or more parts. What is not said
/// otherwise is an operator whose accumulator is one element.
pub trait ReduceOp: Sync {
    /// The name in programs and on the command line.
    fn name(&self) -> &'static str;
    /// One sentence.
    fn summary(&self) -> &'static str;
    /// Whether elements of this type can be reduced.
    fn accepts(&self, d: Dtype) -> bool;
    /// Types of the accumulator's parts, for elements held as `x`.
    fn parts(&self, x: Scalar, _: &Params) -> Vec<Scalar> {
        vec![x]
    }
    /// Types of the outputs, for elements of type `d`. Float outputs are rounded to it from the accumulator.
    fn outputs(&self, d: Dtype, _: &Params) -> Vec<Dtype> {
        vec![d]
    }
    /// The accumulator that changes no other.
    fn identity(&self, x: Scalar, p: &Params) -> Vec<Const>;
    /// The accumulator of one element, whose place among the reduced ones is `index` (i64).
    fn lift(&self, _: &mut ScalarBuilder, _: &Params, x: ScalarExpr, _: ScalarExpr) -> Vec<ScalarExpr> {
        vec![x]
    }
    /// The accumulator of two sets, `l` the earlier one.
    fn combine(&self, b: &mut ScalarBuilder, p: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr>;
    /// The outputs (in register types) for an accumulator of `n` > 0 elements; `n` has the type of the first part.
    fn finish(&self, _: &mut ScalarBuilder, _: &Params, a: &[ScalarExpr], _: ScalarExpr) -> Vec<ScalarExpr> {
        a.to_vec()
    }
    /// The outputs over no elements.
    fn empty(&self, d: Dtype, p: &Params) -> Empty;
    /// How the elements of one lane are folded, where it is not element by element.
    fn two_pass(&self) -> Option<&dyn TwoPass> {
        None
    }
    /// Whether combining an accumulator with itself changes nothing.
    fn idempotent(&self) -> bool {
        false
    }
    /// The atomic operation that combines accumulators of this type, if devices have one.
    fn atomic(&self, _: Dtype) -> Option<Atomic> {
        None
    }
    /// Whether the result depends on the order of combination (floating-point rounding).
    fn rounds(&self, _: Scalar) -> bool {
        false
    }
}

/// A lane that is folded in two passes over its elements: a centre first, then the deviations from it.
pub trait TwoPass: Sync {
    /// First pass: the running value, and with the next element; the first element starts it.
    fn first(&self, b: &mut ScalarBuilder, s: ScalarExpr, x: ScalarExpr) -> ScalarExpr;
    /// The centre of a lane of `n` elements.
    fn centre(&self, b: &mut ScalarBuilder, s: ScalarExpr, n: ScalarExpr) -> ScalarExpr;
    /// What one element adds in the second pass.
    fn deviation(&self, b: &mut ScalarBuilder, centre: ScalarExpr, x: ScalarExpr) -> ScalarExpr;
    /// Second pass: the running value and the next deviation; the first deviation starts it.
    fn second(&self, b: &mut ScalarBuilder, s: ScalarExpr, d: ScalarExpr) -> ScalarExpr;
    /// The accumulator of a lane of `n` elements.
    fn done(&self, b: &mut ScalarBuilder, centre: ScalarExpr, s: ScalarExpr, n: ScalarExpr) -> Vec<ScalarExpr>;
}

/// Every reduction operator.
pub static ALL: &[&dyn ReduceOp] = &[
    &sum::SUM,
    &prod::PROD,
    &max::MAX,
    &min::MIN,
    &all::ALL_OF,
    &any::ANY_OF,
    &argmax::ARGMAX,
    &argmin::ARGMIN,
    &moments::MOMENTS,
    &online::ONLINE,
    &topk::TOPK,
    &compensated::COMPENSATED,
];

/// The operator called `name`.
pub fn find(name: &str) -> Option<&'static dyn ReduceOp> {
    ALL.iter().copied().find(|m| m.name() == name)
}

/// −∞ or the least value of a register type.
pub(crate) fn least(x: Scalar) -> Const {
    if x.is_float() { Const::from_f64(f64::NEG_INFINITY, x) } else { Const::from_int(x.dtype().int_range().0, x) }
}

/// −∞ or the least value of an element, in its register type.
fn least_of(d: Dtype) -> Const {
    if d.is_float() { least(d.scalar()) } else { Const::from_int(d.int_range().0, d.scalar()) }
}

/// +∞ or the greatest value of an element, in its register type.
fn greatest_of(d: Dtype) -> Const {
    if d.is_float() { greatest(d.scalar()) } else { Const::from_int(d.int_range().1, d.scalar()) }
}

/// +∞ or the greatest value of a register type.
pub(crate) fn greatest(x: Scalar) -> Const {
    if x.is_float() { Const::from_f64(f64::INFINITY, x) } else { Const::from_int(x.dtype().int_range().1, x) }
}

/// Equal names: there is one operator of each.
pub(crate) fn same(a: &dyn ReduceOp, b: &dyn ReduceOp) -> bool {
    a.name() == b.name()
}

impl std::fmt::Debug for dyn ReduceOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
