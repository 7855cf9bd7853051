//! Numbers from bytes and to bytes, and what can be wrong with a line.

use crate::scalar::Real;

/// What is wrong with a line of a file; the message is put behind `file:line: `.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// A field that should be there is not.
    #[error("{what} is missing")]
    Missing {
        /// Its name.
        what: &'static str,
    },
    /// Letters, a fraction, ...
    #[error("{what} '{found}' is not a whole number")]
    NotWhole {
        /// Name of the field.
        what: &'static str,
        /// Its text.
        found: String,
    },
    /// Below 0.
    #[error("{what} {found} is negative")]
    Negative {
        /// Name of the field.
        what: &'static str,
        /// Its text.
        found: String,
    },
    /// Does not fit a signed 64-bit number.
    #[error("{what} {found} is above 2^63 - 1")]
    Huge {
        /// Name of the field.
        what: &'static str,
        /// Its text.
        found: String,
    },
    /// Not a floating-point number.
    #[error("value '{found}' is not a number")]
    NotANumber {
        /// Its text.
        found: String,
    },
    /// More on the line than the format has.
    #[error("unexpected '{found}' behind the {fields} of this line")]
    Surplus {
        /// What is there.
        found: String,
        /// What should end the line.
        fields: &'static str,
    },
    /// Two fields run into each other.
    #[error("a blank, a tab or a comma must stand before '{found}'")]
    NoSeparator {
        /// What follows.
        found: String,
    },
    /// A number that counts from 1 is 0.
    #[error("{what} is 0 but numbers count from 1 here")]
    Zero {
        /// Name of the field.
        what: &'static str,
    },
    /// A row, column or node beyond the last.
    #[error("{what} {found} is beyond the last one, {last}")]
    Beyond {
        /// Name of the field.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The largest legal value, in the file's own counting.
        last: u64,
    },
    /// A node id that the declared number of nodes does not allow.
    #[error(
        "node {found} does not fit {nodes} nodes (`# Nodes:` or --nodes); --nodes N overrides the file, --relabel compacts sparse ids"
    )]
    Node {
        /// The id, as it stands in the file.
        found: u64,
        /// Number of nodes.
        nodes: u64,
    },
    /// Some edges have a weight, some not.
    #[error("{} here, but not on line {first}: either all edges have a weight or none", if *.weight { "a weight stands" } else { "no weight stands" })]
    MixedWeights {
        /// Whether this line has one.
        weight: bool,
        /// Line of the first edge.
        first: u64,
    },
    /// The file states its number of nodes twice, differently.
    #[error("`# Nodes: {found}` contradicts an earlier `# Nodes: {before}`")]
    NodesTwice {
        /// Here.
        found: u64,
        /// Before.
        before: u64,
    },
    /// A header of the format is not as it must be.
    #[error("{0}")]
    Header(String),
    /// An upper entry of a matrix of which only the lower triangle is stored.
    #[error("entry ({row}, {column}) is outside the {triangle} triangle, which is all that a {symmetry} file stores")]
    Triangle {
        /// Row, counted from 1.
        row: u64,
        /// Column, counted from 1.
        column: u64,
        /// `symmetric` or `skew-symmetric`.
        symmetry: &'static str,
        /// `lower` or `strictly lower`.
        triangle: &'static str,
    },
    /// A column beyond the last, counted from 0.
    #[error("column {found} is not below the {cols} columns (counted from 0)")]
    Column {
        /// Its value.
        found: u64,
        /// Number of columns.
        cols: u64,
    },
    /// The file goes on after its last entry.
    #[error("more than the {declared} {what} that the file declares")]
    TooMany {
        /// `entries`, `values`, `rows`.
        what: &'static str,
        /// Declared number of entries.
        declared: u64,
    },
    /// The file ends before its last entry.
    #[error("the file ends after {found} of {declared} {what}")]
    TooFew {
        /// Number found.
        found: u64,
        /// Number declared.
        declared: u128,
        /// `entries`, `values`, `rows`.
        what: &'static str,
    },
    /// No end of line within the limit.
    #[error("the line is longer than {limit} bytes")]
    LongLine {
        /// The limit.
        limit: usize,
    },
}

/// Prints a number so that reading it gives the same bits (but for the payload of a NaN): whole ones without a point,
/// the others in the fewest digits.
pub(crate) struct Shortest<T>(pub(crate) T);

impl<T: Real> std::fmt::Display for Shortest<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = self.0.to_f64();
        match number.fract() == 0.0 && number.abs() < 1e15 {
            true => write!(f, "{}", self.0),
            false => write!(f, "{:?}", self.0), // with an exponent where that is shorter
        }
    }
}

/// At most 40 characters of a field, fit to print.
pub(crate) fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(field);
    let mut short: String = text.chars().take(40).flat_map(char::escape_default).collect();
    if text.chars().nth(40).is_some() {
        short.push_str("..");
    }
    short
}

/// The whole number that `field` is, at most 2^63 − 1.
pub(super) fn index(what: &'static str, field: &[u8]) -> Result<u64, Wrong> {
    let found = || shown(field);
    let (negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, field),
    };
    if field.is_empty() {
        return Err(Wrong::Missing { what });
    }
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Wrong::NotWhole { what, found: found() });
    }
    if negative {
        return Err(Wrong::Negative { what, found: found() });
    }
    let mut number = 0u64;
    for digit in digits {
        number = number
            .checked_mul(10)
            .and_then(|n| n.checked_add(u64::from(digit - b'0')))
            .filter(|&n| n <= i64::MAX as u64)
            .ok_or_else(|| Wrong::Huge { what, found: found() })?;
    }
    Ok(number)
}

/// Why `field` is no integer.
#[cold]
pub(super) fn not_an_integer(what: &'static str, field: &[u8]) -> Wrong {
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    match index(what, digits) {
        Err(Wrong::Huge { .. }) => Wrong::Huge { what, found: shown(field) },
        Err(Wrong::Missing { .. }) if field.is_empty() => Wrong::Missing { what },
        _ => Wrong::NotWhole { what, found: shown(field) },
    }
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The floating-point number that `field` is, rounded correctly.
#[inline]
pub(super) fn float(field: &[u8]) -> Result<f64, Wrong> {
    match simple(field) {
        Some(number) => Ok(number),
        None => odd_float(field),
    }
}

/// Digits with at most one point, while the result is exact before one single division: Clinger's fast path
/// (W. D. Clinger, How to read floating point numbers accurately, PLDI 1990).
#[inline]
fn simple(field: &[u8]) -> Option<f64> {
    let (negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, field),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let (mut mantissa, mut point) = (0u64, None);
    for (i, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            mantissa = mantissa * 10 + u64::from(digit);
        } else if byte == b'.' && point.is_none() && digits.len() > 1 {
            point = Some(i);
        } else {
            return None;
        }
    }
    if mantissa > 1 << 53 {
        return None;
    }
    let decimals = point.map_or(0, |i| digits.len() - 1 - i);
    let number = mantissa as f64 / POWERS[decimals];
    Some(if negative { -number } else { number })
}

/// What [`simple`] leaves: exponents, long mantissas, infinities, NaN, and what is no number.
#[cold]
fn odd_float(field: &[u8]) -> Result<f64, Wrong> {
    if field.is_empty() {
        return Err(Wrong::Missing { what: "value" });
    }
    let wrong = || Wrong::NotANumber { found: shown(field) };
    let text = std::str::from_utf8(field).map_err(|_| wrong())?;
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    // Fortran's double precision exponent
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let is_d = |c| c == 'd' || c == 'D';
    if !plain || text.matches(is_d).count() != 1 || text.contains(['e', 'E']) {
        return Err(wrong());
    }
    text.replace(is_d, "e").parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_rust_parses_them() {
        for text in [
            "0",
            "-0",
            "1",
            "1.5",
            "-.5",
            "5.",
            "0.1",
            "123456.789012",
            "9007199254740993",
            "1e300",
            "1E-5",
            "+2.5",
            "inf",
            "-Infinity",
            "0.30000000000000004",
            "12345678901234567890",
            "1.7976931348623157e308",
            "4.9e-324",
            "0.0000000000000000001",
            "99999999999999999.99",
        ] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(float(text.as_bytes()).unwrap().to_bits(), expected.to_bits(), "{text}");
        }
        assert!(float(b"NaN").unwrap().is_nan());
    }

    #[test]
    fn written_numbers_read_back() {
        let mut bits = 1u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (double, single) = (f64::from_bits(bits), f32::from_bits((bits >> 32) as u32));
            let read = |text: String| float(text.as_bytes()).unwrap();
            let back = read(Shortest(double).to_string());
            assert!(back.to_bits() == bits || (back.is_nan() && double.is_nan()), "{double:?}");
            let back = read(Shortest(single).to_string()) as f32;
            assert!(back.to_bits() == single.to_bits() || (back.is_nan() && single.is_nan()), "{single:?}");
        }
        let text = [0.0, -0.0, 1.0, 0.1, 1e15, 1e300, f64::INFINITY].map(|x| Shortest(x).to_string());
        assert_eq!(text, ["0", "-0", "1", "0.1", "1000000000000000.0", "1e300", "inf"]);
        assert_eq!(Shortest(0.1f32).to_string(), "0.1");
    }

    #[test]
    fn fortran_exponents() {
        assert_eq!(float(b"1d5"), Ok(1e5));
        assert_eq!(float(b"-1.25D-3"), Ok(-1.25e-3));
        assert_eq!(float(b".5d+2"), Ok(50.0));
    }

    #[test]
    fn not_floats() {
        for text in
            ["", "-", ".", "d5", "1d", "1d5d", "1e5d2", "1..2", "1.2.3", "0x10", "and", "dinf", "1_000", "\u{ff}"]
        {
            assert!(float(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn shown_is_short_and_printable() {
        assert_eq!(shown(b"a\x01\xffb"), "a\\u{1}\\u{fffd}b");
        assert_eq!(shown(&[b'x'; 100]), format!("{}..", "x".repeat(40)));
    }
}
