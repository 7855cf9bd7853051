//! Scalar arithmetic as data: what one element, or one pair of accumulators, goes through.
//!
//! Elementwise operations and reduction operators state their arithmetic once, with a [`ScalarBuilder`]; whatever
//! executes them interprets or prints the same instructions. There is no implicit contraction: a fused multiply-add is an
//! instruction of its own. `eval` is the slow twin of every executor: one element at a time.

mod constant;
mod eval;

pub use constant::Const;
pub use eval::eval;

use crate::dtype::{Dtype, Scalar};
use std::collections::HashMap;

/// A value inside a [`ScalarBuilder`]: the number of the instruction that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScalarExpr(pub(crate) u32);

/// Operations of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// −x; whole numbers wrap.
    Neg,
    /// |x|; whole numbers wrap.
    Abs,
    /// Correctly rounded square root.
    Sqrt,
    /// e^x of `skeleton::math`.
    Exp,
    /// Natural logarithm of `skeleton::math`.
    Ln,
    /// Largest whole number not above x.
    Floor,
    /// Smallest whole number not below x.
    Ceil,
    /// Nearest whole number, ties to even.
    Round,
    /// Whole number towards zero.
    Trunc,
    /// Complement: logical for bool, bitwise for whole numbers.
    Not,
}

/// Operations of two operands of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// a + b; whole numbers wrap.
    Add,
    /// a − b; whole numbers wrap.
    Sub,
    /// a · b; whole numbers wrap.
    Mul,
    /// a / b; whole numbers towards zero, x / 0 is 0.
    Div,
    /// Remainder with the sign of a; whole numbers: x rem 0 is 0.
    Rem,
    /// The larger; NaN if one is NaN; +0 above −0.
    Max,
    /// The smaller; NaN if one is NaN; −0 below +0.
    Min,
    /// And: logical or bitwise.
    And,
    /// Or.
    Or,
    /// Exclusive or.
    Xor,
}

/// Comparisons: of two operands of one type, to bool. Each is false with a NaN, except `Ne`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Instr {
    /// Operand number n of the whole.
    Arg(u32),
    /// A constant.
    Const(Const),
    /// An operation of one operand.
    Unary(Unary, ScalarExpr),
    /// An operation of two.
    Binary(Binary, ScalarExpr, ScalarExpr),
    /// A comparison.
    Compare(Compare, ScalarExpr, ScalarExpr),
    /// The second if the first (bool) is true, else the third.
    Select(ScalarExpr, ScalarExpr, ScalarExpr),
    /// a · b + c, rounded once.
    Fma(ScalarExpr, ScalarExpr, ScalarExpr),
    /// Conversion to the type of the instruction: floats to whole numbers towards zero and saturating (NaN to 0), whole
    /// numbers to floats to nearest, whole numbers to each other modulo 2^bits, anything to bool by "is not 0".
    Convert(ScalarExpr),
    /// Rounds to, or wraps in, a type of memory that is narrower than its register.
    Narrow(Dtype, ScalarExpr),
}

impl Instr {
    /// The instructions this one reads.
    pub fn operands(&self) -> impl Iterator<Item = ScalarExpr> {
        let (a, b, c) = match *self {
            Instr::Arg(_) | Instr::Const(_) => (None, None, None),
            Instr::Unary(_, a) | Instr::Convert(a) | Instr::Narrow(_, a) => (Some(a), None, None),
            Instr::Binary(_, a, b) | Instr::Compare(_, a, b) => (Some(a), Some(b), None),
            Instr::Select(a, b, c) | Instr::Fma(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }

    /// The same instruction on other operands.
    #[must_use]
    pub fn with(&self, mut f: impl FnMut(ScalarExpr) -> ScalarExpr) -> Instr {
        match *self {
            Instr::Arg(_) | Instr::Const(_) => *self,
            Instr::Unary(op, a) => Instr::Unary(op, f(a)),
            Instr::Binary(op, a, b) => Instr::Binary(op, f(a), f(b)),
            Instr::Compare(op, a, b) => Instr::Compare(op, f(a), f(b)),
            Instr::Select(a, b, c) => Instr::Select(f(a), f(b), f(c)),
            Instr::Fma(a, b, c) => Instr::Fma(f(a), f(b), f(c)),
            Instr::Convert(a) => Instr::Convert(f(a)),
            Instr::Narrow(d, a) => Instr::Narrow(d, f(a)),
        }
    }
}

/// Instructions in order, each with the type of its value. Equal instructions are kept once.
#[derive(Debug, Clone, Default)]
pub struct ScalarBuilder {
    code: Vec<(Instr, Scalar)>,
    known: HashMap<(Instr, Scalar), ScalarExpr>,
}

impl ScalarBuilder {
    /// No instructions.
    pub fn new() -> ScalarBuilder {
        ScalarBuilder::default()
    }

    /// The instructions; an instruction reads only earlier ones.
    pub fn code(&self) -> &[(Instr, Scalar)] {
        &self.code
    }

    /// Type of a value.
    pub fn kind(&self, e: ScalarExpr) -> Scalar {
        self.code[e.0 as usize].1
    }

    /// Adds an instruction whose value has type `kind`, or finds it.
    pub fn push(&mut self, instr: Instr, kind: Scalar) -> ScalarExpr {
        if let Some(&known) = self.known.get(&(instr, kind)) {
            return known;
        }
        let e = ScalarExpr(self.code.len() as u32);
        self.code.push((instr, kind));
        self.known.insert((instr, kind), e);
        e
    }

    /// Operand number `index`, of type `kind`.
    pub fn arg(&mut self, index: usize, kind: Scalar) -> ScalarExpr {
        self.push(Instr::Arg(index as u32), kind)
    }

    /// A constant.
    pub fn constant(&mut self, value: Const) -> ScalarExpr {
        self.push(Instr::Const(value), value.kind())
    }

    /// The constant nearest to `value` in the type of `like`.
    pub fn number(&mut self, value: f64, like: ScalarExpr) -> ScalarExpr {
        let kind = self.kind(like);
        self.constant(Const::from_f64(value, kind))
    }

    /// An operation of one operand.
    pub fn unary(&mut self, op: Unary, a: ScalarExpr) -> ScalarExpr {
        let kind = self.kind(a);
        self.push(Instr::Unary(op, a), kind)
    }

    /// An operation of two operands, which have one type.
    pub fn binary(&mut self, op: Binary, a: ScalarExpr, b: ScalarExpr) -> ScalarExpr {
        debug_assert_eq!(self.kind(a), self.kind(b), "{op:?}");
        let kind = self.kind(a);
        self.push(Instr::Binary(op, a, b), kind)
    }

    /// A comparison of two operands, which have one type.
    pub fn compare(&mut self, op: Compare, a: ScalarExpr, b: ScalarExpr) -> ScalarExpr {
        debug_assert_eq!(self.kind(a), self.kind(b), "{op:?}");
        self.push(Instr::Compare(op, a, b), Scalar::Bool)
    }

    /// `yes` where `condition` holds, else `no`.
    pub fn select(&mut self, condition: ScalarExpr, yes: ScalarExpr, no: ScalarExpr) -> ScalarExpr {
        debug_assert_eq!(self.kind(yes), self.kind(no));
        let kind = self.kind(yes);
        if yes == no { yes } else { self.push(Instr::Select(condition, yes, no), kind) }
    }

    /// a · b + c, rounded once.
    pub fn fma(&mut self, a: ScalarExpr, b: ScalarExpr, c: ScalarExpr) -> ScalarExpr {
        let kind = self.kind(a);
        self.push(Instr::Fma(a, b, c), kind)
    }

    /// `a` as another type; nothing if it has that type.
    pub fn convert(&mut self, a: ScalarExpr, to: Scalar) -> ScalarExpr {
        if self.kind(a) == to { a } else { self.push(Instr::Convert(a), to) }
    }

    /// `a` as an element of type `to` would hold it; nothing if its register holds the same values.
    pub fn narrow(&mut self, a: ScalarExpr, to: Dtype) -> ScalarExpr {
        let a = self.convert(a, to.scalar());
        if to.is_narrow() { self.push(Instr::Narrow(to, a), to.scalar()) } else { a }
    }

    /// Whether `a` is NaN; false for whole numbers.
    pub fn is_nan(&mut self, a: ScalarExpr) -> ScalarExpr {
        if self.kind(a).is_float() {
            self.compare(Compare::Ne, a, a)
        } else {
            self.constant(Const::from_f64(0.0, Scalar::Bool))
        }
    }

    /// Puts the instructions `code` in, with `args` for its operands; gives where each of them is now.
    pub fn inline(&mut self, code: &[(Instr, Scalar)], args: &[ScalarExpr]) -> Vec<ScalarExpr> {
        let mut at: Vec<ScalarExpr> = Vec::with_capacity(code.len());
        for &(instr, kind) in code {
            let here = match instr {
                Instr::Arg(i) => args[i as usize],
                _ => self.push(instr.with(|e| at[e.0 as usize]), kind),
            };
            at.push(here);
        }
        at
    }
}

macro_rules! shorthands {
    ($($name:ident $op:ident),*) => {
        impl ScalarBuilder {
            $(#[doc = concat!("[`Binary::", stringify!($op), "`].")]
            pub fn $name(&mut self, a: ScalarExpr, b: ScalarExpr) -> ScalarExpr {
                self.binary(Binary::$op, a, b)
            })*
        }
    };
}

shorthands!(add Add, sub Sub, mul Mul, div Div, max Max, min Min, and And, or Or);
