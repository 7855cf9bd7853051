//! Truth values, bits, and the choice between two values.

use super::{Elementwise, Gives, Takes, flat};
use crate::scalar::{Binary, Unary};

/// On truth values; whole numbers are combined bit by bit.
const BASE: Elementwise = Elementwise {
    name: "",
    summary: "",
    arity: 2,
    takes: Takes::Bits,
    gives: Gives::Same,
    expr: |_, x| x[0],
    real: |x| x[0],
    slopes: flat,
    ulps: |_| 0.0,
};

pub(super) static OPS: &[Elementwise] = &[
    Elementwise {
        name: "and",
        summary: "both; bit by bit for whole numbers",
        expr: |b, x| b.and(x[0], x[1]),
        real: |x| f64::from(x[0] != 0.0 && x[1] != 0.0),
        ..BASE
    },
    Elementwise {
        name: "or",
        summary: "either; bit by bit for whole numbers",
        expr: |b, x| b.or(x[0], x[1]),
        real: |x| f64::from(x[0] != 0.0 || x[1] != 0.0),
        ..BASE
    },
    Elementwise {
        name: "xor",
        summary: "one of the two; bit by bit for whole numbers",
        expr: |b, x| b.binary(Binary::Xor, x[0], x[1]),
        real: |x| f64::from((x[0] != 0.0) != (x[1] != 0.0)),
        ..BASE
    },
    Elementwise {
        name: "not",
        summary: "the complement",
        arity: 1,
        expr: |b, x| b.unary(Unary::Not, x[0]),
        real: |x| f64::from(x[0] == 0.0),
        ..BASE
    },
    Elementwise {
        name: "where",
        summary: "the second operand where the first (bool) is true, else the third",
        arity: 3,
        takes: Takes::Where,
        expr: |b, x| b.select(x[0], x[1], x[2]),
        real: |x| if x[0] != 0.0 { x[1] } else { x[2] },
        slopes: |x, _| [0.0, f64::from(x[0] != 0.0), f64::from(x[0] == 0.0)],
        ..BASE
    },
];
