//! Costs as expressions over named symbols: evaluated, printed and read back, simplified, made linear.
//!
//! An expression is a tree of constants, symbols, sums, products and maxima. [`CostExpr::eval`] gives its number,
//! [`CostExpr::eval_whole`] the same in whole ticks, its `Display` the text that `FromStr` reads back to the same tree,
//! [`CostExpr::linearise`] rows of a linear program. Nothing here knows layers or schedules.
//!
//! ```
//! use sapwood_plan::cost_expr::{CostExpr, Env, SymbolId};
//!
//! let time: CostExpr = "13 + 100·x[body,none,0] + max(a, 2·b)".parse()?;
//! let mut env = Env::new();
//! for (name, value) in [("x[body,none,0]", 6.0), ("a", 3.0), ("b", 1.0)] {
//!     env.bind(SymbolId::new(name), value);
//! }
//! assert_eq!(time.eval(&env)?, 616.0);
//! assert_eq!(time.substitute(&env).to_string(), "13 + 100·6 + max(3, 2·1)");
//!
//! // Over the variable a it is linear but for a maximum, which becomes a column t with rows t ≥ a and t ≥ 2.
//! let form = time.linearise(&[SymbolId::new("a")], &env)?;
//! assert_eq!(form.eval(&[3.0]), Some(616.0));
//! # Ok::<(), sapwood_plan::cost_expr::CostError>(())
//! ```

mod error;
mod linear;
mod parse;
mod print;
mod simplify;

pub use error::CostError;
pub use linear::{Affine, Column, Linear};

use std::collections::BTreeMap;
use std::sync::Arc;

/// A symbol. It is its name, so that expressions from different places can be put together; cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(Arc<str>);

impl SymbolId {
    /// The symbol called `name`; any text is a name.
    pub fn new(name: &str) -> SymbolId {
        SymbolId(Arc::from(name))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// Values of symbols.
#[derive(Debug, Clone, PartialEq)]
pub struct Env<T = f64>(BTreeMap<SymbolId, T>);

impl<T> Default for Env<T> {
    fn default() -> Env<T> {
        Env(BTreeMap::new())
    }
}

impl<T: Copy> Env<T> {
    /// No symbol has a value.
    pub fn new() -> Env<T> {
        Env::default()
    }

    /// Gives a symbol a value, in place of one that it may have.
    pub fn bind(&mut self, symbol: SymbolId, value: T) {
        self.0.insert(symbol, value);
    }

    /// The value of a symbol.
    pub fn get(&self, symbol: &SymbolId) -> Option<T> {
        self.0.get(symbol).copied()
    }

    fn value(&self, symbol: &SymbolId) -> Result<T, CostError> {
        self.get(symbol).ok_or_else(|| CostError::Unbound { symbol: symbol.name().to_owned() })
    }
}

/// A cost.
#[derive(Debug, Clone, PartialEq)]
pub enum CostExpr {
    /// A number.
    Const(f64),
    /// What a symbol stands for.
    Symbol(SymbolId),
    /// The sum of all; 0 if there are none.
    Sum(Vec<CostExpr>),
    /// The product of all; 1 if there are none.
    Product(Vec<CostExpr>),
    /// The largest; there must be one.
    Max(Vec<CostExpr>),
}

/// The larger one; no number if one of them is none.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b || (a == b && a.is_sign_positive()) { a } else { b }
}

/// The only one of all, or all as they are.
fn only(mut all: Vec<CostExpr>) -> Result<CostExpr, Vec<CostExpr>> {
    let last = all.pop();
    match last {
        Some(last) if all.is_empty() => Ok(last),
        last => {
            all.extend(last);
            Err(all)
        }
    }
}

/// A constant as a whole number.
fn whole(constant: f64) -> Result<u64, CostError> {
    let fits = (0.0..9_007_199_254_740_992.0).contains(&constant) && constant.fract() == 0.0;
    if fits { Ok(constant as u64) } else { Err(CostError::NotWhole { constant }) }
}

impl CostExpr {
    /// The symbol called `name`.
    pub fn symbol(name: &str) -> CostExpr {
        CostExpr::Symbol(SymbolId::new(name))
    }

    /// The value where symbols have those of `env`.
    ///
    /// # Errors
    /// [`CostError::Unbound`], [`CostError::EmptyMax`].
    pub fn eval(&self, env: &Env) -> Result<f64, CostError> {
        match self {
            CostExpr::Const(value) => Ok(*value),
            CostExpr::Symbol(symbol) => env.value(symbol),
            CostExpr::Sum(terms) => terms.iter().try_fold(0.0, |sum, term| Ok(sum + term.eval(env)?)),
            CostExpr::Product(factors) => {
                factors.iter().try_fold(1.0, |product, factor| Ok(product * factor.eval(env)?))
            }
            CostExpr::Max(all) => {
                let (first, rest) = all.split_first().ok_or(CostError::EmptyMax)?;
                rest.iter().try_fold(first.eval(env)?, |most, other| Ok(larger(most, other.eval(env)?)))
            }
        }
    }

    /// The value in whole numbers, exact.
    ///
    /// # Errors
    /// As [`CostExpr::eval`]; [`CostError::NotWhole`] for a constant that is none, [`CostError::TooLarge`] beyond u64.
    pub fn eval_whole(&self, env: &Env<u64>) -> Result<u64, CostError> {
        let each = |all: &[CostExpr], start: u64, with: fn(u64, u64) -> Option<u64>| {
            all.iter().try_fold(start, |sofar, other| with(sofar, other.eval_whole(env)?).ok_or(CostError::TooLarge))
        };
        match self {
            CostExpr::Const(value) => whole(*value),
            CostExpr::Symbol(symbol) => env.value(symbol),
            CostExpr::Sum(terms) => each(terms, 0, u64::checked_add),
            CostExpr::Product(factors) => each(factors, 1, u64::checked_mul),
            CostExpr::Max(all) if all.is_empty() => Err(CostError::EmptyMax),
            CostExpr::Max(all) => each(all, 0, |a, b| Some(a.max(b))),
        }
    }

    /// The same with numbers in place of the symbols that have values; nothing is worked out.
    #[must_use]
    pub fn substitute(&self, env: &Env) -> CostExpr {
        let each = |all: &[CostExpr]| all.iter().map(|other| other.substitute(env)).collect();
        match self {
            CostExpr::Const(value) => CostExpr::Const(*value),
            CostExpr::Symbol(symbol) => env.get(symbol).map_or_else(|| self.clone(), CostExpr::Const),
            CostExpr::Sum(terms) => CostExpr::Sum(each(terms)),
            CostExpr::Product(factors) => CostExpr::Product(each(factors)),
            CostExpr::Max(all) => CostExpr::Max(each(all)),
        }
    }
}
