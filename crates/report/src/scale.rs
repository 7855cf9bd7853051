//! From values to positions: the extent of the data, the range of an axis, its ticks, and the map to pixels.
//!
//! Nothing here is NaN or infinite: [`Scale::at`] gives no position for a value that has none.

use crate::axis::{Axis, Shown, Unit};
use crate::number::{self, exponent};
use crate::ticks::{self, LogTicks};

/// Below this a positive number has no place on a logarithmic axis: steps to its neighbours would underflow.
pub(crate) const SMALLEST: f64 = 1e-300;

/// The range of data, and what could not be part of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Extent {
    lo: f64,
    hi: f64,
    lowest_positive: f64,
    /// Finite values seen.
    pub(crate) finite: usize,
    pub(crate) infinite: usize,
    pub(crate) not_positive: usize,
}

impl Default for Extent {
    fn default() -> Extent {
        let inf = f64::INFINITY;
        Extent { lo: inf, hi: -inf, lowest_positive: inf, finite: 0, infinite: 0, not_positive: 0 }
    }
}

impl Extent {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Extent {
        let mut extent = Extent::default();
        values.into_iter().for_each(|v| extent.add(v));
        extent
    }

    /// Takes a value in. NaN is a gap and counts as nothing.
    pub(crate) fn add(&mut self, v: f64) {
        if v.is_infinite() {
            self.infinite += 1;
        } else if !v.is_nan() {
            self.finite += 1;
            (self.lo, self.hi) = (self.lo.min(v), self.hi.max(v));
            if v >= SMALLEST {
                self.lowest_positive = self.lowest_positive.min(v);
            } else {
                self.not_positive += 1;
            }
        }
    }

    /// Takes a value into the range that is no datum, such as a limit or the end of an interval.
    pub(crate) fn reach(&mut self, v: f64) {
        let before = (self.finite, self.infinite, self.not_positive);
        self.add(v);
        (self.finite, self.infinite, self.not_positive) = before;
    }

    /// Smallest and largest finite value.
    pub(crate) fn bounds(&self) -> Option<(f64, f64)> {
        (self.lo <= self.hi).then_some((self.lo, self.hi))
    }

    /// Whether an axis can show any of it.
    pub(crate) fn can_show(&self, log: bool) -> bool {
        if log { self.lowest_positive.is_finite() } else { self.finite > 0 }
    }

    /// What is left out, for a note under the chart.
    pub(crate) fn left_out(&self, log: bool) -> Option<String> {
        let part = |n: usize, one: &str, many: &str| (n > 0).then(|| crate::text::counted(n, one, many));
        let infinite = part(self.infinite, "infinite value", "infinite values");
        let low = part(if log { self.not_positive } else { 0 }, "value not above zero", "values not above zero");
        let parts: Vec<String> = infinite.into_iter().chain(low).collect();
        (!parts.is_empty()).then(|| format!("Not drawn: {}.", parts.join(", ")))
    }
}

/// Whether the range of an axis ends on ticks or where the data end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fit {
    Ticks,
    Data,
}

/// A tick with its label; minor ticks have none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// The map from values to pixels, with the ticks of the axis.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    log: bool,
    lo: f64,
    hi: f64,
    from: f64,
    to: f64,
    pub(crate) ticks: Vec<Tick>,
    pub(crate) minor: Vec<f64>,
    /// Unit with prefix, for the axis title.
    pub(crate) unit: String,
    shown: Shown,
    /// Decimals of a value with a hundredth of the distance of two ticks, on linear axes of usual numbers.
    decimals: Option<usize>,
}

impl Scale {
    /// A scale for data of `extent` on the pixels 0 to 1, with at most about `most` ticks.
    pub(crate) fn new(axis: &Axis, extent: &Extent, fit: Fit, most: usize) -> Scale {
        if axis.log { logarithmic(axis, extent, fit, most) } else { linear(axis, extent, fit, most) }
    }

    /// The same on other pixels; `from` may be larger than `to`.
    pub(crate) fn between(mut self, from: f64, to: f64) -> Scale {
        (self.from, self.to) = (from, to);
        self
    }

    /// The pixel of a value; none for NaN, infinities and, on a logarithmic axis, what is not above zero.
    pub(crate) fn at(&self, v: f64) -> Option<f64> {
        if !v.is_finite() || (self.log && v < SMALLEST) {
            return None;
        }
        // Halves: the whole range of f64 is wider than f64.
        let (v, lo, hi) =
            if self.log { (v.ln(), self.lo.ln(), self.hi.ln()) } else { (v / 2.0, self.lo / 2.0, self.hi / 2.0) };
        let t = (v - lo) / (hi - lo);
        Some(self.from + t.clamp(-50.0, 50.0) * (self.to - self.from))
    }

    /// The pixel of a value, moved to the end of the axis when it lies outside or has none.
    pub(crate) fn clamped(&self, v: f64) -> f64 {
        let (a, b) = (self.from.min(self.to), self.from.max(self.to));
        self.at(v).map_or(self.from, |p| p.clamp(a, b))
    }

    /// The ends of the axis.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.lo, self.hi)
    }

    /// A value as it stands beside its mark.
    pub(crate) fn words(&self, unit: &Unit, v: f64) -> String {
        unit.beside(v, &self.shown, self.log && self.unit.is_empty())
    }

    /// The same, to a hundredth of the distance of two ticks where the axis is linear: values below each other agree.
    pub(crate) fn fixed_words(&self, unit: &Unit, v: f64) -> String {
        match self.decimals {
            Some(decimals) if v.is_finite() => number::fixed(v / self.shown.divisor, decimals),
            _ => self.words(unit, v),
        }
    }

    /// Where bars begin: zero if it is on the axis, else its low end.
    pub(crate) fn base(&self) -> f64 {
        if self.log { self.lo } else { 0f64.clamp(self.lo, self.hi) }
    }
}

/// A range with some width, whatever the data are.
fn widened(bounds: Option<(f64, f64)>) -> (f64, f64) {
    let (lo, hi) = bounds.unwrap_or((0.0, 1.0));
    let size = lo.abs().max(hi.abs());
    if hi / 2.0 - lo / 2.0 > size * 1e-12 && hi - lo > 1e-290 {
        return (lo, hi);
    }
    match size {
        s if s < 1e-290 => (0.0, 1.0),
        s => {
            let by = s * 0.05;
            let (a, b) = (lo - by, hi + by);
            if a.is_finite() && b.is_finite() { (a, b) } else { (lo.min(0.0), hi.max(0.0)) }
        }
    }
}

fn linear(axis: &Axis, extent: &Extent, fit: Fit, most: usize) -> Scale {
    let mut reach = extent.clone();
    if axis.zero {
        reach.reach(0.0);
    }
    let (lo, hi) = axis.fixed_range().unwrap_or_else(|| widened(reach.bounds()));
    let shown = axis.unit.shown(lo.abs().max(hi.abs()));
    // Per cent of the largest numbers overflow: those stay as they are.
    let fits = (lo / shown.divisor).is_finite() && (hi / shown.divisor).is_finite();
    let shown = if fits { shown } else { Unit::None.shown(0.0) };
    let (lo, hi) = (lo / shown.divisor, hi / shown.divisor);
    let step = ticks::step(lo, hi, most, axis.unit == Unit::Count);
    let (a, b) = (step.floor(lo), step.ceil(hi));
    let extend = fit == Fit::Ticks && axis.fixed_range().is_none() && a.is_finite() && b.is_finite();
    let (lo, hi) = if extend { (a, b) } else { (lo, hi) };
    let values = step.within(lo, hi);
    let labels = axis.unit.labels(&values, step.exponent);
    let tick = |(v, label): (f64, String)| Tick { value: v * shown.divisor, label };
    let ticks = values.into_iter().zip(labels).map(tick).filter(|t| t.value.is_finite()).collect();
    let (lo, hi) = (lo * shown.divisor, hi * shown.divisor);
    let usual = axis.unit != Unit::Count && (-4..=4).contains(&step.exponent);
    let decimals = usual.then(|| (2 - step.exponent).max(0) as usize);
    let unit = shown.name.clone();
    Scale { log: false, lo, hi, from: 0.0, to: 1.0, ticks, minor: Vec::new(), unit, shown, decimals }
}

fn logarithmic(axis: &Axis, extent: &Extent, fit: Fit, most: usize) -> Scale {
    let data = if extent.can_show(true) { (extent.lowest_positive, extent.hi) } else { (1.0, 10.0) };
    let (mut lo, mut hi) = axis.fixed_range().unwrap_or(data);
    if hi / lo < 1.001 {
        (lo, hi) = (ticks::log_floor(lo / 1.5).max(SMALLEST), ticks::log_ceil((hi * 1.5).min(f64::MAX)));
    } else if fit == Fit::Ticks && axis.fixed_range().is_none() {
        (lo, hi) = (ticks::log_floor(lo).max(SMALLEST), ticks::log_ceil(hi));
    }
    if ticks::decades(lo, hi) < 1.0 {
        return short_log(axis, lo, hi, most);
    }
    let LogTicks { labelled, minor } = match axis.unit {
        Unit::Bytes => ticks::binary_ticks(lo, hi, most),
        _ => ticks::log_ticks(lo, hi, most),
    };
    let shown = axis.unit.shown(1.0);
    // Bytes and seconds span many units: each tick names its own.
    let unit = match axis.unit {
        Unit::Bytes | Unit::Seconds => String::new(),
        _ => shown.name.clone(),
    };
    let tick = |value: f64| Tick { value, label: log_label(&axis.unit, value) };
    let ticks = labelled.into_iter().map(tick).collect();
    Scale { log: true, lo, hi, from: 0.0, to: 1.0, ticks, minor, unit, shown, decimals: None }
}

/// Less than a decade: decades would leave the axis bare, so that the ticks are those of a linear axis.
fn short_log(axis: &Axis, lo: f64, hi: f64, most: usize) -> Scale {
    let plain = Axis { log: false, zero: false, range: Some((lo, hi)), ..axis.clone() };
    let scale = linear(&plain, &Extent::of([lo, hi]), Fit::Data, most);
    Scale { log: true, lo, hi, ..scale }
}

fn log_label(unit: &Unit, v: f64) -> String {
    match unit {
        Unit::Bytes | Unit::Seconds => unit.format(v),
        Unit::Percent => log_label(&Unit::None, v * 100.0),
        _ => {
            let e = exponent(v);
            let m = (v / number::ten(e)).round();
            match m as i64 {
                1 => number::power_of_ten(e),
                _ if (-3..4).contains(&e) => number::significant(v, 2),
                _ => number::scientific(v, e, 0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scale(axis: &Axis, values: &[f64], fit: Fit) -> Scale {
        Scale::new(axis, &Extent::of(values.iter().copied()), fit, 6).between(0.0, 100.0)
    }

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        scale(axis, values, Fit::Ticks).ticks.into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn nice_axes() {
        assert_eq!(labels(&Axis::new(""), &[0.03, 0.97]), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::new("").unit(Unit::Percent), &[0.71, 0.88]), ["70", "75", "80", "85", "90"]);
        let gib = Axis::new("").unit(Unit::Bytes).from_zero();
        assert_eq!(labels(&gib, &[3.1 * 1024f64.powi(3)]), ["0", "1", "2", "3", "4"]);
        assert_eq!(
            labels(&Axis::new("").log(), &[0.02, 900.0]),
            ["0.1", "1", "10", "100", "1000"].map(String::from)[..].to_vec().into_iter().collect::<Vec<_>>()
        );
        let bytes = Axis::new("").unit(Unit::Bytes).log();
        assert_eq!(
            labels(&bytes, &[1024.0, 1024f64.powi(4)]),
            ["1\u{202f}KiB", "1\u{202f}MiB", "1\u{202f}GiB", "1\u{202f}TiB"]
        );
    }

    #[test]
    fn constants_have_room_on_both_sides() {
        for v in [0.0, 1.0, -3.0, 1e-5, 1e300, -1e300, f64::MAX, f64::MIN, 5e-324] {
            let s = scale(&Axis::new(""), &[v, v], Fit::Ticks);
            let p = s.at(v).unwrap();
            assert!((0.0..=100.0).contains(&p) && s.ticks.len() >= 2, "{v}: {p} {:?}", s.ticks);
        }
    }

    #[test]
    fn what_has_no_place() {
        let s = scale(&Axis::new("").log(), &[1.0, 10.0, -1.0, 0.0, f64::INFINITY], Fit::Ticks);
        assert_eq!([s.at(-1.0), s.at(0.0), s.at(f64::INFINITY), s.at(f64::NAN)], [None; 4]);
        let e = Extent::of([1.0, 0.0, -1.0, f64::NEG_INFINITY, f64::NAN]);
        assert_eq!(e.left_out(true).unwrap(), "Not drawn: 1 infinite value, 2 values not above zero.");
        assert_eq!(e.left_out(false).unwrap(), "Not drawn: 1 infinite value.");
        assert_eq!(Extent::of([1.0]).left_out(true), None);
    }

    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![any::<f64>(), -1e3..1e3f64, Just(0.0), (-300..300i32).prop_map(number::ten)]
    }

    proptest! {
        #[test]
        fn ticks_cover_the_data(values in prop::collection::vec(value(), 1..20), log: bool, most in 2usize..10) {
            let extent = Extent::of(values.iter().copied());
            let axis = Axis { log, ..Axis::default() };
            let s = Scale::new(&axis, &extent, Fit::Ticks, most).between(0.0, 100.0);
            prop_assert!(s.lo.is_finite() && s.hi.is_finite() && s.lo < s.hi);
            let shown: Vec<(f64, f64)> = values.iter().filter_map(|v| Some((*v, s.at(*v)?))).collect();
            for (v, p) in &shown {
                // An axis ends on the tick from which its last datum is less than a millionth of a step away.
                prop_assert!((-1e-4..=100.0 + 1e-4).contains(p), "{} at {}", v, p);
            }
            if !log && s.hi < 1e307 && s.lo > -1e307 {
                let (first, last) = (s.ticks.first().unwrap().value, s.ticks.last().unwrap().value);
                let slack = 1e-5 * (last - first);
                for (v, _) in shown { prop_assert!(first <= v + slack && v - slack <= last, "{first} {v} {last}"); }
            }
            prop_assert!(s.ticks.len() <= 2 * most + 4);
        }

        #[test]
        fn positions_are_monotone(a in value(), b in value(), values in prop::collection::vec(value(), 1..5), log: bool) {
            let s = Scale::new(&Axis { log, ..Axis::default() }, &Extent::of(values), Fit::Data, 5);
            if let (Some(p), Some(q)) = (s.at(a), s.at(b)) {
                prop_assert!(p.is_finite() && q.is_finite());
                prop_assert!(a.partial_cmp(&b) == p.partial_cmp(&q) || p == q || (a - b).abs() <= 1e-12 * a.abs());
            }
        }

        #[test]
        fn ticks_ascend_and_labels_differ(lo in -1e6..1e6f64, span in 1e-3..1e6f64, most in 2usize..10) {
            let s = Scale::new(&Axis::new(""), &Extent::of([lo, lo + span]), Fit::Ticks, most);
            prop_assert!(s.ticks.windows(2).all(|w| w[0].value < w[1].value && w[0].label != w[1].label), "{:?}", s.ticks);
        }
    }
}
