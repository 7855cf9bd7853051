//! Expressions as linear forms, for linear programs that make them small.
//!
//! A maximum becomes a column of its own that is at least each of its arguments. That is exact where the program wants it
//! small, so a maximum may be added and multiplied by numbers from 0 on, and nothing else.

use super::{CostError, CostExpr, Env, SymbolId, larger};
use std::collections::BTreeMap;

/// A column of a linear form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// A variable, by its place among those that were given.
    Variable(usize),
    /// What is at least each row of [`Linear::epigraphs`] at this place.
    Epigraph(usize),
}

/// A constant and multiples of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Affine {
    /// The constant.
    pub constant: f64,
    /// Coefficients that are not 0.
    pub terms: BTreeMap<Column, f64>,
}

/// An expression as a linear form.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// What the expression is.
    pub value: Affine,
    /// For each epigraph column the rows that it is at least: each row has only columns of epigraphs before it.
    pub epigraphs: Vec<Vec<Affine>>,
}

impl Affine {
    fn constant(constant: f64) -> Affine {
        Affine { constant, terms: BTreeMap::new() }
    }

    fn column(column: Column) -> Affine {
        Affine { constant: 0.0, terms: BTreeMap::from([(column, 1.0)]) }
    }

    fn plus(mut self, other: Affine) -> Affine {
        self.constant += other.constant;
        for (column, coefficient) in other.terms {
            *self.terms.entry(column).or_insert(0.0) += coefficient;
        }
        self.terms.retain(|_, coefficient| *coefficient != 0.0);
        self
    }

    /// `None` for an epigraph that would be taken off.
    fn times(mut self, factor: f64) -> Option<Affine> {
        if factor < 0.0 && self.terms.keys().any(|column| matches!(column, Column::Epigraph(_))) {
            return None;
        }
        self.constant *= factor;
        self.terms.values_mut().for_each(|coefficient| *coefficient *= factor);
        self.terms.retain(|_, coefficient| *coefficient != 0.0);
        Some(self)
    }

    /// `None` if a column has no value.
    fn at(&self, variables: &[f64], epigraphs: &[f64]) -> Option<f64> {
        let of = |column: &Column| match *column {
            Column::Variable(at) => variables.get(at),
            Column::Epigraph(at) => epigraphs.get(at),
        };
        self.terms.iter().try_fold(self.constant, |sum, (column, coefficient)| Some(sum + coefficient * of(column)?))
    }

    fn finite(self, expression: &CostExpr) -> Result<Affine, CostError> {
        let all = std::iter::once(self.constant).chain(self.terms.values().copied());
        match all.into_iter().find(|value| !value.is_finite()) {
            Some(value) => Err(CostError::NotFinite { expression: expression.to_string(), value }),
            None => Ok(self),
        }
    }
}

impl Linear {
    /// The least value that the rows allow where the variables have these values, in the order in which they were given: that
    /// of the expression there. `None` if there are fewer values than variables that matter.
    pub fn eval(&self, variables: &[f64]) -> Option<f64> {
        let mut epigraphs: Vec<f64> = Vec::with_capacity(self.epigraphs.len());
        for rows in &self.epigraphs {
            let most =
                rows.iter().try_fold(f64::NEG_INFINITY, |most, row| Some(larger(most, row.at(variables, &epigraphs)?)));
            epigraphs.push(most?);
        }
        self.value.at(variables, &epigraphs)
    }
}

impl CostExpr {
    /// The linear form over `variables`; other symbols have the values of `env`.
    ///
    /// # Errors
    /// [`CostError::NotLinear`] for a product of two factors with variables, [`CostError::NotConvex`] for a maximum times a
    /// number below 0, [`CostError::NotFinite`], and as [`CostExpr::eval`].
    pub fn linearise(&self, variables: &[SymbolId], env: &Env) -> Result<Linear, CostError> {
        let places = variables.iter().enumerate().map(|(at, symbol)| (symbol, at)).collect();
        let mut writer = Writer { places, env, epigraphs: Vec::new() };
        let value = writer.affine(self)?;
        Ok(Linear { value, epigraphs: writer.epigraphs })
    }
}

struct Writer<'a> {
    places: BTreeMap<&'a SymbolId, usize>,
    env: &'a Env,
    epigraphs: Vec<Vec<Affine>>,
}

impl Writer<'_> {
    fn affine(&mut self, expression: &CostExpr) -> Result<Affine, CostError> {
        let affine = match expression {
            CostExpr::Const(value) => Affine::constant(*value),
            CostExpr::Symbol(symbol) => match self.places.get(symbol) {
                Some(&at) => Affine::column(Column::Variable(at)),
                None => Affine::constant(self.env.value(symbol)?),
            },
            CostExpr::Sum(terms) => {
                terms.iter().try_fold(Affine::constant(0.0), |sum, term| Ok(sum.plus(self.affine(term)?)))?
            }
            CostExpr::Product(factors) => self.product(factors)?,
            CostExpr::Max(all) => self.max(all)?,
        };
        affine.finite(expression)
    }

    fn product(&mut self, factors: &[CostExpr]) -> Result<Affine, CostError> {
        let mut product = Affine::constant(1.0);
        for (at, factor) in factors.iter().enumerate() {
            let next = self.affine(factor)?;
            let before = || CostExpr::Product(factors[..at].to_vec()).simplify();
            product = if next.terms.is_empty() {
                let not_convex = || CostError::NotConvex { factor: next.constant, expression: before().to_string() };
                product.times(next.constant).ok_or_else(not_convex)?
            } else if product.terms.is_empty() {
                let (by, expression) = (product.constant, factor.to_string());
                next.times(by).ok_or(CostError::NotConvex { factor: by, expression })?
            } else {
                return Err(CostError::NotLinear { left: before().to_string(), right: factor.to_string() });
            };
        }
        Ok(product)
    }

    fn max(&mut self, all: &[CostExpr]) -> Result<Affine, CostError> {
        let rows = all.iter().map(|other| self.affine(other)).collect::<Result<Vec<_>, _>>()?;
        if rows.iter().all(|row| row.terms.is_empty()) {
            let most = rows.iter().map(|row| row.constant).reduce(larger);
            return most.map(Affine::constant).ok_or(CostError::EmptyMax);
        }
        if let [only] = &rows[..] {
            return Ok(only.clone());
        }
        self.epigraphs.push(rows);
        Ok(Affine::column(Column::Epigraph(self.epigraphs.len() - 1)))
    }
}
