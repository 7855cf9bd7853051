//! How much two orders of the same things agree.

use crate::{Error, Result, calibrate};

/// Spearman's rank correlation, ties by mid-ranks (Spearman 1904; Kendall & Gibbons, "Rank correlation methods"); numbers
/// that agree in 40 significant bits are ties. None for fewer than two things, or where all of one list are equal.
///
/// # Errors
/// [`Error::Size`] for lists of different lengths, [`Error::Score`] for a number that is NaN or infinite.
pub fn spearman(a: &[f64], b: &[f64]) -> Result<Option<f64>> {
    if a.len() != b.len() {
        return Err(Error::Size { what: "numbers to correlate", got: a.len() as u64, expected: b.len() as u64 });
    }
    let (a, b) = (calibrate::mid_ranks(a)?, calibrate::mid_ranks(b)?);
    // Mid-ranks are centred at 0 already.
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let norm = (dot(&a, &a) * dot(&b, &b)).sqrt();
    Ok((norm > 0.0).then(|| (dot(&a, &b) / norm).clamp(-1.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_with_and_without_ties() {
        let of = |a: &[f64], b: &[f64]| spearman(a, b).unwrap();
        assert_eq!(of(&[1.0, 2.0, 7.0], &[-1.0, 0.0, 3.0]), Some(1.0));
        assert_eq!(of(&[1.0, 2.0, 7.0], &[3.0, 0.5, -1.0]), Some(-1.0));
        // ranks 0, 1, 2, 3 and ½, ½, 2, 3: covariance 4.5, variances 5 and 4.5
        let tied = of(&[1.0, 2.0, 3.0, 4.0], &[5.0, 5.0, 6.0, 7.0]).unwrap();
        assert!((tied - (4.5f64 / 5.0).sqrt()).abs() < 1e-15, "{tied}");
        assert_eq!(of(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(of(&[1.0], &[1.0]), None);
        assert!(spearman(&[1.0], &[]).is_err() && spearman(&[f64::NAN, 1.0], &[1.0, 2.0]).is_err());
    }
}
