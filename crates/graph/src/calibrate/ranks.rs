//! The order of scores: mid-ranks, from −1 (lowest) to 1 (highest).

use crate::{Error, Result};

/// Bits of a double's significand beyond the 40 that count.
const BEYOND: u32 = 13;

/// z_e = 2·rank/(m − 1) − 1 of each of m scores, where equal scores share the mean of their ranks; 0 if m = 1.
///
/// Scores count as equal when their first 40 significant bits, rounded, are: sums taken in another order must not
/// break ties. The result is symmetric, z of the negated scores is −z bit by bit. O(m log m).
///
/// # Errors
/// [`Error::Score`] naming the unit of a score that is NaN or infinite.
pub fn mid_ranks(scores: &[f64]) -> Result<Vec<f64>> {
    if let Some(e) = scores.iter().position(|s| !s.is_finite()) {
        return Err(Error::Score { unit: format!("unit {e}"), value: scores[e] });
    }
    let mut order: Vec<(i64, u32)> = scores.iter().zip(0..).map(|(&s, e)| (key(s), e)).collect();
    order.sort_unstable();
    let m = order.len();
    let mut z = vec![0.0; m];
    let mut low = 0;
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        let high = low + group.len();
        let rank = if m > 1 { ((low + high) as f64 - m as f64) / (m - 1) as f64 } else { 0.0 };
        for &(_, e) in group {
            z[e as usize] = rank;
        }
        low = high;
    }
    Ok(z)
}

/// An integer in the order of the rounded scores; −0 is 0. Rounding is half away from zero, so it is symmetric; numbers
/// below the normal range keep all their bits.
fn key(score: f64) -> i64 {
    let magnitude = score.abs().to_bits();
    let half = if score.abs() < f64::MIN_POSITIVE { 0 } else { 1 << (BEYOND - 1) };
    let rounded = if half == 0 { magnitude } else { (magnitude + half) >> BEYOND << BEYOND };
    if score < 0.0 { -(rounded as i64) } else { rounded as i64 }
}
