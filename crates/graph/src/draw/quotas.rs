//! Drop probabilities as integers: Q_e = q_e·2^32, adjusted so that they sum to exactly k·2^32 where a draw is to drop
//! exactly k units.

use crate::{Error, Result};

/// 2^32: the quota of a unit that always goes.
pub(super) const ONE: u64 = 1 << 32;

/// One integer quota per unit.
///
/// They sum to exactly k·2^32, so that a draw can drop exactly k units; only [`Quotas::independent`] ones need not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quotas {
    units: u64,
    total: u64,
    of: Of,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Of {
    /// `base` each, and one more for the first `extra` units.
    Uniform {
        base: u64,
        extra: u64,
    },
    Each(Vec<u64>),
}

/// Quotas as a loop wants them: the kind is known before the loop starts.
pub(super) trait Quota: Copy + Sync {
    /// Quota of a unit.
    fn of(self, unit: u32) -> u64;

    /// Sum of the quotas of some units.
    #[inline(always)]
    fn sum(self, units: &[u32]) -> u64 {
        units.iter().map(|&unit| self.of(unit)).sum()
    }
}

/// See [`Of::Uniform`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Uniform {
    pub(super) base: u64,
    pub(super) extra: u64,
}

impl Quota for Uniform {
    #[inline(always)]
    fn of(self, unit: u32) -> u64 {
        self.base + u64::from(u64::from(unit) < self.extra)
    }
}

impl Quota for &[u64] {
    #[inline(always)]
    fn of(self, unit: u32) -> u64 {
        self[unit as usize]
    }
}

impl Quotas {
    /// Every unit goes with probability `k` / `units`.
    ///
    /// The rounding rule of [`Quotas::from_probabilities`] has a closed form here: all remainders are equal, so the first
    /// k·2^32 mod `units` units get one more than ⌊k·2^32 / units⌋.
    ///
    /// # Errors
    /// More than 2^31 − 1 units, or `k` above `units`.
    pub fn uniform(units: u64, k: u64) -> Result<Quotas> {
        check(units, k)?;
        let total = k * ONE;
        let (base, extra) = (total.checked_div(units).unwrap_or(0), total.checked_rem(units).unwrap_or(0));
        Ok(Quotas { units, total, of: Of::Uniform { base, extra } })
    }

    /// Unit e goes with probability `q[e]`, to 2^−32, and `k` units go in each draw.
    ///
    /// Q_e is q_e·2^32 rounded; what is missing to k·2^32 is spread evenly over the units with 0 < Q < 2^32, and the
    /// remainder goes one each to those that rounding had made smallest, ties to the lower number.
    ///
    /// # Errors
    /// More than 2^31 − 1 units, a q outside [0, 1], or a sum of q that is not `k` (to 1e-6, relative).
    pub fn from_probabilities(q: &[f64], k: u64) -> Result<Quotas> {
        check(q.len() as u64, k)?;
        let mut each = rounded(q)?;
        let missing = (u128::from(k) << 32) as i128 - each.iter().map(|&x| i128::from(x)).sum::<i128>();
        let mut free: Vec<u32> = (0..q.len() as u32).filter(|&e| (1..ONE).contains(&each[e as usize])).collect();
        let wrong_sum = || Error::Range {
            flag: "the sum of the drop probabilities",
            range: "the number of units to drop",
            value: format!("{} (to drop: {k})", q.iter().sum::<f64>()),
        };
        let sum: f64 = q.iter().sum();
        if (sum - k as f64).abs() > 1e-6 * (k as f64).max(1.0) || (missing != 0 && free.is_empty()) {
            return Err(wrong_sum());
        }
        let count = free.len().max(1) as i128;
        let (share, more) = (missing.div_euclid(count), missing.rem_euclid(count) as usize);
        let lost = |e: u32| scaled(q[e as usize]) - each[e as usize] as f64;
        free.sort_by(|&a, &b| lost(b).total_cmp(&lost(a)).then(a.cmp(&b)));
        for (rank, &e) in free.iter().enumerate() {
            let quota = i128::from(each[e as usize]) + share + i128::from(rank < more);
            if !(0..=i128::from(ONE)).contains(&quota) {
                return Err(wrong_sum());
            }
            each[e as usize] = quota as u64;
        }
        Ok(Quotas { units: q.len() as u64, total: k * ONE, of: Of::Each(each) })
    }

    /// Unit e goes with probability `q[e]`, rounded to 2^−32 and not adjusted: for draws without an exact count.
    ///
    /// # Errors
    /// More than 2^31 − 1 units, or a q outside [0, 1].
    pub fn independent(q: &[f64]) -> Result<Quotas> {
        check_units(q.len() as u64)?;
        let each = rounded(q)?;
        Ok(Quotas { units: q.len() as u64, total: each.iter().sum(), of: Of::Each(each) })
    }

    /// Number of units.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Units that a draw with an exact count drops; of [`Quotas::independent`] ones the mean, rounded.
    pub fn k(&self) -> u64 {
        (self.total + ONE / 2) >> 32
    }

    /// Units that go in each draw.
    ///
    /// # Errors
    /// [`Error::Range`] when the quotas have no whole sum.
    pub(super) fn exact(&self) -> Result<u64> {
        if self.total.is_multiple_of(ONE) {
            return Ok(self.k());
        }
        let value = format!("{} (of {} units)", self.total as f64 / ONE as f64, self.units);
        let range = "a whole number for a draw with an exact count (the draw `bernoulli` takes any)";
        Err(Error::Range { flag: "the sum of the drop probabilities", range, value })
    }

    /// Whether no unit ever goes.
    pub(crate) fn is_zero(&self) -> bool {
        self.total == 0
    }

    /// Quota of unit `unit`, at most 2^32.
    #[inline(always)]
    pub fn get(&self, unit: u32) -> u64 {
        match &self.of {
            &Of::Uniform { base, extra } => Uniform { base, extra }.of(unit),
            Of::Each(each) => each.as_slice().of(unit),
        }
    }

    /// Probability of unit `unit` to go: quota / 2^32.
    pub fn probability(&self, unit: u32) -> f64 {
        self.get(unit) as f64 / ONE as f64
    }

    /// The quotas of a list, or their closed form.
    pub(super) fn form(&self) -> Result<Uniform, &[u64]> {
        match &self.of {
            &Of::Uniform { base, extra } => Ok(Uniform { base, extra }),
            Of::Each(each) => Err(each),
        }
    }
}

fn scaled(q: f64) -> f64 {
    q * ONE as f64
}

/// Q of each q, rounded to the nearest; 0 and 1 stay what they are.
fn rounded(q: &[f64]) -> Result<Vec<u64>> {
    if let Some(bad) = q.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        let range = "a probability from 0 to 1";
        return Err(Error::Range { flag: "a drop probability", range, value: bad.to_string() });
    }
    Ok(q.iter().map(|&q| scaled(q).round() as u64).collect())
}

/// A draw numbers its units in 31 bits.
pub(super) fn check_units(units: u64) -> Result<()> {
    let limit = (1 << 31) - 1;
    if units > limit { Err(Error::TooLarge { what: "units of a draw", count: units, limit }) } else { Ok(()) }
}

fn check(units: u64, k: u64) -> Result<()> {
    check_units(units)?;
    if k > units {
        return Err(Error::TooLarge { what: "units to drop", count: k, limit: units });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_is_the_closed_form_of_the_general_rule() {
        for (units, k) in [(1u64, 0u64), (1, 1), (3, 1), (7, 3), (78, 23), (1000, 999), (5278, 1583)] {
            let q = vec![k as f64 / units as f64; units as usize];
            let (a, b) = (Quotas::uniform(units, k).unwrap(), Quotas::from_probabilities(&q, k).unwrap());
            assert!((0..units as u32).all(|e| a.get(e) == b.get(e)), "{units} {k}");
            assert_eq!((0..units as u32).map(|e| a.get(e)).sum::<u64>(), k * ONE);
        }
    }

    #[test]
    fn bounds_stay_and_the_sum_is_exact() {
        let q = [0.0, 1.0, 0.3, 0.3, 0.4, 1e-12];
        let quotas = Quotas::from_probabilities(&q, 2).unwrap();
        assert_eq!((quotas.get(0), quotas.get(1), quotas.get(5)), (0, ONE, 0));
        assert_eq!((0..6).map(|e| quotas.get(e)).sum::<u64>(), 2 * ONE);
        assert!(Quotas::from_probabilities(&[1.0, 0.0], 1).is_ok());
    }

    #[test]
    fn bad_probabilities_are_refused() {
        for (q, k) in [(&[0.5, f64::NAN][..], 1), (&[1.5, 0.5], 2), (&[1.0, 0.0], 2), (&[0.1, 0.1], 2), (&[0.5], 2)] {
            assert!(Quotas::from_probabilities(q, k).is_err(), "{q:?} {k}");
        }
        assert!(Quotas::uniform(1 << 31, 1).is_err());
    }
}
