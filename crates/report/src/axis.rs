//! What an axis says: its title, its unit, whether it is logarithmic, and a range if the caller wants one.

use crate::number::{count, exponent, fixed, significant};

/// What the numbers of an axis are. Data are given in the base unit; the axis chooses the prefix.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Unit {
    /// Plain numbers.
    #[default]
    None,
    /// Whole numbers: ticks are whole, large ones read 12 k, 3 M.
    Count,
    /// Fractions of one, shown in per cent: 0.5 is 50.
    Percent,
    /// Bytes, shown in KiB, MiB, GiB, ...
    Bytes,
    /// Seconds, shown from ns to days.
    Seconds,
    /// Numbers in a unit of this name, shown as they are: `tokens/s`.
    Named(String),
}

/// A unit with its prefix: shown = value / `divisor`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    pub(crate) divisor: f64,
    pub(crate) name: String,
}

const BYTES: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
/// From which size on (in seconds) a unit is used, its length in seconds, its name.
const TIMES: [(f64, f64, &str); 7] = [
    (432_000.0, 86_400.0, "days"),
    (18_000.0, 3600.0, "h"),
    (300.0, 60.0, "min"),
    (1.0, 1.0, "s"),
    (1e-3, 1e-3, "ms"),
    (1e-6, 1e-6, "µs"),
    (0.0, 1e-9, "ns"),
];
const SI: [(f64, &str); 6] = [(1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];

impl Unit {
    /// The prefix for numbers up to `largest`.
    pub(crate) fn shown(&self, largest: f64) -> Shown {
        let of = |divisor: f64, name: &str| Shown { divisor, name: name.to_string() };
        match self {
            Unit::None | Unit::Count => of(1.0, ""),
            Unit::Percent => of(0.01, "%"),
            Unit::Named(name) => of(1.0, name),
            Unit::Bytes => {
                let power = BYTES.iter().enumerate().rev().find(|(i, _)| largest >= 1024f64.powi(*i as i32));
                let (i, name) = power.unwrap_or((0, &BYTES[0]));
                of(1024f64.powi(i as i32), name)
            }
            Unit::Seconds if largest == 0.0 => of(1.0, "s"),
            Unit::Seconds => {
                let (_, divisor, name) = TIMES.into_iter().find(|t| largest >= t.0).unwrap_or(TIMES[3]);
                of(divisor, name)
            }
        }
    }

    /// One value with its unit, to three or four digits: `12.5 GiB`, `81.2 %`, `12 345`.
    pub fn format(&self, v: f64) -> String {
        if !v.is_finite() {
            return fixed(v, 0);
        }
        let shown = self.shown(v.abs());
        let scaled = v / shown.divisor;
        let number = match self {
            Unit::Count if v >= 0.0 && v.fract() == 0.0 && v < 1e12 => count(v as u64),
            Unit::Count if v.abs() < 1e21 => prefixed(v),
            Unit::Percent if scaled != 0.0 && scaled.abs() < 1e4 => {
                let decimals = match scaled.abs() {
                    size if size.fract() == 0.0 => 0,
                    size if size < 0.1 => 2,
                    _ => 1,
                };
                fixed(scaled, decimals)
            }
            _ => significant(scaled, 4),
        };
        if shown.name.is_empty() { number } else { format!("{number}\u{202f}{}", shown.name) }
    }

    /// A value in the unit that its axis names, without that name; with a unit of its own where the axis has none to name.
    pub(crate) fn beside(&self, v: f64, shown: &Shown, log: bool) -> String {
        match self {
            Unit::Count => self.format(v),
            Unit::Bytes | Unit::Seconds if log => self.format(v),
            _ => significant(v / shown.divisor, 3),
        }
    }

    /// Labels of the ticks of a linear axis whose step has `step_exponent` in shown units.
    pub(crate) fn labels(&self, ticks: &[f64], step_exponent: i32) -> Vec<String> {
        let largest = ticks.iter().fold(0.0f64, |a, t| a.max(t.abs()));
        let e = exponent(largest);
        let decimals = (-step_exponent).max(0) as usize;
        let label = |t: &f64| match self {
            _ if *t == 0.0 => "0".into(),
            Unit::Count if (1e4..1e21).contains(&largest) => with_prefix(*t, largest, step_exponent),
            _ if e >= 6 || (e < -3 && largest > 0.0) => {
                crate::number::scientific(*t, e, (e - step_exponent).max(0) as usize)
            }
            _ => fixed(*t, decimals),
        };
        ticks.iter().map(label).collect()
    }
}

/// A number to four digits with the prefix of its own size.
fn prefixed(v: f64) -> String {
    let (divisor, prefix) = SI.into_iter().find(|s| v.abs() >= s.0).unwrap_or((1.0, ""));
    let number = significant(v / divisor, 4);
    if prefix.is_empty() { number } else { format!("{number}\u{202f}{prefix}") }
}

/// `12.5 M`: all ticks of an axis take the prefix of the largest.
fn with_prefix(v: f64, largest: f64, step_exponent: i32) -> String {
    let (divisor, prefix) = SI.into_iter().find(|s| largest >= s.0).unwrap_or((1.0, ""));
    let decimals = (exponent(divisor) - step_exponent).max(0) as usize;
    format!("{}\u{202f}{prefix}", fixed(v / divisor, decimals))
}

/// An axis: title, unit, linear or logarithmic, range.
///
/// ```
/// use sapwood_report::{Axis, Unit};
/// let memory = Axis::new("peak memory").unit(Unit::Bytes).from_zero();
/// let loss = Axis::new("loss").log();
/// let accuracy = Axis::new("test accuracy").unit(Unit::Percent).range(0.7, 0.9);
/// # let _ = (memory, loss, accuracy);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    pub(crate) title: String,
    pub(crate) unit: Unit,
    pub(crate) log: bool,
    pub(crate) zero: bool,
    pub(crate) range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis of plain numbers over the range of the data. The title may be empty.
    pub fn new(title: impl Into<String>) -> Axis {
        Axis { title: title.into(), ..Axis::default() }
    }

    /// What the numbers are.
    #[must_use]
    pub fn unit(mut self, unit: Unit) -> Axis {
        self.unit = unit;
        self
    }

    /// Logarithmic. Values that are not above zero are left out, and the chart says so.
    #[must_use]
    pub fn log(mut self) -> Axis {
        self.log = true;
        self
    }

    /// Zero is on the axis, whatever the data (on linear axes).
    #[must_use]
    pub fn from_zero(mut self) -> Axis {
        self.zero = true;
        self
    }

    /// Shows this range and cuts off what is outside. A range that is none (not finite, empty, not above zero on a
    /// logarithmic axis) is ignored.
    #[must_use]
    pub fn range(mut self, lo: f64, hi: f64) -> Axis {
        self.range = Some((lo, hi));
        self
    }

    /// The range to show, when the caller gave one that can be shown.
    pub(crate) fn fixed_range(&self) -> Option<(f64, f64)> {
        let fine = |&(lo, hi): &(f64, f64)| {
            lo.is_finite() && hi.is_finite() && hi - lo > 1e-12 * lo.abs().max(hi.abs()) && (!self.log || lo > 1e-300)
        };
        self.range.filter(fine)
    }

    /// Whether a value has a place on such an axis.
    pub(crate) fn shows(&self, v: f64) -> bool {
        v.is_finite() && (!self.log || v >= crate::scale::SMALLEST)
    }

    /// The title, in brackets the unit and whether the axis is logarithmic.
    pub(crate) fn caption(&self, unit: &str) -> String {
        let title = crate::text::one_line(&self.title);
        let log = if self.log { "log scale" } else { "" };
        let what: Vec<&str> = [unit, log].into_iter().filter(|w| !w.is_empty()).collect();
        match (title.is_empty(), what.is_empty()) {
            (_, true) => title,
            (true, false) => what.join(", "),
            (false, false) => format!("{title} ({})", what.join(", ")),
        }
    }

    /// The title for a sentence.
    pub(crate) fn noun<'a>(&'a self, otherwise: &'a str) -> &'a str {
        if self.title.trim().is_empty() { otherwise } else { &self.title }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_units() {
        let gib = 1024f64.powi(3);
        assert_eq!(Unit::Bytes.format(12.5 * gib), "12.5\u{202f}GiB");
        assert_eq!(Unit::Bytes.format(0.0), "0\u{202f}B");
        assert_eq!(Unit::Bytes.format(u64::MAX as f64), "16\u{202f}EiB");
        assert_eq!(Unit::Seconds.format(0.0015), "1.5\u{202f}ms");
        assert_eq!(Unit::Seconds.format(7200.0), "120\u{202f}min");
        assert_eq!(Unit::Percent.format(0.8123), "81.2\u{202f}%");
        assert_eq!(Unit::Count.format(12345.0), "12\u{202f}345");
        assert_eq!(Unit::Count.format(u64::MAX as f64), "18.45\u{202f}E");
        assert_eq!(Unit::Percent.format(0.0), "0\u{202f}%");
        assert_eq!(Unit::Named("tokens/s".into()).format(0.5), "0.5\u{202f}tokens/s");
        assert_eq!(Unit::None.format(f64::NAN), "n/a");
    }

    #[test]
    fn labels_of_ticks() {
        assert_eq!(Unit::None.labels(&[0.0, 0.5, 1.0], -1), ["0", "0.5", "1.0"]);
        assert_eq!(Unit::None.labels(&[0.0, 5e6, 1e7], 6), ["0", "0.5×10⁷", "1×10⁷"]);
        assert_eq!(Unit::Count.labels(&[0.0, 5e5, 1e6], 5), ["0", "0.5\u{202f}M", "1.0\u{202f}M"]);
        assert_eq!(Unit::None.labels(&[1e-5, 2e-5], -5), ["1×10⁻⁵", "2×10⁻⁵"]);
    }

    #[test]
    fn captions_and_ranges() {
        assert_eq!(Axis::new("a").caption("s"), "a (s)");
        assert_eq!(Axis::new("").caption("s"), "s");
        assert_eq!(Axis::new("a").log().caption("s"), "a (s, log scale)");
        assert_eq!(Axis::new("").range(1.0, f64::NAN).fixed_range(), None);
        assert_eq!(Axis::new("").range(2.0, 1.0).fixed_range(), None);
        assert_eq!(Axis::new("").log().range(0.0, 1.0).fixed_range(), None);
        assert_eq!(Axis::new("").range(-1.0, 1.0).fixed_range(), Some((-1.0, 1.0)));
    }
}
