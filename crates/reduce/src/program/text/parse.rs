//! Statements and expressions of a program text.

use super::lex::{Lexer, Place, Token};
use super::literal::Literal;
use super::{MAX_DEPTH, MAX_LIST, MAX_TEXT, RESERVED};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::program::{Program, ValueId};
use crate::tensor::c_strides;
use std::collections::{BTreeMap, BTreeSet};

/// What an expression stands for.
#[derive(Debug, Clone)]
pub(super) enum Term {
    /// A number without a type yet.
    Number(Literal),
    /// The results of a call, or one value.
    Values(Vec<ValueId>),
}

/// Operators of one level, weakest first; each is an elementwise operation.
const LEVELS: [&[(&str, &str)]; 3] = [
    &[("<", "lt"), ("<=", "le"), ("==", "eq"), (">", "gt"), (">=", "ge")],
    &[("+", "add"), ("-", "sub")],
    &[("*", "mul"), ("/", "div")],
];

/// A text on its way to a program.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next word, and where it is.
    pub(super) token: Token<'a>,
    pub(super) place: Place,
    pub(super) program: Program,
    names: BTreeMap<&'a str, ValueId>,
    bindings: &'a BTreeMap<String, usize>,
    dims: BTreeSet<&'a str>,
    depth: usize,
}

pub(super) fn parse(text: &str, origin: &str, bindings: &BTreeMap<String, usize>) -> Result<Program> {
    let mut lexer = Lexer::new(text, origin);
    let place = Place { line: 1, column: 1 };
    if text.len() > MAX_TEXT {
        let message = format!("the text has {} bytes; the longest program has {MAX_TEXT}", text.len());
        return Err(lexer.fault(place, message));
    }
    let (token, place) = lexer.next()?;
    let (names, dims) = (BTreeMap::new(), BTreeSet::new());
    let mut parser = Parser { lexer, token, place, program: Program::new(""), names, bindings, dims, depth: 0 };
    parser.whole()?;
    match bindings.keys().find(|name| !parser.dims.contains(name.as_str())) {
        Some(name) => Err(Error::value(format!("binding {name}"), "no input has a dimension of that name")),
        None => Ok(parser.program),
    }
}

impl<'a> Parser<'a> {
    /// Goes to the next word; gives this one.
    pub(super) fn step(&mut self) -> Result<Token<'a>> {
        let (token, place) = self.lexer.next()?;
        self.place = place;
        Ok(std::mem::replace(&mut self.token, token))
    }

    /// The word after the next one.
    pub(super) fn after(&self) -> Option<Token<'a>> {
        let mut ahead = self.lexer;
        ahead.next().ok().map(|(token, _)| token)
    }

    /// An error at the next word.
    pub(super) fn expected<T>(&self, what: &str) -> Result<T> {
        Err(self.lexer.fault(self.place, format!("{what} is expected, not {}", self.token)))
    }

    pub(super) fn fault<T>(&self, place: Place, message: impl Into<String>) -> Result<T> {
        Err(self.lexer.fault(place, message))
    }

    /// What the builder says, at a place of the text.
    pub(super) fn located<T>(&self, place: Place, result: Result<T>) -> Result<T> {
        result.map_err(|error| match error {
            Error::Text { .. } | Error::Unbound { .. } => error,
            other => self.lexer.fault(place, other.to_string()),
        })
    }

    /// Whether the next word is `sign`; if so it is passed.
    pub(super) fn accept(&mut self, sign: &'static str) -> Result<bool> {
        let is_there = self.token == Token::Sign(sign);
        if is_there {
            self.step()?;
        }
        Ok(is_there)
    }

    pub(super) fn expect(&mut self, sign: &'static str) -> Result<()> {
        if self.accept(sign)? { Ok(()) } else { self.expected(&format!("'{sign}'")) }
    }

    /// A name that is no reserved word.
    pub(super) fn name(&mut self, what: &str) -> Result<&'a str> {
        match self.token {
            Token::Name(name) if !RESERVED.contains(&name) => {
                self.step()?;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    fn whole(&mut self) -> Result<()> {
        if self.step()? != Token::Name("program") {
            return self.fault(Place { line: 1, column: 1 }, "a program begins with 'program NAME'");
        }
        self.program.name = self.name("the program's name")?.into();
        loop {
            match self.token {
                Token::End => return Ok(()),
                Token::Name("input") => self.input()?,
                Token::Name("output") => self.output()?,
                _ => self.binding()?,
            }
        }
    }

    fn bind(&mut self, place: Place, name: &'a str, v: ValueId) -> Result<()> {
        match self.names.insert(name, v) {
            None => Ok(()),
            Some(_) => self.fault(place, format!("'{name}' is bound already; every name is bound once")),
        }
    }

    /// `input NAME : DTYPE [ dims ]`, then perhaps `strides [ numbers ]`.
    fn input(&mut self) -> Result<()> {
        self.step()?;
        let place = self.place;
        let name = self.name("the input's name")?;
        self.expect(":")?;
        let dtype = self.dtype()?;
        let shape = self.list("[", |p| p.dim(name))?;
        let strides = if self.token == Token::Name("strides") && self.after() == Some(Token::Sign("[")) {
            self.step()?;
            self.list("[", |p| p.size("a stride"))?
        } else {
            c_strides(&shape)
        };
        let made = self.program.input_strided(name, dtype, &shape, &strides);
        let v = self.located(place, made)?;
        self.bind(place, name, v)
    }

    fn dtype(&mut self) -> Result<Dtype> {
        match self.token {
            Token::Name(word) if Dtype::from_name(word).is_some() => {
                self.step()?;
                Ok(Dtype::from_name(word).unwrap_or(Dtype::F32))
            }
            _ => self.expected(&format!("a type ({})", Dtype::ALL.map(Dtype::name).join(", "))),
        }
    }

    /// An extent, as a number or by its name.
    fn dim(&mut self, input: &str) -> Result<usize> {
        let Token::Name(dim) = self.token else { return self.size("an extent") };
        self.step()?;
        self.dims.insert(dim);
        self.bindings.get(dim).copied().ok_or_else(|| Error::Unbound { input: input.into(), dim: dim.into() })
    }

    fn size(&mut self, what: &str) -> Result<usize> {
        let Token::Number(word) = self.token else { return self.expected(what) };
        match Literal::of(word).and_then(Literal::whole) {
            Some(size) => {
                self.step()?;
                Ok(size)
            }
            None => self.fault(self.place, format!("{what} has to be a whole number below 2^64, not {word}")),
        }
    }

    /// `[ items ]`.
    pub(super) fn list<T>(&mut self, open: &'static str, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let place = self.place;
        self.expect(open)?;
        let mut items = Vec::new();
        while self.token != Token::Sign("]") {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
            if items.len() > MAX_LIST {
                return self.fault(place, format!("a list has at most {MAX_LIST} entries"));
            }
        }
        self.step()?;
        Ok(items)
    }

    fn output(&mut self) -> Result<()> {
        self.step()?;
        loop {
            let place = self.place;
            let name = self.name("the output's name")?;
            let v = self.value_of(place, name)?;
            let made = self.program.output(name, v);
            self.located(place, made)?;
            if !self.accept(",")? {
                return Ok(());
            }
        }
    }

    fn value_of(&self, place: Place, name: &str) -> Result<ValueId> {
        match self.names.get(name) {
            Some(&v) => Ok(v),
            None => self.fault(place, format!("nothing is called '{name}' here")),
        }
    }

    /// `a, b = expression`.
    fn binding(&mut self) -> Result<()> {
        let mut names = vec![(self.place, self.name("'input', 'output' or a name")?)];
        while self.accept(",")? {
            names.push((self.place, self.name("a name")?));
        }
        self.expect("=")?;
        let place = self.place;
        let values = match self.expression()? {
            Term::Number(number) => vec![number.constant(&mut self.program, Dtype::F32)?],
            Term::Values(values) => values,
        };
        if values.len() != names.len() {
            return self.fault(place, format!("{} results for {} names", values.len(), names.len()));
        }
        for ((place, name), v) in names.into_iter().zip(values) {
            self.bind(place, name, v)?;
        }
        Ok(())
    }

    pub(super) fn expression(&mut self) -> Result<Term> {
        self.level(0)
    }

    /// Operators of one level and what binds tighter.
    fn level(&mut self, level: usize) -> Result<Term> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Token::Sign(sign) = self.token {
            let Some(&(_, op)) = operators.iter().find(|(s, _)| *s == sign) else { break };
            let place = self.place;
            self.step()?;
            let right = self.level(level + 1)?;
            left = Term::Values(vec![self.elementwise(place, op, &[left, right])?]);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Term> {
        let place = self.place;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fault(place, format!("expressions are nested deeper than {MAX_DEPTH}; name the inner ones"));
        }
        let term = if self.accept("-")? {
            match self.unary()? {
                Term::Number(number) => Term::Number(number.negated()),
                values => Term::Values(vec![self.elementwise(place, "neg", &[values])?]),
            }
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(term)
    }

    fn primary(&mut self) -> Result<Term> {
        let place = self.place;
        if self.accept("(")? {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.token {
            Token::Number(word) | Token::Name(word @ ("inf" | "nan")) => {
                self.step()?;
                match Literal::of(word) {
                    Some(number) => Ok(Term::Number(number)),
                    None => self.fault(place, format!("'{word}' is no number")),
                }
            }
            Token::Name(_) if self.after() == Some(Token::Sign("(")) => self.call(),
            Token::Name(_) => {
                let name = self.name("a value")?;
                Ok(Term::Values(vec![self.value_of(place, name)?]))
            }
            _ => self.expected("a value"),
        }
    }
}
