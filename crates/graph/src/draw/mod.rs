//! Draws: which units go, given each unit's probability to go.
//!
//! All randomness is keyed by (seed, epoch, layer, micro-batch, unit), see [`crate::DrawKey`], so a draw does not depend on
//! threads or on earlier draws. [`systematic`] drops exactly k units, each with exactly its probability (to 2^−32),
//! computed in integers; its slow twin is [`systematic_reference`]. The order of the units is by a keyed hash, fresh in
//! each draw (`order.rs`).

mod order;
mod quotas;
mod systematic;

pub use quotas::Quotas;
pub use systematic::{Scratch, systematic, systematic_in_order, systematic_reference};

use crate::{Error, Result};

/// Checks a drop rate.
///
/// # Errors
/// [`Error::Range`] naming `--p` when it is NaN, negative or above 1.
pub fn drop_rate(p: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&p) {
        Ok(p + 0.0) // −0 becomes 0
    } else {
        Err(Error::Range { flag: "--p", range: "a drop rate from 0 to 1", value: p.to_string() })
    }
}

/// Units that a draw with an exact count drops: ⌊p·units + ½⌋.
pub fn exact_count(p: f64, units: u64) -> u64 {
    ((p * units as f64 + 0.5).floor() as u64).min(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_rates_out_of_range_name_the_flag() {
        for p in [f64::NAN, -0.1, 1.0000001, f64::INFINITY, f64::NEG_INFINITY] {
            let text = drop_rate(p).unwrap_err().to_string();
            assert!(text.starts_with("--p must be a drop rate from 0 to 1, not "), "{text}");
        }
        for p in [0.0, -0.0, 0.5, 1.0] {
            assert_eq!(drop_rate(p).unwrap(), p);
        }
    }

    #[test]
    fn exact_counts_round_half_up() {
        assert_eq!(exact_count(0.3, 78), 23);
        assert_eq!(exact_count(0.3, 5278), 1583);
        assert_eq!(exact_count(0.5, 1), 1);
        assert_eq!(exact_count(0.0, 7), 0);
        assert_eq!(exact_count(1.0, 7), 7);
    }
}
