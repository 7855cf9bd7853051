//! Expressions from text, as they are printed.

use super::print::bare;
use super::{CostError, CostExpr, only};
use std::str::FromStr;

/// Most brackets, functions and signs within each other.
const DEEPEST: usize = 200;

struct Parser<'t> {
    text: &'t str,
    /// In bytes.
    at: usize,
    depth: usize,
}

impl FromStr for CostExpr {
    type Err = CostError;

    /// Reads what an expression prints, and `*` for `·`. At most 200 brackets, functions and signs may be within each other.
    fn from_str(text: &str) -> Result<CostExpr, CostError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let expression = parser.sum()?;
        if parser.rest().is_empty() {
            return Ok(expression);
        }
        Err(parser.wrong("a sign + - · or the end is expected"))
    }
}

impl<'t> Parser<'t> {
    /// What is left, without blanks in front.
    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn wrong(&self, what: &str) -> CostError {
        CostError::Syntax { at: self.text[..self.at].chars().count() + 1, what: what.to_owned() }
    }

    /// Whether one of `signs` is next; it is taken.
    fn take(&mut self, signs: &[char]) -> bool {
        let next = self.rest().chars().next().filter(|c| signs.contains(c));
        self.at += next.map_or(0, char::len_utf8);
        next.is_some()
    }

    fn expect(&mut self, sign: char) -> Result<(), CostError> {
        if self.take(&[sign]) { Ok(()) } else { Err(self.wrong(&format!("{sign} is expected"))) }
    }

    /// What `read` reads, one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, CostError>) -> Result<T, CostError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("more than 200 brackets within each other"));
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn sum(&mut self) -> Result<CostExpr, CostError> {
        let mut terms = vec![self.product()?];
        loop {
            if self.take(&['+']) {
                terms.push(self.product()?);
            } else if self.take(&['-']) {
                terms.push(negated(self.product()?));
            } else {
                return Ok(only(terms).unwrap_or_else(CostExpr::Sum));
            }
        }
    }

    fn product(&mut self) -> Result<CostExpr, CostError> {
        let mut factors = vec![self.factor()?];
        while self.take(&['·', '*']) {
            factors.push(self.factor()?);
        }
        Ok(only(factors).unwrap_or_else(CostExpr::Product))
    }

    fn factor(&mut self) -> Result<CostExpr, CostError> {
        let rest = self.rest();
        match rest.chars().next() {
            Some('(') => self.deeper(|parser| {
                parser.expect('(')?;
                let inner = parser.sum()?;
                parser.expect(')')?;
                Ok(inner)
            }),
            Some('-') => self.deeper(|parser| {
                parser.expect('-')?;
                parser.factor().map(negated)
            }),
            Some('`') => self.quoted(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            _ if bare(rest) > 0 => self.word(),
            _ => Err(self.wrong("a number, a name or ( is expected")),
        }
    }

    fn number(&mut self) -> Result<CostExpr, CostError> {
        let rest = self.rest();
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let mut end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        if let Some(exponent) = rest[end..].strip_prefix(['e', 'E']) {
            let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits(unsigned) > 0 {
                end = rest.len() - unsigned.len() + digits(unsigned);
            }
        }
        let value = rest[..end].parse().map_err(|_| self.wrong("no number"))?;
        self.at += end;
        Ok(CostExpr::Const(value))
    }

    /// A name or a function.
    fn word(&mut self) -> Result<CostExpr, CostError> {
        let rest = self.rest();
        let word = &rest[..bare(rest)];
        let function: Option<fn(Vec<CostExpr>) -> CostExpr> = match word {
            "inf" | "nan" => {
                self.at += word.len();
                return Ok(CostExpr::Const(if word == "inf" { f64::INFINITY } else { f64::NAN }));
            }
            "max" => Some(CostExpr::Max),
            "sum" => Some(CostExpr::Sum),
            "product" => Some(CostExpr::Product),
            _ => None,
        };
        self.at += word.len();
        match function {
            None => Ok(CostExpr::symbol(word)),
            Some(function) => self.deeper(Parser::list).map(function),
        }
    }

    fn list(&mut self) -> Result<Vec<CostExpr>, CostError> {
        self.expect('(')?;
        let mut all = Vec::new();
        if self.take(&[')']) {
            return Ok(all);
        }
        loop {
            all.push(self.sum()?);
            if !self.take(&[',']) {
                self.expect(')')?;
                return Ok(all);
            }
        }
    }

    /// A name between backquotes.
    fn quoted(&mut self) -> Result<CostExpr, CostError> {
        self.expect('`')?;
        let (mut name, text) = (String::new(), self.text);
        let mut chars = text[self.at..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '`' => {
                    self.at += at + 1;
                    return Ok(CostExpr::symbol(&name));
                }
                '\\' => match chars.next() {
                    Some((_, 'u')) => {
                        let code: String = chars.by_ref().map(|(_, c)| c).take_while(|&c| c != '}').collect();
                        let code = code.strip_prefix('{').and_then(|code| u32::from_str_radix(code, 16).ok());
                        name.push(
                            code.and_then(char::from_u32).ok_or_else(|| self.wrong("no \\u{..} of a character"))?,
                        );
                    }
                    Some((_, other)) => name.push(other),
                    None => break,
                },
                other => name.push(other),
            }
        }
        Err(self.wrong("a name without its closing `"))
    }
}

/// What is taken off: the number that an expression begins with changes its sign, and where it begins with none −1 does.
fn negated(expression: CostExpr) -> CostExpr {
    match expression {
        CostExpr::Const(value) => CostExpr::Const(-value),
        CostExpr::Product(mut factors) if factors.len() > 1 => {
            match factors.first_mut() {
                Some(CostExpr::Const(value)) => *value = -*value,
                _ => factors.insert(0, CostExpr::Const(-1.0)),
            }
            CostExpr::Product(factors)
        }
        other => CostExpr::Product(vec![CostExpr::Const(-1.0), other]),
    }
}
