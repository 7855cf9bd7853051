//! Quantities: a number and a unit, read from text and written back so that reading gives the same bits.
//!
//! This is the only parser of quantities in the project: machine files and command lines both come here. A bare
//! number is an error except 0, because a forgotten unit is the commonest mistake. Case matters (`b` is a bit, `B` a
//! byte). Decimal prefixes are applied to the text before it becomes a number, so "10 us" is the float nearest to 1e-5.
//! Start with [`seconds`] and its neighbours for reading, [`print_seconds`] and its neighbours for writing.

mod number;
mod print;

use number::{Number, Units, unit};

pub(crate) use print::print_plain_gap;
pub use print::{
    print_byte_rate, print_bytes, print_event_rate, print_flop_rate, print_frequency, print_gap, print_seconds, rounded,
};

/// Why a text is no quantity of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No number at the start.
    #[error("\"{text}\" is not a quantity, write a number and a unit like \"{example}\"")]
    NotAQuantity {
        /// What was given.
        text: String,
        /// What would be accepted.
        example: String,
    },
    /// A number alone; only 0 may stand alone.
    #[error("\"{text}\" has no unit, write for example \"{text} {example}\" (units: {units})")]
    NoUnit {
        /// What was given.
        text: String,
        /// A common unit.
        example: &'static str,
        /// All units of this quantity.
        units: String,
    },
    /// A unit that this quantity does not have.
    #[error("\"{text}\" has the unknown unit \"{unit}\", {hint} (units: {units})")]
    UnknownUnit {
        /// What was given.
        text: String,
        /// The unit in it.
        unit: String,
        /// The nearest unit, as advice.
        hint: String,
        /// All units of this quantity.
        units: String,
    },
    /// Below zero.
    #[error("\"{text}\" is negative, write 0 or more")]
    Negative {
        /// What was given.
        text: String,
    },
    /// Beyond what the number type holds.
    #[error("\"{text}\" is too large")]
    TooLarge {
        /// What was given.
        text: String,
    },
}

static BYTES: Units = &[
    unit("B", 0, 0),
    unit("GiB", 0, 30),
    unit("KB", 3, 0),
    unit("MB", 6, 0),
    unit("GB", 9, 0),
    unit("TB", 12, 0),
    unit("KiB", 0, 10),
    unit("MiB", 0, 20),
    unit("TiB", 0, 40),
];
static SHORT_SIZES: Units = &[unit("K", 0, 10), unit("M", 0, 20), unit("G", 0, 30), unit("T", 0, 40)];
static SECONDS: Units = &[unit("s", 0, 0), unit("us", -6, 0), unit("ms", -3, 0), unit("ns", -9, 0)];
static BYTE_RATES: Units = &[
    unit("B/s", 0, 0),
    unit("GB/s", 9, 0),
    unit("KB/s", 3, 0),
    unit("MB/s", 6, 0),
    unit("TB/s", 12, 0),
    unit("KiB/s", 0, 10),
    unit("MiB/s", 0, 20),
    unit("GiB/s", 0, 30),
    unit("TiB/s", 0, 40),
    unit("b/s", 0, -3),
    unit("Kb/s", 3, -3),
    unit("Mb/s", 6, -3),
    unit("Gb/s", 9, -3),
    unit("Tb/s", 12, -3),
];
static FLOP_RATES: Units = &[
    unit("FLOP/s", 0, 0),
    unit("GFLOP/s", 9, 0),
    unit("kFLOP/s", 3, 0),
    unit("MFLOP/s", 6, 0),
    unit("TFLOP/s", 12, 0),
    unit("PFLOP/s", 15, 0),
];
static GAPS: Units = &[unit("s/B", 0, 0), unit("ns/B", -9, 0), unit("ps/B", -12, 0)];
static EVENT_RATES: Units = &[unit("/s", 0, 0), unit("M/s", 6, 0), unit("k/s", 3, 0), unit("G/s", 9, 0)];
static FREQUENCIES: Units = &[unit("Hz", 0, 0), unit("GHz", 9, 0), unit("kHz", 3, 0), unit("MHz", 6, 0)];

/// Bytes: `64 GiB`, `80 GB`; a fraction of a byte is dropped.
///
/// # Errors
/// When the text is no size.
pub fn bytes(text: &str) -> Result<u64, Error> {
    whole(text, &[BYTES])
}

/// Bytes as command lines write them: `512M` is MiB (`K M G T`), the units of [`bytes`] are accepted too.
///
/// ```
/// use sapwood_machine::units;
/// assert_eq!(units::size("512M"), Ok(512 << 20));
/// assert_eq!(units::size("2 GB"), Ok(2_000_000_000));
/// assert_eq!(units::size("0"), Ok(0));
/// assert!(units::size("512").is_err());
/// ```
///
/// # Errors
/// When the text is no size.
pub fn size(text: &str) -> Result<u64, Error> {
    whole(text, &[SHORT_SIZES, BYTES])
}

/// Seconds: `10 us`.
///
/// # Errors
/// When the text is no time.
pub fn seconds(text: &str) -> Result<f64, Error> {
    real(text, &[SECONDS])
}

/// Bytes per second: `20 GB/s`; `400 Gb/s` counts bits and is 5e10.
///
/// # Errors
/// When the text is no rate.
pub fn byte_rate(text: &str) -> Result<f64, Error> {
    real(text, &[BYTE_RATES])
}

/// Floating-point operations per second: `989 TFLOP/s`.
///
/// # Errors
/// When the text is no rate.
pub fn flop_rate(text: &str) -> Result<f64, Error> {
    real(text, &[FLOP_RATES])
}

/// Seconds per byte: `1 ns/B`, or the rate it is the inverse of: `1 GB/s`.
///
/// # Errors
/// When the text is neither a gap nor a rate, or a rate of 0.
pub fn gap(text: &str) -> Result<f64, Error> {
    gap_or_rate(text).map(|(gap, _)| gap)
}

/// [`gap`] without the inverse: only `1 ns/B`.
pub(crate) fn plain_gap(text: &str) -> Result<f64, Error> {
    real(text, &[GAPS])
}

/// [`gap`], and whether it was written as a rate.
pub(crate) fn gap_or_rate(text: &str) -> Result<(f64, bool), Error> {
    let (value, kind) = read(text, &[GAPS, BYTE_RATES])?;
    if kind == 0 {
        return Ok((value, false));
    }
    let gap = 1.0 / value;
    if gap.is_finite() { Ok((gap, true)) } else { Err(Error::TooLarge { text: format!("1 / ({})", text.trim()) }) }
}

/// Events per second: `2.4 G/s`.
///
/// # Errors
/// When the text is no rate.
pub fn event_rate(text: &str) -> Result<f64, Error> {
    real(text, &[EVENT_RATES])
}

/// Hertz: `2.45 GHz`.
///
/// # Errors
/// When the text is no frequency.
pub fn frequency(text: &str) -> Result<f64, Error> {
    real(text, &[FREQUENCIES])
}

fn real(text: &str, kinds: &[Units]) -> Result<f64, Error> {
    read(text, kinds).map(|(value, _)| value)
}

fn whole(text: &str, kinds: &[Units]) -> Result<u64, Error> {
    let too_large = || Error::TooLarge { text: text.trim().to_owned() };
    let number = Number::split(text, kinds)?;
    let (unit, _) = number.unit(kinds)?;
    if number.exponent == 0 && !number.digits.contains('.') {
        // exact beyond 2^53
        let factor = 10u64.pow(unit.ten.unsigned_abs()) << unit.two;
        let count: u64 = number.digits.parse().map_err(|_| too_large())?;
        return count.checked_mul(factor).ok_or_else(too_large);
    }
    let value = number.value(unit)?;
    if value < 2f64.powi(64) { Ok(value as u64) } else { Err(too_large()) }
}

/// The value in base units, and which of `kinds` its unit belongs to.
fn read(text: &str, kinds: &[Units]) -> Result<(f64, usize), Error> {
    let number = Number::split(text, kinds)?;
    let (unit, kind) = number.unit(kinds)?;
    Ok((number.value(unit)?, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!(seconds("10 us"), Ok(1e-5));
        assert_eq!(seconds("0.5us"), Ok(5e-7));
        assert_eq!(seconds("  1.5e3 ms "), Ok(1.5));
        assert_eq!(seconds("0"), Ok(0.0));
        assert_eq!(seconds("0.0"), Ok(0.0));
        assert_eq!(seconds("-0"), Ok(0.0));
        assert_eq!(bytes("64 GiB"), Ok(64 << 30));
        assert_eq!(bytes("1.5 KiB"), Ok(1536));
        assert_eq!(bytes("18446744073709551615 B"), Ok(u64::MAX));
        assert_eq!(byte_rate("20 GB/s"), Ok(2e10));
        assert_eq!(byte_rate("400 Gb/s"), Ok(5e10));
        assert_eq!(byte_rate("1 KiB/s"), Ok(1024.0));
        assert_eq!(flop_rate("989 TFLOP/s"), Ok(9.89e14));
        assert_eq!(gap("1 ns/B"), Ok(1e-9));
        assert_eq!(gap("1 GB/s"), Ok(1e-9));
        assert_eq!(event_rate("2.4 G/s"), Ok(2.4e9));
        assert_eq!(event_rate("1/s"), Ok(1.0));
        assert_eq!(frequency("2.45 GHz"), Ok(2.45e9));
        assert_eq!(size("1K"), Ok(1024));
    }

    #[test]
    fn messages_say_what_to_write() {
        let message = |r: Result<f64, Error>| r.unwrap_err().to_string();
        assert_eq!(message(seconds("10")), "\"10\" has no unit, write for example \"10 us\" (units: ns us ms s)");
        assert_eq!(
            message(seconds("10 uS")),
            "\"10 uS\" has the unknown unit \"uS\", did you mean \"us\"? (units: ns us ms s)"
        );
        assert_eq!(message(seconds("fast")), "\"fast\" is not a quantity, write a number and a unit like \"10 us\"");
        assert_eq!(message(gap("-1 ns/B")), "\"-1 ns/B\" is negative, write 0 or more");
        assert_eq!(message(seconds("1e400 s")), "\"1e400 s\" is too large");
        assert_eq!(message(gap("0 GB/s")), "\"1 / (0 GB/s)\" is too large");
        assert_eq!(message(seconds("")), "\"\" is not a quantity, write a number and a unit like \"10 us\"");
        assert!(message(seconds("1 GB/s")).contains("unknown unit"));
        assert!(size("512").unwrap_err().to_string().contains("\"512 M\""));
        assert!(bytes("512M").is_err(), "short sizes are for command lines only");
        assert!(bytes("20000000 TiB").unwrap_err().to_string().contains("too large"));
        assert!(bytes("1e30 B").is_err());
        assert!(seconds("1.2.3 s").is_err());
        assert!(seconds("inf s").is_err());
    }

    #[test]
    fn printing() {
        assert_eq!(print_seconds(1e-5), "10 us");
        assert_eq!(print_seconds(5e-7), "500 ns");
        assert_eq!(print_seconds(0.0), "0 s");
        assert_eq!(print_seconds(1e-12), "0.001 ns");
        assert_eq!(print_seconds(1e-20), "1e-11 ns");
        assert_eq!(print_bytes(64 << 30), "64 GiB");
        assert_eq!(print_bytes(80_000_000_000), "80 GB");
        assert_eq!(print_bytes(0), "0 B");
        assert_eq!(print_bytes(1_000_000_007), "1000000007 B");
        assert_eq!(print_byte_rate(2e10), "20 GB/s");
        assert_eq!(print_byte_rate(1048576.0), "1 MiB/s");
        assert_eq!(print_flop_rate(9.89e14), "989 TFLOP/s");
        assert_eq!(print_flop_rate(1.979e15), "1.979 PFLOP/s");
        assert_eq!(print_gap(1e-10), "10 GB/s");
        assert_eq!(print_gap(0.0), "0 s/B");
        assert_eq!(print_gap(1.0 / 4.5e11), "450 GB/s");
        assert_eq!(print_event_rate(2.4e9), "2.4 G/s");
        assert_eq!(print_frequency(2.45e9), "2.45 GHz");
        assert_eq!(rounded(1.23456e-7), 1.235e-7);
    }
}
