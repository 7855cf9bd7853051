//! From repeated samples of one quantity to one robust value with its spread.
//!
//! Samples of a rate on a machine that others use too have outliers on one side. The median stays put while fewer than
//! half of the samples are off, and the median absolute deviation says how far the others scatter. The same samples give
//! the same bits in whatever order they came.

use crate::level::Measured;

/// Spread beyond which a measurement counts as noisy, as a part of its value.
const NOISY: f64 = 0.2;

/// The middle of `samples` by [`f64::total_cmp`]; the mean of the two in the middle of an even number; none of none.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = sorted[sorted.len() / 2 - 1];
    Some(lower + (upper - lower) / 2.0)
}

/// The median of `samples` with their median absolute deviation from it and their number; none of none.
///
/// ```
/// use sapwood_machine::fit::location;
/// let fitted = location(&[10.0, 11.0, 9.0, 500.0, 10.0]).unwrap();
/// assert_eq!((fitted.value, fitted.mad, fitted.samples), (10.0, Some(1.0), 5));
/// ```
pub fn location(samples: &[f64]) -> Option<Measured<f64>> {
    let value = median(samples)?;
    let away: Vec<f64> = samples.iter().map(|sample| (sample - value).abs()).collect();
    Some(Measured { value, mad: median(&away), samples: u32::try_from(samples.len()).unwrap_or(u32::MAX) })
}

/// Whether the samples scattered by more than a fifth of the value.
pub fn is_noisy(measured: Measured<f64>) -> bool {
    measured.mad.is_some_and(|mad| mad > NOISY * measured.value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_few() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX), "no overflow in the mean");
        assert!(location(&[]).is_none());
    }

    #[test]
    fn the_order_of_samples_changes_nothing() {
        let samples: Vec<f64> = (0..101u32).map(|i| 1.0 + f64::from(i * 37 % 101) / 7.0).collect();
        let mut other = samples.clone();
        other.reverse();
        other.rotate_left(29);
        assert_eq!(location(&samples), location(&other));
    }

    #[test]
    fn less_than_half_of_outliers_do_no_harm() {
        let mut samples = vec![100.0; 51];
        samples.extend([1.0; 49]);
        let fitted = location(&samples).unwrap();
        assert_eq!((fitted.value, fitted.mad, fitted.samples), (100.0, Some(0.0), 100));
    }

    #[test]
    fn noise_is_a_spread_beyond_a_fifth() {
        let with = |mad| Measured { value: 10.0, mad, samples: 9 };
        assert!(is_noisy(with(Some(2.1))) && !is_noisy(with(Some(2.0))) && !is_noisy(with(None)));
    }
}
