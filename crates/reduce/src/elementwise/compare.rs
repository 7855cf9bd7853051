//! Comparisons: to bool, false with a NaN (except `ne`).

use super::{Elementwise, Gives, Takes, flat};
use crate::scalar::Compare;

const BASE: Elementwise = Elementwise {
    name: "",
    summary: "",
    arity: 2,
    takes: Takes::Any,
    gives: Gives::Bool,
    expr: |_, x| x[0],
    real: |x| x[0],
    slopes: flat,
    ulps: |_| 0.0,
};

pub(super) static OPS: &[Elementwise] = &[
    Elementwise {
        name: "eq",
        summary: "a == b",
        expr: |b, x| b.compare(Compare::Eq, x[0], x[1]),
        real: |x| f64::from(x[0] == x[1]),
        ..BASE
    },
    Elementwise {
        name: "ne",
        summary: "a != b",
        expr: |b, x| b.compare(Compare::Ne, x[0], x[1]),
        real: |x| f64::from(x[0] != x[1]),
        ..BASE
    },
    Elementwise {
        name: "lt",
        summary: "a < b",
        expr: |b, x| b.compare(Compare::Lt, x[0], x[1]),
        real: |x| f64::from(x[0] < x[1]),
        ..BASE
    },
    Elementwise {
        name: "le",
        summary: "a <= b",
        expr: |b, x| b.compare(Compare::Le, x[0], x[1]),
        real: |x| f64::from(x[0] <= x[1]),
        ..BASE
    },
    Elementwise {
        name: "gt",
        summary: "a > b",
        expr: |b, x| b.compare(Compare::Gt, x[0], x[1]),
        real: |x| f64::from(x[0] > x[1]),
        ..BASE
    },
    Elementwise {
        name: "ge",
        summary: "a >= b",
        expr: |b, x| b.compare(Compare::Ge, x[0], x[1]),
        real: |x| f64::from(x[0] >= x[1]),
        ..BASE
    },
];
