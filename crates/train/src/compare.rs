//! Paired statistics: what several seeds of two methods allow one to say.
//!
//! Holds the summary of one method over its seeds and the comparison of two methods whose runs share seeds.
//! It never sees a graph, a model or a metric's name: it is given numbers, one per seed, in seed order.
//! Start with [`paired`]; [`Summary::of`] is the row of one method.
//!
//! Runs are *paired*: run `s` of every method shares split, initial weights and dropout stream, so the difference
//! of run `s` is free of what the seed itself does. All resampling is keyed: the same numbers give the same interval.

use sapwood_skeleton::random::{self, Purpose, Stream};

/// Fewest seeds for which a test is reported: at 5 the smallest two-sided sign-flip p is 2/32, above 0.05.
pub const MIN_SEEDS: usize = 6;
/// What a table prints in place of a test when there are fewer than [`MIN_SEEDS`] seeds.
pub const NOT_TESTED: &str = "n/a (needs 6 seeds)";
/// Resamples of the seed index behind a bootstrap interval.
pub const RESAMPLES: u32 = 10_000;
/// Largest number of seeds for which every one of the 2ⁿ sign patterns is visited.
const EXACT_UP_TO: usize = 16;
/// Keyed sign patterns drawn beyond [`EXACT_UP_TO`] seeds.
const FLIPS: u32 = 65_536;
/// A difference is called real only at or below this p.
const LEVEL: f64 = 0.05;

/// Why numbers could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No number was given.
    #[error("no runs to summarise; give at least one seed")]
    Empty,
    /// The two methods have different numbers of runs, so they cannot be paired.
    #[error("{left} runs cannot be paired with {right}; run both methods with the same seeds")]
    Unpaired {
        /// Runs of the first method.
        left: usize,
        /// Runs of the second method.
        right: usize,
    },
    /// A value is NaN or infinite.
    #[error("run {run} has the value {value}, which cannot be averaged; look at its loss first")]
    NotFinite {
        /// Position in seed order, from 0.
        run: usize,
        /// The value.
        value: f64,
    },
    /// A random stream refused its coordinates.
    #[error("cannot draw random numbers for the statistics")]
    Random(#[from] sapwood_skeleton::Error),
}

/// Result of this module.
pub type Result<T> = std::result::Result<T, Error>;

/// One method over its seeds, in the unit of its input.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Number of runs, at least 1.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation with divisor n − 1; `None` for a single run.
    pub sd: Option<f64>,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl Summary {
    /// Summarises `values`, one per seed.
    ///
    /// # Errors
    /// [`Error::Empty`] without values, [`Error::NotFinite`] on a NaN or an infinity.
    pub fn of(values: &[f64]) -> Result<Summary> {
        check(values)?;
        let (n, mean) = (values.len(), mean(values));
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Ok(Summary {
            n,
            mean,
            sd: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }

    /// Largest minus smallest value.
    pub fn spread(&self) -> f64 {
        self.max - self.min
    }
}

/// What a paired comparison allows one to say of the first method against the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Higher: the interval lies above 0 and p ≤ 0.05.
    Better,
    /// Lower: the interval lies below 0 and p ≤ 0.05.
    Worse,
    /// The runs do not show a difference.
    NoDifference,
    /// Fewer than [`MIN_SEEDS`] seeds: nothing is said.
    TooFewSeeds,
}

impl Verdict {
    /// The words of a table; [`NOT_TESTED`] when nothing may be said.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifference => "no difference shown",
            Verdict::TooFewSeeds => NOT_TESTED,
        }
    }
}

/// Paired comparison of a method `a` with a method `b`, in the unit of their values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Paired {
    /// Number of pairs.
    pub n: usize,
    /// Mean of `a[s] − b[s]`.
    pub mean_diff: f64,
    /// Lower end of the 95 % percentile bootstrap interval of the mean difference.
    pub ci_low: f64,
    /// Upper end of it.
    pub ci_high: f64,
    /// Two-sided sign-flip p; `None` below [`MIN_SEEDS`] seeds.
    pub p_value: Option<f64>,
}

impl Paired {
    /// `Better` or `Worse` only if the interval excludes 0 **and** p ≤ 0.05: the interval alone is wrong in 15 % of
    /// no-effect cases at 6 seeds.
    pub fn verdict(&self) -> Verdict {
        match self.p_value {
            None => Verdict::TooFewSeeds,
            Some(p) if p <= LEVEL && self.ci_low > 0.0 => Verdict::Better,
            Some(p) if p <= LEVEL && self.ci_high < 0.0 => Verdict::Worse,
            Some(_) => Verdict::NoDifference,
        }
    }
}

/// Compares two methods whose run `s` shares everything but the method; positive means `a` is larger.
///
/// `seed` keys the resampling (the run's `--seed`), so the answer is a function of its arguments.
///
/// # Errors
/// [`Error::Unpaired`] when the lengths differ, [`Error::Empty`] and [`Error::NotFinite`] as in [`Summary::of`].
pub fn paired(a: &[f64], b: &[f64], seed: u64) -> Result<Paired> {
    if a.len() != b.len() {
        return Err(Error::Unpaired { left: a.len(), right: b.len() });
    }
    check(a)?;
    check(b)?;
    let differences: Vec<f64> = a.iter().zip(b).map(|(x, y)| x - y).collect();
    let (ci_low, ci_high) = bootstrap(&differences, seed)?;
    let tested = differences.len() >= MIN_SEEDS;
    Ok(Paired {
        n: differences.len(),
        mean_diff: mean(&differences),
        ci_low,
        ci_high,
        p_value: if tested { Some(sign_flip(&differences, seed)?) } else { None },
    })
}

/// Two-sided sign-flip p of the mean of `differences`: the share of sign patterns whose |mean| is at least
/// |observed|·(1 − 10⁻¹²). All 2ⁿ patterns for n ≤ 16; beyond, 65 536 keyed ones and (count + 1)/(65 536 + 1).
///
/// Under "the method does nothing" each difference is as likely as its opposite (Fisher 1935, *The Design of
/// Experiments*, section 21). No rule on the number of seeds is applied here: [`paired`] does that.
///
/// # Errors
/// [`Error::Empty`], [`Error::NotFinite`].
pub fn sign_flip(differences: &[f64], seed: u64) -> Result<f64> {
    check(differences)?;
    let n = differences.len();
    let bar = differences.iter().sum::<f64>().abs() * (1.0 - 1e-12);
    if n <= EXACT_UP_TO {
        let patterns = 1u32 << n;
        let extreme = (0..patterns).filter(|&bits| flipped(differences, |i| bits >> i & 1 == 1).abs() >= bar).count();
        return Ok(extreme as f64 / f64::from(patterns));
    }
    let stream = Stream::new(seed, Purpose::SignFlip);
    let mut words = Vec::with_capacity(n);
    let mut extreme = 0u32;
    for flip in 0..FLIPS {
        draw_words(stream, flip, n.div_ceil(32), &mut words)?;
        let sum = flipped(differences, |i| words[i / 32] >> (i % 32) & 1 == 1);
        extreme += u32::from(sum.abs() >= bar);
    }
    Ok(f64::from(extreme + 1) / f64::from(FLIPS + 1))
}

/// 95 % percentile bootstrap interval of the mean of `differences` (Efron & Tibshirani 1993, chapter 13):
/// [`RESAMPLES`] keyed resamples of the seed index; ends interpolated linearly between order statistics.
///
/// # Errors
/// [`Error::Empty`], [`Error::NotFinite`].
pub fn bootstrap(differences: &[f64], seed: u64) -> Result<(f64, f64)> {
    check(differences)?;
    let stream = Stream::new(seed, Purpose::Bootstrap);
    let n = differences.len();
    let mut words = Vec::with_capacity(n);
    let mut means = Vec::with_capacity(RESAMPLES as usize);
    for resample in 0..RESAMPLES {
        draw_words(stream, resample, n, &mut words)?;
        let sum: f64 = words[..n].iter().map(|&w| differences[random::below(w, n as u32) as usize]).sum();
        means.push(sum / n as f64);
    }
    means.sort_unstable_by(f64::total_cmp);
    Ok((quantile(&means, 0.025), quantile(&means, 0.975)))
}

/// At least `count` words of the stream at (a, 0, ·), replacing what `words` held.
fn draw_words(stream: Stream, a: u32, count: usize, words: &mut Vec<u32>) -> Result<()> {
    words.clear();
    for unit in 0..count.div_ceil(4) {
        words.extend(stream.at(a, 0, unit as u64)?);
    }
    Ok(())
}

/// Sum of the differences, those named by `negate` with the other sign, left to right.
fn flipped(differences: &[f64], negate: impl Fn(usize) -> bool) -> f64 {
    differences.iter().enumerate().map(|(i, &d)| if negate(i) { -d } else { d }).sum()
}

/// Value at share `q` of sorted numbers, linear between neighbours (type 7 of Hyndman & Fan 1996).
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    let part = at - low as f64;
    if part == 0.0 { sorted[low] } else { sorted[low] + part * (sorted[high] - sorted[low]) }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn check(values: &[f64]) -> Result<()> {
    if values.is_empty() {
        return Err(Error::Empty);
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(run) => Err(Error::NotFinite { run, value: values[run] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: [f64; 5] = [0.3, 0.5, -0.1, 0.4, 0.2];

    #[test]
    fn golden_mean_and_sign_flip() {
        assert!((mean(&GOLDEN) - 0.26).abs() < 1e-15);
        assert_eq!(sign_flip(&GOLDEN, 7).unwrap(), 0.125);
    }

    #[test]
    fn summary_of_known_values() {
        let s = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((s.n, s.mean, s.min, s.max, s.spread()), (8, 5.0, 2.0, 9.0, 7.0));
        assert!((s.sd.unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(Summary::of(&[0.5]).unwrap().sd, None);
    }

    #[test]
    fn five_seeds_are_not_tested_and_six_are() {
        let zero = [0.0; 6];
        let five = paired(&GOLDEN, &zero[..5], 1).unwrap();
        assert_eq!((five.p_value, five.verdict()), (None, Verdict::TooFewSeeds));
        assert_eq!(five.verdict().words(), "n/a (needs 6 seeds)");
        let six = paired(&[0.3, 0.5, 0.1, 0.4, 0.2, 0.6], &zero, 1).unwrap();
        assert_eq!(six.p_value, Some(2.0 / 64.0));
        assert_eq!(six.verdict(), Verdict::Better);
        let back = paired(&zero, &[0.3, 0.5, 0.1, 0.4, 0.2, 0.6], 1).unwrap();
        assert_eq!(back.verdict(), Verdict::Worse);
    }

    #[test]
    fn interval_without_a_small_p_is_no_difference() {
        // One negative of six: the bootstrap interval is above 0, the exact test says 4/64 = 0.0625.
        let d = [0.30, 0.31, 0.32, 0.33, 0.34, -0.05];
        let c = paired(&d, &[0.0; 6], 3).unwrap();
        assert!(c.ci_low > 0.0, "{c:?}");
        assert_eq!(c.p_value, Some(4.0 / 64.0));
        assert_eq!(c.verdict(), Verdict::NoDifference);
    }

    #[test]
    fn all_differences_zero_is_p_one() {
        assert_eq!(sign_flip(&[0.0; 6], 1).unwrap(), 1.0);
        assert_eq!(sign_flip(&[0.0; 20], 1).unwrap(), 1.0);
    }

    #[test]
    fn exact_and_keyed_flips_agree() {
        let d: Vec<f64> = (0..17).map(|i| f64::from(i % 5) * 0.1 - 0.13).collect();
        let keyed = sign_flip(&d, 11).unwrap();
        let bar = d.iter().sum::<f64>().abs() * (1.0 - 1e-12);
        let exact = (0..1u32 << 17).filter(|&b| flipped(&d, |i| b >> i & 1 == 1).abs() >= bar).count();
        let exact = exact as f64 / f64::from(1u32 << 17);
        let sd = (exact * (1.0 - exact) / f64::from(FLIPS)).sqrt();
        assert!((keyed - exact).abs() < 5.0 * sd + 1e-4, "{keyed} against {exact}");
    }

    #[test]
    fn bootstrap_is_keyed_and_has_the_right_width() {
        let d: Vec<f64> = (0..40).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let (low, high) = bootstrap(&d, 5).unwrap();
        assert_eq!((low, high), bootstrap(&d, 5).unwrap());
        assert_ne!((low, high), bootstrap(&d, 6).unwrap());
        let m = mean(&d);
        let population = (d.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / 40.0).sqrt();
        let width = 2.0 * 1.959_964 * population / 40f64.sqrt();
        assert!(((high - low) / width - 1.0).abs() < 0.06, "{} against {width}", high - low);
        assert!(low < m && m < high);
    }

    #[test]
    fn one_pair_has_a_point_interval() {
        let c = paired(&[0.75], &[0.5], 1).unwrap();
        assert_eq!((c.mean_diff, c.ci_low, c.ci_high), (0.25, 0.25, 0.25));
    }

    #[test]
    fn bad_input_names_the_run() {
        assert!(matches!(paired(&[1.0], &[1.0, 2.0], 1), Err(Error::Unpaired { left: 1, right: 2 })));
        assert!(matches!(Summary::of(&[]), Err(Error::Empty)));
        assert!(matches!(Summary::of(&[1.0, f64::NAN]), Err(Error::NotFinite { run: 1, .. })));
    }
}
