//! Reading the arguments of operations: lengths that must lie inside the file, lines, numbers, quoted strings.

use super::value::Span;
use std::ops::Range;

/// What is wrong, without the place.
pub(super) type Wrong = String;

/// The bytes of a file and how far they are read.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Wrong> {
        let range = self.span(N)?;
        self.bytes[range].try_into().map_err(|_| ended())
    }

    pub(super) fn u8(&mut self) -> Result<u8, Wrong> {
        Ok(self.fixed::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, Wrong> {
        Ok(u16::from_le_bytes(self.fixed()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Wrong> {
        Ok(u32::from_le_bytes(self.fixed()?))
    }

    pub(super) fn i32(&mut self) -> Result<i32, Wrong> {
        Ok(i32::from_le_bytes(self.fixed()?))
    }

    /// The only number of a pickle that is big-endian.
    pub(super) fn f64(&mut self) -> Result<f64, Wrong> {
        Ok(f64::from_be_bytes(self.fixed()?))
    }

    /// The next `length` bytes.
    pub(super) fn span(&mut self, length: usize) -> Result<Range<usize>, Wrong> {
        let left = self.bytes.len() - self.at;
        if length > left {
            return Err(format!("asks for {length} bytes where {left} are left, the file is truncated or corrupt"));
        }
        let range = self.at..self.at + length;
        self.at = range.end;
        Ok(range)
    }

    /// [`Cursor::span`] with a length of four bytes and a sign.
    pub(super) fn signed_span(&mut self) -> Result<Range<usize>, Wrong> {
        let length = self.i32()?;
        match usize::try_from(length) {
            Ok(length) => self.span(length),
            Err(_) => Err(format!("has the negative length {length}")),
        }
    }

    /// The rest of the line, without its end.
    pub(super) fn line(&mut self) -> Result<&'a [u8], Wrong> {
        let line = self.whole_line()?;
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The rest of the line; a carriage return belongs to it.
    fn whole_line(&mut self) -> Result<&'a [u8], Wrong> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&b| b == b'\n').ok_or_else(ended)?;
        self.at += length + 1;
        Ok(&rest[..length])
    }

    /// A line that is a whole number, with or without the L of Python 2.
    pub(super) fn decimal(&mut self) -> Result<i64, Wrong> {
        let line = self.line()?;
        let digits = line.strip_suffix(b"L").unwrap_or(line);
        let number = std::str::from_utf8(digits).ok().and_then(|s| s.trim().parse().ok());
        number.ok_or_else(|| format!("'{}' is no whole number of 64 bits", shown(line)))
    }

    pub(super) fn float(&mut self) -> Result<f64, Wrong> {
        let line = self.line()?;
        let number = std::str::from_utf8(line).ok().and_then(|s| s.trim().parse().ok());
        number.ok_or_else(|| format!("'{}' is no number", shown(line)))
    }

    /// A number of `length` bytes, little-endian two's complement.
    pub(super) fn long(&mut self, length: usize) -> Result<i64, Wrong> {
        let range = self.span(length)?;
        let bytes = &self.bytes[range];
        let sign = if bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 };
        let (low, high) = bytes.split_at(length.min(8));
        let mut word = [sign; 8];
        word[..low.len()].copy_from_slice(low);
        let value = i64::from_le_bytes(word);
        if high.iter().any(|&b| b != sign) || (value < 0) != (sign != 0) {
            return Err(format!("a number of {length} bytes does not fit 64 bits"));
        }
        Ok(value)
    }

    /// A line that is a string as Python 2 prints it: in quotes, with escapes.
    pub(super) fn quoted(&mut self) -> Result<Span, Wrong> {
        let line = self.line()?.trim_ascii();
        let inside = match line {
            [b'\'', inside @ .., b'\''] | [b'"', inside @ .., b'"'] => inside,
            _ => return Err(format!("'{}' is no string in quotes", shown(line))),
        };
        let mut out = Vec::with_capacity(inside.len());
        let mut bytes = inside.iter().copied();
        while let Some(byte) = bytes.next() {
            out.push(if byte == b'\\' { escape(&mut bytes)? } else { byte });
        }
        Ok(Span::Owned(out))
    }

    /// A line of text as Python's `raw-unicode-escape` writes it: Latin-1, other characters as `\uXXXX`.
    pub(super) fn raw_unicode(&mut self) -> Result<Span, Wrong> {
        let line = self.whole_line()?;
        let mut out = String::with_capacity(line.len());
        let mut at = 0;
        while at < line.len() {
            let digits = match line[at..] {
                [b'\\', b'u', ..] => 4,
                [b'\\', b'U', ..] => 8,
                _ => 0,
            };
            if digits == 0 {
                out.push(char::from(line[at]));
                at += 1;
                continue;
            }
            let code = line.get(at + 2..at + 2 + digits).and_then(hexadecimal).and_then(char::from_u32);
            out.push(code.ok_or("has a broken \\u escape")?);
            at += 2 + digits;
        }
        Ok(Span::Owned(out.into_bytes()))
    }
}

/// What stands behind a backslash.
fn escape(bytes: &mut impl Iterator<Item = u8>) -> Result<u8, Wrong> {
    match bytes.next() {
        Some(b'n') => Ok(b'\n'),
        Some(b't') => Ok(b'\t'),
        Some(b'r') => Ok(b'\r'),
        Some(quoted @ (b'\\' | b'\'' | b'"')) => Ok(quoted),
        Some(b'x') => {
            let digits: Vec<u8> = bytes.take(2).collect();
            let code = Some(&digits[..]).filter(|d| d.len() == 2).and_then(hexadecimal);
            code.and_then(|c| u8::try_from(c).ok()).ok_or_else(|| "has a broken \\x escape".into())
        }
        Some(other) => Err(format!("has the unknown escape \\{}", char::from(other).escape_default())),
        None => Err("ends in a backslash".into()),
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let add = |n: u32, &d: &u8| Some(n << 4 | char::from(d).to_digit(16)?);
    digits.iter().try_fold(0, add)
}

fn ended() -> Wrong {
    "the file ends inside it, it is truncated".into()
}

/// At most 40 bytes of what stands in the file.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).escape_default().to_string();
    if bytes.len() > 40 { format!("{text}...") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(bytes: &[u8]) -> Cursor<'_> {
        Cursor { bytes, at: 0 }
    }

    fn owned(span: Span) -> Vec<u8> {
        match span {
            Span::Owned(bytes) => bytes,
            Span::File(range) => panic!("{range:?}"),
        }
    }

    #[test]
    fn longs_are_signed_and_bounded() {
        for (bytes, value) in [
            (&[][..], 0),
            (&[5], 5),
            (&[0xff], -1),
            (&[0x80], -128),
            (&[0x80, 0], 128),
            (&[0, 0, 0, 0, 0, 0, 0, 0x80], i64::MIN),
            (&[0xff; 12], -1),
            (&[7, 0, 0, 0, 0, 0, 0, 0, 0, 0], 7),
        ] {
            assert_eq!(cursor(bytes).long(bytes.len()).unwrap(), value, "{bytes:?}");
        }
        for bytes in
            [&[0, 0, 0, 0, 0, 0, 0, 0x80, 0][..], &[1, 0, 0, 0, 0, 0, 0, 0, 1], &[0, 0, 0, 0, 0, 0, 0, 0, 0x80]]
        {
            assert!(cursor(bytes).long(bytes.len()).unwrap_err().contains("64 bits"), "{bytes:?}");
        }
        assert!(cursor(&[1]).long(2).unwrap_err().contains("truncated"));
    }

    #[test]
    fn strings_of_protocol_0() {
        let quoted = |text: &[u8]| cursor(text).quoted().map(owned);
        assert_eq!(quoted(b"'a\\x00\\n\\\\\\'\xff'\n").unwrap(), b"a\0\n\\'\xff");
        assert_eq!(quoted(b"\"it's\"\r\n").unwrap(), b"it's");
        for bad in [&b"'a\n"[..], b"a\n", b"'\\x0'\n", b"'\\xgg'\n", b"'\\q'\n", b"'a\\'\n", b"'\n", b"'a'"] {
            assert!(quoted(bad).is_err(), "{}", shown(bad));
        }
        let raw = |text: &[u8]| cursor(text).raw_unicode().map(owned);
        assert_eq!(raw(b"a\\u20ac\xe4\\U0001F600\n").unwrap(), "a€ä😀".as_bytes());
        assert!(raw(b"\\ud800\n").is_err() && raw(b"\\u12\n").is_err());
    }

    #[test]
    fn numbers_of_protocol_0() {
        assert_eq!(cursor(b"-12L\n").decimal(), Ok(-12));
        assert!(cursor(b"9223372036854775808\n").decimal().is_err() && cursor(b"1").decimal().is_err());
        assert_eq!(cursor(b"2.5e3\n").float(), Ok(2500.0));
        assert!(cursor(&[0xff; 4]).signed_span().unwrap_err().contains("negative length -1"));
    }
}
