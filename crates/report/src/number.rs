//! Numbers as a reader wants them: a real minus sign, thousands apart, powers of ten instead of rows of zeros.
//!
//! Coordinates in SVG are written by `px`; no other function writes a number into an attribute, and none writes NaN or infinity.

/// A narrow space that does not break.
const GAP: char = '\u{202f}';

/// 10ᵉ, correctly rounded on every platform.
pub(crate) fn ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// e of `v` = m·10ᵉ with 1 ≤ |m| < 10; 0 for zero and for what is not finite.
pub(crate) fn exponent(v: f64) -> i32 {
    if v == 0.0 || !v.is_finite() {
        return 0;
    }
    format!("{v:e}").rsplit_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

/// `v`·10ᵉ without overflow on the way.
pub(crate) fn shift(v: f64, e: i32) -> f64 {
    let by = |v: f64, e: i32| if e >= 0 { v * ten(e) } else { v / ten(-e) };
    by(by(v, e / 2), e - e / 2)
}

/// A coordinate: two decimals at most. What is not finite becomes 0, and nothing leaves the range of ±10⁵.
pub(crate) fn px(v: f64) -> String {
    let v = if v.is_finite() { v.clamp(-1e5, 1e5) } else { 0.0 };
    let text = format!("{v:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// A whole number with thousands apart (from five digits on).
pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

fn grouped(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.to_string();
    }
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(GAP);
        }
        out.push(c);
    }
    out
}

/// `v` with so many decimals; words for NaN and the infinities.
pub fn fixed(v: f64, decimals: usize) -> String {
    if v.is_nan() {
        return "n/a".into();
    }
    if v.is_infinite() {
        return if v > 0.0 { "∞".into() } else { "−∞".into() };
    }
    let text = format!("{:.*}", decimals.min(20), v.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    let sign = if v < 0.0 && !is_zero { "−" } else { "" };
    format!("{sign}{}{rest}", grouped(whole))
}

/// `v` to so many significant digits, without zeros at the end; as m×10ᵉ when very large or very small.
pub fn significant(v: f64, digits: usize) -> String {
    if v == 0.0 || !v.is_finite() {
        return fixed(v, 0);
    }
    let digits = digits.clamp(1, 17);
    let rounded: f64 = format!("{:.*e}", digits - 1, v).parse().unwrap_or(v);
    let e = exponent(rounded);
    if (-4..7).contains(&e) {
        return trimmed(&fixed(rounded, (digits as i32 - 1 - e).max(0) as usize));
    }
    scientific(rounded, e, digits - 1)
}

/// `v` as m×10ᵉ with a given e and decimals of m, without zeros at the end.
pub(crate) fn scientific(v: f64, e: i32, decimals: usize) -> String {
    format!("{}×10{}", trimmed(&fixed(shift(v, -e), decimals)), superscript(e))
}

fn trimmed(text: &str) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text.into() }
}

/// `e` in raised digits.
pub(crate) fn superscript(e: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]);
    e.to_string().chars().map(raised).collect()
}

/// A power of ten as an axis shows it: plain from 0.01 to 1000, else 10ᵉ.
pub(crate) fn power_of_ten(e: i32) -> String {
    if (-2..4).contains(&e) { fixed(ten(e), (-e).max(0) as usize) } else { format!("10{}", superscript(e)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_finite() {
        let all = [1.0, -0.001, 0.126, f64::NAN, f64::NEG_INFINITY, 1e300].map(px);
        assert_eq!(all, ["1", "0", "0.13", "0", "0", "100000"]);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(fixed(-1234.5, 1), "−1234.5");
        assert_eq!(fixed(-0.01, 1), "0.0");
        assert_eq!(fixed(1234567.0, 0), "1\u{202f}234\u{202f}567");
        assert_eq!(count(u64::MAX).chars().filter(|c| c.is_ascii_digit()).count(), 20);
        let all = [0.0, 0.5, 1234.5678, 1e6, 12345678.0, -3.2e-9, f64::NAN].map(|v| significant(v, 4));
        assert_eq!(all, ["0", "0.5", "1235", "1\u{202f}000\u{202f}000", "1.235×10⁷", "−3.2×10⁻⁹", "n/a"]);
        assert_eq!(significant(99.999, 3), "100");
        assert_eq!([-3, 0, 3, 5].map(power_of_ten), ["10⁻³", "1", "1000", "10⁵"]);
    }

    #[test]
    fn exponents_are_exact() {
        for e in -300..300 {
            assert_eq!(exponent(ten(e)), e);
            assert!((shift(3.0, e) / (3.0 * ten(e)) - 1.0).abs() < 1e-14, "{e}");
        }
        assert_eq!(exponent(999.999), 2);
        assert!(shift(1e-320, 320).is_finite());
    }
}
