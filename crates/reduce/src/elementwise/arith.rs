//! Arithmetic: +, −, ·, /, and what is exact.

use super::{Elementwise, Gives, Takes, flat};
use crate::scalar::{Binary, Unary};

/// An exact or correctly rounded operation on numbers.
const BASE: Elementwise = Elementwise {
    name: "",
    summary: "",
    arity: 2,
    takes: Takes::Numbers,
    gives: Gives::Same,
    expr: |_, x| x[0],
    real: |x| x[0],
    slopes: flat,
    ulps: |_| 1.0,
};

fn step(yes: bool) -> f64 {
    f64::from(yes)
}

/// max and min let NaN through.
fn extreme(x: &[f64], take_first: bool) -> f64 {
    if x[0].is_nan() || x[1].is_nan() { f64::NAN } else { x[usize::from(!take_first)] }
}

pub(super) static OPS: &[Elementwise] = &[
    Elementwise {
        name: "add",
        summary: "a + b",
        expr: |b, x| b.add(x[0], x[1]),
        real: |x| x[0] + x[1],
        slopes: |_, _| [1.0, 1.0, 0.0],
        ..BASE
    },
    Elementwise {
        name: "sub",
        summary: "a - b",
        expr: |b, x| b.sub(x[0], x[1]),
        real: |x| x[0] - x[1],
        slopes: |_, _| [1.0, 1.0, 0.0],
        ..BASE
    },
    Elementwise {
        name: "mul",
        summary: "a * b",
        expr: |b, x| b.mul(x[0], x[1]),
        real: |x| x[0] * x[1],
        slopes: |x, _| [x[1].abs(), x[0].abs(), 0.0],
        ..BASE
    },
    Elementwise {
        name: "div",
        summary: "a / b; whole numbers towards zero, x / 0 is 0",
        expr: |b, x| b.div(x[0], x[1]),
        real: |x| x[0] / x[1],
        slopes: |x, z| [(1.0 / x[1]).abs(), (z / x[1]).abs(), 0.0],
        ..BASE
    },
    Elementwise {
        name: "rem",
        summary: "the remainder of a / b with the sign of a",
        expr: |b, x| b.binary(Binary::Rem, x[0], x[1]),
        real: |x| x[0] % x[1],
        slopes: |x, _| [1.0, (x[0] / x[1]).trunc().abs(), 0.0],
        ..BASE
    },
    Elementwise {
        name: "max",
        summary: "the larger of a and b; NaN if one is NaN",
        expr: |b, x| b.max(x[0], x[1]),
        real: |x| extreme(x, x[0] >= x[1]),
        slopes: |x, _| [step(x[0] >= x[1]), step(x[0] <= x[1]), 0.0],
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "min",
        summary: "the smaller of a and b; NaN if one is NaN",
        expr: |b, x| b.min(x[0], x[1]),
        real: |x| extreme(x, x[0] <= x[1]),
        slopes: |x, _| [step(x[0] <= x[1]), step(x[0] >= x[1]), 0.0],
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "neg",
        summary: "-a",
        arity: 1,
        expr: |b, x| b.unary(Unary::Neg, x[0]),
        real: |x| -x[0],
        slopes: |_, _| [1.0, 0.0, 0.0],
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "abs",
        summary: "the absolute value",
        arity: 1,
        expr: |b, x| b.unary(Unary::Abs, x[0]),
        real: |x| x[0].abs(),
        slopes: |_, _| [1.0, 0.0, 0.0],
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "sign",
        summary: "-1, 0 or 1; NaN of NaN",
        arity: 1,
        expr: |b, x| {
            let (zero, one) = (b.number(0.0, x[0]), b.number(1.0, x[0]));
            let minus = b.sub(zero, one);
            let positive = b.compare(crate::scalar::Compare::Gt, x[0], zero);
            let negative = b.compare(crate::scalar::Compare::Lt, x[0], zero);
            let down = b.select(negative, minus, x[0]);
            b.select(positive, one, down)
        },
        real: |x| {
            if x[0] > 0.0 {
                1.0
            } else if x[0] < 0.0 {
                -1.0
            } else {
                x[0]
            }
        },
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "reciprocal",
        summary: "1 / a",
        arity: 1,
        takes: Takes::Floats,
        expr: |b, x| {
            let one = b.number(1.0, x[0]);
            b.div(one, x[0])
        },
        real: |x| 1.0 / x[0],
        slopes: |_, z| [z * z, 0.0, 0.0],
        ..BASE
    },
    Elementwise {
        name: "square",
        summary: "a * a",
        arity: 1,
        expr: |b, x| b.mul(x[0], x[0]),
        real: |x| x[0] * x[0],
        slopes: |x, _| [2.0 * x[0].abs(), 0.0, 0.0],
        ..BASE
    },
];
