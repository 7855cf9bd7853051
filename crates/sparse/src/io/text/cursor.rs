//! A place in a block of text that moves over blanks, numbers and line ends.

use super::Wrong;
use super::number;

/// Reads fields from a block that ends with a line end. Never moves past that end.
#[derive(Clone)]
pub(crate) struct Cursor<'b> {
    text: &'b [u8],
    at: usize,
    /// Number of the current line in its file, from 1.
    pub(crate) line: u64,
}

impl<'b> Cursor<'b> {
    /// At the start of `text`, which is line `line` of its file.
    pub(crate) fn new(text: &'b [u8], line: u64) -> Self {
        Self { text, at: 0, line }
    }

    /// Nothing is left.
    #[inline(always)]
    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The byte here; a line end when nothing is left.
    #[inline(always)]
    pub(crate) fn peek(&self) -> u8 {
        match self.text.get(self.at) {
            Some(&byte) => byte,
            None => b'\n',
        }
    }

    /// Moves over blanks, tabs and carriage returns; says whether there were any.
    #[inline(always)]
    pub(crate) fn blanks(&mut self) -> bool {
        let from = self.at;
        while matches!(self.peek(), b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
        self.at > from
    }

    /// Moves over blanks and at most one comma; says whether there was anything.
    #[inline(always)]
    pub(crate) fn separator(&mut self) -> bool {
        let blank = self.blanks();
        if self.peek() != b',' {
            return blank;
        }
        self.at += 1;
        self.blanks();
        true
    }

    /// Whether a line ends here.
    #[inline(always)]
    pub(crate) fn is_at_line_end(&self) -> bool {
        self.peek() == b'\n'
    }

    /// Moves over the line end here, if there is one.
    #[inline(always)]
    pub(crate) fn line_end(&mut self) -> bool {
        if self.peek() != b'\n' || self.is_at_end() {
            return false;
        }
        self.at += 1;
        self.line += 1;
        true
    }

    /// The rest of the line, without its end; moves over both.
    pub(crate) fn rest_of_line(&mut self) -> &'b [u8] {
        let rest = &self.text[self.at.min(self.text.len())..];
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.at += length;
        self.line_end();
        &rest[..length]
    }

    /// The field here: up to a blank, a comma or the line end.
    #[inline(always)]
    fn field(&self) -> &'b [u8] {
        let rest = &self.text[self.at.min(self.text.len())..];
        let length = rest.iter().position(|&byte| matches!(byte, b' ' | b'\t' | b'\r' | b',' | b'\n'));
        &rest[..length.unwrap_or(rest.len())]
    }

    /// The complaint that fields run into each other here.
    #[cold]
    pub(crate) fn no_separator(&self) -> Wrong {
        Wrong::NoSeparator { found: number::shown(self.field()) }
    }

    /// The complaint that the line goes on behind its `fields`.
    #[cold]
    pub(crate) fn surplus(&self, fields: &'static str) -> Wrong {
        let found = if self.peek() == b',' { ",".to_owned() } else { number::shown(self.field()) };
        Wrong::Surplus { found, fields }
    }

    /// Whether the field here has ended.
    #[inline(always)]
    fn ends_field(&self) -> bool {
        matches!(self.peek(), b' ' | b'\t' | b'\r' | b',' | b'\n')
    }

    /// A whole number from 0 to 2^63 − 1; `what` names it in messages.
    #[inline(always)]
    pub(crate) fn index(&mut self, what: &'static str) -> Result<u64, Wrong> {
        let from = self.at;
        let mut number = 0u64;
        loop {
            let digit = self.peek().wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        let digits = self.at - from;
        if digits == 0 || digits > 18 || !self.ends_field() {
            self.at = from;
            return self.odd_index(what);
        }
        Ok(number)
    }

    /// What [`Cursor::index`] leaves: no digits, many of them, or something behind them.
    #[cold]
    #[inline(never)]
    fn odd_index(&mut self, what: &'static str) -> Result<u64, Wrong> {
        let field = self.field();
        let number = number::index(what, field)?;
        self.at += field.len();
        Ok(number)
    }

    /// A whole number with a sign, as exactly as an `i64` holds it; `what` names it in messages.
    #[inline(always)]
    pub(crate) fn integer(&mut self, what: &'static str) -> Result<i64, Wrong> {
        let from = self.at;
        let negative = self.peek() == b'-';
        if negative || self.peek() == b'+' {
            self.at += 1;
        }
        match self.index(what) {
            Ok(number) if negative => Ok(-(number as i64)),
            Ok(number) => Ok(number as i64),
            Err(_) => {
                self.at = from;
                Err(number::not_an_integer(what, self.field()))
            }
        }
    }

    /// A floating-point number; `1d5` is 1e5.
    #[inline(always)]
    pub(crate) fn float(&mut self) -> Result<f64, Wrong> {
        let field = self.field();
        let number = number::float(field)?;
        self.at += field.len();
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_line() {
        let mut c = Cursor::new(b" 12\t034 , -7\r\n\n+1.5\n", 3);
        assert!(c.blanks());
        assert_eq!(c.index("id"), Ok(12));
        assert!(c.separator());
        assert_eq!(c.index("id"), Ok(34));
        assert!(c.separator());
        assert_eq!(c.clone().integer("v"), Ok(-7));
        assert_eq!(c.float(), Ok(-7.0));
        assert!(!c.line_end());
        c.blanks();
        assert!(c.line_end() && c.line_end() && !c.line_end());
        assert_eq!(c.float(), Ok(1.5));
        assert_eq!(c.line, 5);
        assert!(c.line_end() && c.is_at_end() && !c.line_end());
        assert_eq!(c.rest_of_line(), b"");
    }

    #[test]
    fn largest_index() {
        let index = |text: &str| Cursor::new(format!("{text}\n").as_bytes(), 1).index("id");
        assert_eq!(index("9223372036854775807"), Ok(i64::MAX as u64));
        assert_eq!(index("0000000000000000000000000000000000012"), Ok(12));
        assert_eq!(index("999999999999999999"), Ok(999_999_999_999_999_999));
        let text = |r: Result<u64, Wrong>| r.unwrap_err().to_string();
        assert_eq!(text(index("9223372036854775808")), "id 9223372036854775808 is above 2^63 - 1");
        assert_eq!(text(index("-3")), "id -3 is negative");
        assert_eq!(text(index("3x")), "id '3x' is not a whole number");
        assert_eq!(text(index("1.0")), "id '1.0' is not a whole number");
        assert_eq!(text(index("")), "id is missing");
        assert_eq!(text(index("+5")), "id '+5' is not a whole number");
    }
}
