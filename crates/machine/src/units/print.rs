//! Quantities as text: the shortest digits that read back with the same bits, and the prefix that suits them.

use super::number::Units;
use super::{BYTE_RATES, BYTES, EVENT_RATES, FLOP_RATES, FREQUENCIES, GAPS, SECONDS};

/// Bytes in the unit that gives the shortest exact text: `64 GiB`, `80 GB`, `1000000007 B`.
pub fn print_bytes(bytes: u64) -> String {
    let exact = BYTES.iter().filter_map(|unit| {
        let factor = 10u64.pow(unit.ten.unsigned_abs()) << unit.two;
        bytes.is_multiple_of(factor).then(|| format!("{} {}", bytes / factor, unit.name))
    });
    exact.min_by_key(String::len).unwrap_or_else(|| format!("{bytes} B"))
}

/// Seconds: `10 us`.
pub fn print_seconds(seconds: f64) -> String {
    print(seconds, SECONDS)
}

/// Bytes per second: `20 GB/s`.
pub fn print_byte_rate(rate: f64) -> String {
    let decimal = print(rate, BYTE_RATES);
    let binary = BYTE_RATES.iter().filter(|unit| unit.two > 0).map(|unit| {
        let value = rate / 2f64.powi(unit.two);
        format!("{value} {}", unit.name)
    });
    binary.fold(decimal, |best, next| if next.len() < best.len() { next } else { best })
}

/// Floating-point operations per second: `989 TFLOP/s`.
pub fn print_flop_rate(rate: f64) -> String {
    print(rate, FLOP_RATES)
}

/// Seconds per byte, as the rate it is the inverse of where that is exact and shorter: `25 GB/s`, `0.1 ns/B`.
pub fn print_gap(gap: f64) -> String {
    let direct = print(gap, GAPS);
    let rate = print_byte_rate(1.0 / gap);
    if gap > 0.0 && rate.len() < direct.len() && super::gap(&rate) == Ok(gap) { rate } else { direct }
}

/// Seconds per byte, never as a rate.
pub(crate) fn print_plain_gap(gap: f64) -> String {
    print(gap, GAPS)
}

/// Events per second: `2.4 G/s`.
pub fn print_event_rate(rate: f64) -> String {
    print(rate, EVENT_RATES)
}

/// Hertz: `2.45 GHz`.
pub fn print_frequency(hertz: f64) -> String {
    print(hertz, FREQUENCIES)
}

/// `value` to four significant digits, for tables that people read.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The shortest digits that give `value` back, with the prefix that leaves one to three of them before the point.
fn print(value: f64, units: Units) -> String {
    let text = format!("{value:e}"); // shortest round-trip digits
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let decimal = || units.iter().filter(|unit| unit.two == 0);
    let smallest = decimal().min_by_key(|unit| unit.ten);
    let best = decimal().filter(|unit| unit.ten <= exponent).max_by_key(|unit| unit.ten).or(smallest);
    let (ten, name) = best.map_or((0, ""), |unit| (unit.ten, unit.name));
    if value == 0.0 {
        let base = units.first().map_or("", |unit| unit.name);
        return format!("0 {base}");
    }
    format!("{} {name}", shifted(digits, exponent - ten))
}

/// `digits` (`d` or `d.ddd`) times 10^`exponent`, without an exponent where that stays readable.
fn shifted(digits: &str, exponent: i32) -> String {
    let plain: String = digits.chars().filter(|c| *c != '.').collect();
    match usize::try_from(exponent) {
        Ok(e) if e + 1 >= plain.len() && e < 16 => format!("{plain:0<width$}", width = e + 1),
        Ok(e) if e < 16 => format!("{}.{}", &plain[..=e], &plain[e + 1..]),
        Err(_) if exponent >= -4 => {
            format!("0.{}{plain}", "0".repeat(exponent.unsigned_abs() as usize - 1))
        }
        _ => format!("{digits}e{exponent}"),
    }
}
