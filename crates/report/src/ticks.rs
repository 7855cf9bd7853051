//! Where the ticks of an axis stand: steps of 1, 2 or 5 times a power of ten, decades on logarithmic axes, powers of two
//! for bytes on logarithmic axes.
//!
//! Ticks are whole multiples of the step, never sums of it, so that 0.3 is 0.3.

use crate::number::{exponent, ten};

/// m·10ᵉ with m of 1, 2, 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    mantissa: f64,
    pub(crate) exponent: i32,
}

impl Step {
    /// The smallest step that is not below `raw`.
    pub(crate) fn at_least(raw: f64) -> Step {
        let e = exponent(raw);
        // A little slack: 0.1 + 0.2 must not push the step to the next size.
        let fits = |m: f64| m * ten(e) >= raw * (1.0 - 1e-9);
        let mantissa = [1.0, 2.0, 5.0].into_iter().find(|&m| fits(m));
        match mantissa {
            Some(mantissa) => Step { mantissa, exponent: e },
            None => Step { mantissa: 1.0, exponent: e + 1 },
        }
    }

    /// The k-th multiple.
    pub(crate) fn at(self, k: f64) -> f64 {
        let k = k * self.mantissa;
        if self.exponent >= 0 { k * ten(self.exponent) } else { k / ten(-self.exponent) }
    }

    /// How many steps `v` is, whole when it is nearly whole.
    fn steps(self, v: f64) -> f64 {
        let k = v / self.at(1.0);
        if (k - k.round()).abs() < 1e-6 { k.round() } else { k }
    }

    /// The last multiple not above `v`.
    pub(crate) fn floor(self, v: f64) -> f64 {
        self.at(self.steps(v).floor())
    }

    /// The first multiple not below `v`.
    pub(crate) fn ceil(self, v: f64) -> f64 {
        self.at(self.steps(v).ceil())
    }

    /// All multiples from `lo` to `hi`.
    pub(crate) fn within(self, lo: f64, hi: f64) -> Vec<f64> {
        let (first, last) = (self.steps(lo).ceil(), self.steps(hi).floor());
        let n = (last - first + 1.0).clamp(0.0, 1000.0) as usize;
        (0..n).map(|i| self.at(first + i as f64)).filter(|v| v.is_finite()).collect()
    }
}

/// The step that cuts `lo..hi` into at most `most` parts; not below 1 for `whole` numbers.
pub(crate) fn step(lo: f64, hi: f64, most: usize, whole: bool) -> Step {
    let raw = hi / most.max(1) as f64 - lo / most.max(1) as f64;
    Step::at_least(if whole { raw.max(1.0) } else { raw })
}

/// Ticks of a logarithmic axis: those with a label, and those without.
#[derive(Debug, Default)]
pub(crate) struct LogTicks {
    pub(crate) labelled: Vec<f64>,
    pub(crate) minor: Vec<f64>,
}

/// How many decades lie between two positive numbers.
pub(crate) fn decades(lo: f64, hi: f64) -> f64 {
    hi.log10() - lo.log10()
}

/// Ticks between two positive numbers at least a decade apart: decades, with 2 and 5 where there is room for them.
pub(crate) fn log_ticks(lo: f64, hi: f64, most: usize) -> LogTicks {
    let (first, last) = (exponent(lo), exponent(hi));
    let stride = (last - first + 1).div_euclid(most.max(1) as i32).max(1);
    let inside = |v: &f64| *v >= lo * (1.0 - 1e-9) && *v <= hi * (1.0 + 1e-9);
    let times = |mantissas: &'static [f64]| {
        let powers = (first..=last + 1).filter(|e| e.rem_euclid(stride) == 0);
        powers.flat_map(|e| mantissas.iter().map(move |m| m * ten(e))).filter(inside).collect::<Vec<f64>>()
    };
    let mut labelled = times(&[1.0]);
    if labelled.len() < 2 || (decades(lo, hi) <= 2.2 && most >= 6) {
        labelled = times(&[1.0, 2.0, 5.0]);
    }
    let fine = stride == 1 && last - first <= 6;
    let each = (first..=last).filter(|_| fine).flat_map(|e| (1..10).map(move |m| f64::from(m) * ten(e)));
    let minor = each.filter(inside).filter(|v| !labelled.contains(v)).collect();
    LogTicks { labelled, minor }
}

/// Powers of two between two positive numbers, every one, second, fifth, tenth ...: so that KiB, MiB, GiB are met.
pub(crate) fn binary_ticks(lo: f64, hi: f64, most: usize) -> LogTicks {
    let (first, last) = (lo.log2().ceil() as i32, hi.log2().floor() as i32);
    let stride = [1, 2, 5].into_iter().find(|s| (last - first) / s < most.max(1) as i32);
    let stride = stride.unwrap_or_else(|| 10 * ((last - first) / (10 * most.max(1) as i32) + 1));
    let labelled = (first..=last).filter(|e| e.rem_euclid(stride) == 0).map(|e| f64::from(e).exp2());
    LogTicks { labelled: labelled.collect(), minor: Vec::new() }
}

/// The next number of 1, 2, 5 times a power of ten below or at `v`, and above or at it.
pub(crate) fn log_floor(v: f64) -> f64 {
    let unit = ten(exponent(v));
    [5.0, 2.0, 1.0].into_iter().map(|m| m * unit).find(|b| *b <= v * (1.0 + 1e-9)).unwrap_or(v)
}

/// See [`log_floor`].
pub(crate) fn log_ceil(v: f64) -> f64 {
    let unit = ten(exponent(v));
    let above = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * unit).find(|b| *b >= v * (1.0 - 1e-9));
    above.filter(|b| b.is_finite()).unwrap_or(v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_1_2_5() {
        let steps = [0.9, 1.0, 1.1, 2.0, 3.0, 5.1, 0.03].map(|raw| Step::at_least(raw).at(1.0));
        assert_eq!(steps, [1.0, 1.0, 2.0, 2.0, 5.0, 10.0, 0.05]);
        assert_eq!(step(0.0, 1.0, 5, false).within(0.0, 1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(step(0.0, 2.0, 8, true).within(0.0, 2.0), [0.0, 1.0, 2.0]);
        assert!(step(f64::MIN, f64::MAX, 5, false).at(1.0).is_finite());
    }

    #[test]
    fn decades_and_between() {
        assert_eq!(log_ticks(1.0, 100.0, 8).labelled, [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(log_ticks(0.5, 2e4, 8).labelled, [1.0, 10.0, 100.0, 1e3, 1e4]);
        assert!(log_ticks(1e-200, 1e200, 8).labelled.len() <= 10);
        assert_eq!(binary_ticks(1024.0, 2f64.powi(40), 5).labelled, [10, 20, 30, 40].map(|e| 2f64.powi(e)));
        assert_eq!([0.9, 1.0, 7.0].map(log_floor), [0.5, 1.0, 5.0]);
        assert_eq!([0.9, 1.0, 7.0].map(log_ceil), [1.0, 1.0, 10.0]);
    }
}
