//! Whole ticks: times and memory as integers, so that sums are exact and have no order.
//!
//! One tick is 10⁻ᵈ of the unit of the file, with the least d from 0 to 9 that makes all inputs whole; where none does, d is
//! 9 and inputs are rounded half to even.

use crate::{Error, Result};

/// Most decimals of a tick.
const MOST: u32 = 9;

/// Ticks of one quantity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticks {
    decimals: u32,
}

impl Ticks {
    /// The coarsest ticks in which all `values` are whole.
    pub fn of(values: impl IntoIterator<Item = f64> + Clone) -> Ticks {
        let whole = |&decimals: &u32| {
            let scale = 10f64.powi(decimals as i32);
            // Decimals of a file are not exact in binary: 8.8 is whole in tenths.
            values.clone().into_iter().all(|v| {
                let ticks = v * scale;
                (ticks - ticks.round()).abs() <= 1e-6_f64.min(ticks.abs() * 4.0 * f64::EPSILON)
            })
        };
        Ticks { decimals: (0..MOST).find(whole).unwrap_or(MOST) }
    }

    /// A value in ticks.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for 2⁵³ ticks and more, and for what is below 0 or no number.
    pub fn from(self, value: f64) -> Result<u64> {
        let ticks = (value * 10f64.powi(self.decimals as i32)).round_ties_even();
        if !(0.0..9_007_199_254_740_992.0).contains(&ticks) {
            let value = if value.abs() < 1e16 { value.to_string() } else { format!("{value:e}") };
            let what = format!("{value} is below 0 or too large to be counted in steps of 10^-{}", self.decimals);
            return Err(Error::TooLarge { what });
        }
        Ok(ticks as u64)
    }

    /// Ticks in the unit of the file.
    pub fn show(self, ticks: u64) -> f64 {
        ticks as f64 / 10f64.powi(self.decimals as i32)
    }

    /// The same for what is no whole number of ticks, such as a bound.
    pub fn show_real(self, ticks: f64) -> f64 {
        ticks / 10f64.powi(self.decimals as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coarsest_ticks_that_are_whole() {
        assert_eq!(Ticks::of([8.0, 113.0]), Ticks { decimals: 0 });
        assert_eq!(Ticks::of([8.0, 8.8]), Ticks { decimals: 1 });
        assert_eq!(Ticks::of([0.04, 100.125]), Ticks { decimals: 3 });
        assert_eq!(Ticks::of([1.0 / 3.0]), Ticks { decimals: 9 });
        assert_eq!(Ticks::of([]), Ticks { decimals: 0 });
        let ticks = Ticks::of([8.8, 0.1]);
        assert_eq!((ticks.from(8.8).unwrap(), ticks.show(88)), (88, 8.8));
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(ticks.from(bad).is_err(), "{bad}");
        }
    }
}
