//! Functions of one real number, over the `exp` and `ln` of `skeleton::math`.

use super::{Elementwise, Gives, Takes, flat};
use crate::scalar::{Compare, ScalarBuilder, ScalarExpr, Unary};

const BASE: Elementwise = Elementwise {
    name: "",
    summary: "",
    arity: 1,
    takes: Takes::Floats,
    gives: Gives::Same,
    expr: |_, x| x[0],
    real: |x| x[0],
    slopes: flat,
    ulps: |_| 4.0,
};

/// Values of the coefficients from the highest power down, by Horner's rule with fused multiply-adds.
pub(super) fn polynomial(b: &mut ScalarBuilder, x: ScalarExpr, coefficients: &[f64]) -> ScalarExpr {
    let mut p = b.number(coefficients[0], x);
    for &c in &coefficients[1..] {
        let c = b.number(c, x);
        p = b.fma(p, x, c);
    }
    p
}

/// e^y − 1 for |y| ≤ 1/2 by Taylor's series to y^14: y + y²·(1/2 + y/6 + …).
fn expm1_near_zero(b: &mut ScalarBuilder, y: ScalarExpr) -> ScalarExpr {
    let mut coefficients = [0.0; 13];
    let mut factorial = 1.0;
    for power in 2..=14 {
        factorial *= f64::from(power);
        coefficients[(14 - power) as usize] = 1.0 / factorial;
    }
    let p = polynomial(b, y, &coefficients);
    let square = b.mul(y, y);
    b.fma(square, p, y)
}

/// tanh x = (e^2x − 1)/(e^2x + 1); near zero e^2x − 1 comes from its series, so that nothing cancels.
fn tanh(b: &mut ScalarBuilder, x: &[ScalarExpr]) -> ScalarExpr {
    let (one, two) = (b.number(1.0, x[0]), b.number(2.0, x[0]));
    let size = b.unary(Unary::Abs, x[0]);
    let twice = b.mul(size, two);
    // Far out: 1 − 2/(e^2x + 1).
    let power = b.unary(Unary::Exp, twice);
    let above = b.add(power, one);
    let rest = b.div(two, above);
    let far = b.sub(one, rest);
    let quarter = b.number(0.25, x[0]);
    let is_near = b.compare(Compare::Le, size, quarter);
    let zero = b.number(0.0, x[0]);
    let small = b.select(is_near, twice, zero);
    let m = expm1_near_zero(b, small);
    let m2 = b.add(m, two);
    let near = b.div(m, m2);
    let positive = b.select(is_near, near, far);
    let negative = b.unary(Unary::Neg, positive);
    let below = b.compare(Compare::Lt, x[0], zero);
    let signed = b.select(below, negative, positive);
    // Keeps −0 and NaN.
    let is_zero = b.compare(Compare::Eq, x[0], zero);
    b.select(is_zero, x[0], signed)
}

pub(super) static OPS: &[Elementwise] = &[
    Elementwise {
        name: "sqrt",
        summary: "the square root",
        expr: |b, x| b.unary(Unary::Sqrt, x[0]),
        real: |x| x[0].sqrt(),
        slopes: |_, z| [0.5 / z, 0.0, 0.0],
        ulps: |_| 1.0,
        ..BASE
    },
    Elementwise {
        name: "exp",
        summary: "e to the power a",
        expr: |b, x| b.unary(Unary::Exp, x[0]),
        real: |x| x[0].exp(),
        slopes: |_, z| [z, 0.0, 0.0],
        ..BASE
    },
    Elementwise {
        name: "log",
        summary: "the natural logarithm",
        expr: |b, x| b.unary(Unary::Ln, x[0]),
        real: |x| x[0].ln(),
        slopes: |x, _| [(1.0 / x[0]).abs(), 0.0, 0.0],
        ..BASE
    },
    Elementwise {
        name: "exp_below",
        summary: "e to the power a - b, which is 1 where a equals b (also where both are infinite)",
        arity: 2,
        expr: |b, x| crate::monoids::exp_below(b, x[0], x[1]),
        real: |x| if x[0] == x[1] { 1.0 } else { (x[0] - x[1]).exp() },
        slopes: |_, z| [z, z, 0.0],
        // The difference is rounded before its power is taken.
        ulps: |x| 4.0 + (x[0] - x[1]).abs(),
        ..BASE
    },
    Elementwise {
        name: "floor",
        summary: "the largest whole number not above a",
        expr: |b, x| b.unary(Unary::Floor, x[0]),
        real: |x| x[0].floor(),
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "ceil",
        summary: "the smallest whole number not below a",
        expr: |b, x| b.unary(Unary::Ceil, x[0]),
        real: |x| x[0].ceil(),
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "round",
        summary: "the nearest whole number, ties to even",
        expr: |b, x| b.unary(Unary::Round, x[0]),
        real: |x| x[0].round_ties_even(),
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "trunc",
        summary: "the whole number towards zero",
        expr: |b, x| b.unary(Unary::Trunc, x[0]),
        real: |x| x[0].trunc(),
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "is_nan",
        summary: "whether a is NaN",
        gives: Gives::Bool,
        expr: |b, x| b.is_nan(x[0]),
        real: |x| f64::from(x[0].is_nan()),
        ulps: |_| 0.0,
        ..BASE
    },
    Elementwise {
        name: "tanh",
        summary: "the hyperbolic tangent",
        expr: tanh,
        real: |x| x[0].tanh(),
        slopes: |_, z| [1.0 - z * z, 0.0, 0.0],
        ulps: |_| 8.0,
        ..BASE
    },
];
