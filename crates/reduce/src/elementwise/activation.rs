//! Activations that stand beside reductions.

use super::{Elementwise, Gives, Takes, flat};
use crate::scalar::{ScalarBuilder, ScalarExpr, Unary};

const BASE: Elementwise = Elementwise {
    name: "",
    summary: "",
    arity: 1,
    takes: Takes::Floats,
    gives: Gives::Same,
    expr: |_, x| x[0],
    real: |x| x[0],
    slopes: flat,
    ulps: |_| 6.0,
};

/// 1 / (1 + e^−x).
fn sigmoid(b: &mut ScalarBuilder, x: &[ScalarExpr]) -> ScalarExpr {
    let minus = b.unary(Unary::Neg, x[0]);
    let power = b.unary(Unary::Exp, minus);
    let one = b.number(1.0, x[0]);
    let below = b.add(one, power);
    b.div(one, below)
}

pub(super) static OPS: &[Elementwise] = &[
    Elementwise {
        name: "relu",
        summary: "a where it is positive, else 0",
        takes: Takes::Numbers,
        expr: |b, x| {
            let zero = b.number(0.0, x[0]);
            b.max(x[0], zero)
        },
        real: |x| if x[0].is_nan() { x[0] } else { x[0].max(0.0) },
        slopes: |x, _| [f64::from(x[0] >= 0.0), 0.0, 0.0],
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "sigmoid",
        summary: "1 / (1 + e^-a)",
        expr: sigmoid,
        real: |x| 1.0 / (1.0 + (-x[0]).exp()),
        slopes: |_, z| [z * (1.0 - z), 0.0, 0.0],
        ..BASE
    },
    Elementwise {
        name: "silu",
        summary: "a / (1 + e^-a)",
        expr: |b, x| {
            let gate = sigmoid(b, x);
            b.mul(x[0], gate)
        },
        real: |x| x[0] / (1.0 + (-x[0]).exp()),
        slopes: |x, z| {
            let s = 1.0 / (1.0 + (-x[0]).exp());
            [(s + z * (1.0 - s)).abs(), 0.0, 0.0]
        },
        ..BASE
    },
];
