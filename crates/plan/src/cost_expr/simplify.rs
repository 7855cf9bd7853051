//! Simpler expressions of the same value.

use super::{CostExpr, larger, only};

impl CostExpr {
    /// The same with constants worked out and put first, sums in sums, products in products and maxima in maxima opened, and
    /// what changes nothing left out. Where the value is finite it stays what it is, up to the rounding of another order of
    /// additions; a symbol that is multiplied by 0 is no longer asked for.
    #[must_use]
    pub fn simplify(&self) -> CostExpr {
        match self {
            CostExpr::Const(_) | CostExpr::Symbol(_) => self.clone(),
            CostExpr::Sum(terms) => {
                let (constant, mut rest) = folded(terms, opened_sum, 0.0, |a, b| a + b);
                put_first(constant.filter(|&c| c != 0.0), &mut rest);
                alone(rest, CostExpr::Const(0.0), CostExpr::Sum)
            }
            CostExpr::Product(factors) => {
                let (constant, mut rest) = folded(factors, opened_product, 1.0, |a, b| a * b);
                if constant == Some(0.0) {
                    return CostExpr::Const(0.0);
                }
                put_first(constant.filter(|&c| c != 1.0), &mut rest);
                alone(rest, CostExpr::Const(1.0), CostExpr::Product)
            }
            CostExpr::Max(all) => {
                let (constant, mut rest) = folded(all, opened_max, f64::NEG_INFINITY, larger);
                put_first(constant, &mut rest);
                alone(rest, CostExpr::Max(Vec::new()), CostExpr::Max)
            }
        }
    }
}

type Opened = Result<Vec<CostExpr>, CostExpr>;

fn opened_sum(expression: CostExpr) -> Opened {
    if let CostExpr::Sum(inner) = expression { Ok(inner) } else { Err(expression) }
}

fn opened_product(expression: CostExpr) -> Opened {
    if let CostExpr::Product(inner) = expression { Ok(inner) } else { Err(expression) }
}

/// A maximum of nothing stays: it has no value, and opened it would be gone.
fn opened_max(expression: CostExpr) -> Opened {
    match expression {
        CostExpr::Max(inner) if !inner.is_empty() => Ok(inner),
        other => Err(other),
    }
}

/// All simplified, those of the same form opened: their constants folded, if there are any, and the others.
fn folded(
    all: &[CostExpr],
    open: fn(CostExpr) -> Opened,
    start: f64,
    fold: fn(f64, f64) -> f64,
) -> (Option<f64>, Vec<CostExpr>) {
    let (mut constant, mut rest) = (None, Vec::new());
    for expression in all {
        for part in open(expression.simplify()).unwrap_or_else(|other| vec![other]) {
            match part {
                CostExpr::Const(value) => constant = Some(fold(constant.unwrap_or(start), value)),
                other => rest.push(other),
            }
        }
    }
    (constant, rest)
}

fn put_first(constant: Option<f64>, rest: &mut Vec<CostExpr>) {
    if let Some(value) = constant {
        rest.insert(0, CostExpr::Const(value));
    }
}

/// `several` of all, the only one, or what nothing is.
fn alone(all: Vec<CostExpr>, nothing: CostExpr, several: fn(Vec<CostExpr>) -> CostExpr) -> CostExpr {
    only(all).unwrap_or_else(|all| if all.is_empty() { nothing } else { several(all) })
}
