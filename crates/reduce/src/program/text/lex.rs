//! Words of a program text, one at a time, with their places.

use crate::error::{Error, Result};

/// A word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    /// A letter or `_`, then letters, digits, `_`.
    Name(&'a str),
    /// A number without a sign.
    Number(&'a str),
    /// Punctuation.
    Sign(&'static str),
    /// The text is over.
    End,
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Name(word) | Token::Number(word) => write!(f, "'{word}'"),
            Token::Sign(sign) => write!(f, "'{sign}'"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// Line and column (in characters), from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Longest first.
const SIGNS: [&str; 15] = ["<=", ">=", "==", "<", ">", "=", "+", "-", "*", "/", "(", ")", "[", "]", ","];

/// Walks through a text; a copy looks ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'a> {
    origin: &'a str,
    rest: &'a str,
    place: Place,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, origin: &'a str) -> Lexer<'a> {
        Lexer { origin, rest: text, place: Place { line: 1, column: 1 } }
    }

    /// An error at a place of the text.
    pub(super) fn fault(&self, place: Place, message: impl Into<String>) -> Error {
        Error::Text { origin: self.origin.into(), line: place.line, column: place.column, message: message.into() }
    }

    /// Goes on by `bytes`, and gives what lies there.
    fn pass(&mut self, bytes: usize) -> &'a str {
        let (word, rest) = self.rest.split_at(bytes);
        for c in word.chars() {
            self.place.column += 1;
            if c == '\n' {
                self.place = Place { line: self.place.line + 1, column: 1 };
            }
        }
        self.rest = rest;
        word
    }

    /// Bytes from the start, or from `from`, on which `f` holds.
    fn span(&self, from: usize, f: impl Fn(char) -> bool) -> usize {
        let tail = &self.rest[from..];
        from + tail.find(|c| !f(c)).unwrap_or(tail.len())
    }

    fn skip_blanks(&mut self) {
        loop {
            let blanks = self.span(0, char::is_whitespace);
            self.pass(blanks);
            if !self.rest.starts_with('#') {
                return;
            }
            let comment = self.span(0, |c| c != '\n');
            self.pass(comment);
        }
    }

    /// The next word and where it begins.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, Place)> {
        self.skip_blanks();
        let place = self.place;
        let Some(first) = self.rest.chars().next() else { return Ok((Token::End, place)) };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if first.is_ascii_digit() {
            let word = self.pass(self.number());
            return match self.rest.chars().next() {
                Some(c) if is_name(c) || c == '.' => Err(self.fault(place, format!("'{word}{c}' is no number"))),
                _ => Ok((Token::Number(word), place)),
            };
        }
        if is_name(first) {
            return Ok((Token::Name(self.pass(self.span(0, is_name))), place));
        }
        match SIGNS.into_iter().chain([":"]).find(|s| self.rest.starts_with(s)) {
            Some(sign) => {
                self.pass(sign.len());
                Ok((Token::Sign(sign), place))
            }
            None => Err(self.fault(place, format!("{first:?} means nothing here"))),
        }
    }

    /// Bytes of the number that begins here: digits ["." digits] ["e" ["+"|"-"] digits].
    fn number(&self) -> usize {
        let digits = |from| self.span(from, |c| c.is_ascii_digit());
        let mut end = digits(0);
        if self.rest[end..].starts_with('.') && digits(end + 1) > end + 1 {
            end = digits(end + 1);
        }
        if self.rest[end..].starts_with('e') {
            let signed = usize::from(self.rest[end + 1..].starts_with(['+', '-']));
            if digits(end + 1 + signed) > end + 1 + signed {
                end = digits(end + 1 + signed);
            }
        }
        end
    }
}
