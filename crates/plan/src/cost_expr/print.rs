//! Expressions as text: `13 + 100·x[body,none,0] + max(a, 2·b)`.
//!
//! What is printed is read back to the same tree: a sum in a sum and a product in a product stand in brackets, sums and
//! products of fewer than two are written as functions, and names that could be mistaken stand between backquotes.

use super::CostExpr;
use std::fmt::{self, Display, Formatter, Write};

/// Words that are no names.
pub(super) const RESERVED: [&str; 5] = ["max", "sum", "product", "inf", "nan"];

/// Length in bytes of the bare name that a text starts with: a word, and what may stand in brackets behind it.
pub(super) fn bare(text: &str) -> usize {
    let starts = |c: char| c.is_alphabetic() || c == '_';
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'');
    if !text.starts_with(starts) {
        return 0;
    }
    let word = text.find(|c| !part(c)).unwrap_or(text.len());
    let Some(inside) = text[word..].strip_prefix('[') else { return word };
    let end = inside.find(|c: char| matches!(c, '[' | ']' | '`') || c.is_control());
    match end.filter(|&end| inside[end..].starts_with(']')) {
        Some(end) => word + end + 2,
        None => word,
    }
}

fn name(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    if bare(name) == name.len() && !name.is_empty() && !RESERVED.contains(&name) {
        return f.write_str(name);
    }
    f.write_char('`')?;
    for c in name.chars() {
        match c {
            '`' | '\\' => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "{}", c.escape_unicode())?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('`')
}

/// The shortest text of a number that is read back to it.
fn number(f: &mut Formatter<'_>, value: f64) -> fmt::Result {
    let size = value.abs();
    if value.is_nan() {
        f.write_str("nan")
    } else if size == 0.0 || size.is_infinite() || (1e-5..1e16).contains(&size) {
        write!(f, "{value}")
    } else {
        write!(f, "{value:e}")
    }
}

fn list(f: &mut Formatter<'_>, function: &str, all: &[CostExpr]) -> fmt::Result {
    write!(f, "{function}(")?;
    for (at, expression) in all.iter().enumerate() {
        f.write_str(if at > 0 { ", " } else { "" })?;
        write!(f, "{expression}")?;
    }
    f.write_char(')')
}

fn negative(expression: &CostExpr) -> Option<f64> {
    match expression {
        CostExpr::Const(value) if value.is_sign_negative() && !value.is_nan() => Some(*value),
        _ => None,
    }
}

/// Factors with signs between them, the first one given apart.
fn product(f: &mut Formatter<'_>, first: &CostExpr, rest: &[CostExpr]) -> fmt::Result {
    factor(f, first)?;
    rest.iter().try_for_each(|other| {
        f.write_char('·')?;
        factor(f, other)
    })
}

fn factor(f: &mut Formatter<'_>, expression: &CostExpr) -> fmt::Result {
    match expression {
        CostExpr::Sum(all) | CostExpr::Product(all) if all.len() > 1 => write!(f, "({expression})"),
        _ => write!(f, "{expression}"),
    }
}

fn term(f: &mut Formatter<'_>, expression: &CostExpr) -> fmt::Result {
    match expression {
        CostExpr::Sum(all) if all.len() > 1 => write!(f, "({expression})"),
        _ => write!(f, "{expression}"),
    }
}

/// Whether factors behind a minus are read as those of −1.
fn reads_as_taken_off(first: &CostExpr, rest: &[CostExpr]) -> bool {
    match first {
        CostExpr::Const(_) => false,
        CostExpr::Product(_) => !rest.is_empty(),
        _ => true,
    }
}

/// A term behind the first: what begins with a number below 0 is taken off.
fn further_term(f: &mut Formatter<'_>, expression: &CostExpr) -> fmt::Result {
    if let Some(value) = negative(expression) {
        f.write_str(" - ")?;
        return number(f, -value);
    }
    if let CostExpr::Product(factors) = expression
        && let [first, rest @ ..] = &factors[..]
        && let Some(value) = negative(first).filter(|_| !rest.is_empty())
    {
        f.write_str(" - ")?;
        return match rest {
            [next, further @ ..] if value == -1.0 && reads_as_taken_off(next, further) => product(f, next, further),
            _ => product(f, &CostExpr::Const(-value), rest),
        };
    }
    f.write_str(" + ")?;
    term(f, expression)
}

impl Display for CostExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            CostExpr::Const(value) => number(f, *value),
            CostExpr::Symbol(symbol) => name(f, symbol.name()),
            CostExpr::Max(all) => list(f, "max", all),
            CostExpr::Sum(all) => match &all[..] {
                [first, rest @ ..] if !rest.is_empty() => {
                    term(f, first)?;
                    rest.iter().try_for_each(|other| further_term(f, other))
                }
                few => list(f, "sum", few),
            },
            CostExpr::Product(all) => match &all[..] {
                [first, rest @ ..] if !rest.is_empty() => product(f, first, rest),
                few => list(f, "product", few),
            },
        }
    }
}
