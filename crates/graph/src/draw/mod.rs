//! Draws: which units go, given each unit's probability to go. One file per draw, one line in [`ALL`].
//!
//! A draw gets a [`Job`] and leaves a mask with one bit per unit, 1 where the unit stays. All randomness is keyed by
//! (seed, epoch, layer, micro-batch, unit), see [`crate::DrawKey`], so a draw does not depend on threads or on earlier
//! draws. Probabilities are integers ([`Quotas`]), so no sum is ever rounded; [`Order`] says how the draws that walk the
//! units order them. A draw never changes the graph, and allocates nothing once its [`Scratch`] has grown.

mod bernoulli;
mod gumbel;
mod nested;
mod order;
mod pivotal;
mod quotas;
mod scratch;
mod smallest;
mod systematic;

pub use nested::nested;
pub use order::{Order, STRATUM, Strata, reference_order};
pub use quotas::Quotas;
pub use scratch::Scratch;
pub use systematic::{systematic, systematic_in_order, systematic_reference};

use crate::{BitMask, DrawKey, Error, Graph, Result};
use sapwood_skeleton::Exec;

/// Every draw, the default first.
pub static ALL: &[Entry] = &[systematic::ENTRY, pivotal::ENTRY, bernoulli::ENTRY, gumbel::ENTRY];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--draw` takes it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Whether exactly [`Quotas::k`] units go in each draw. Such a draw refuses [`Quotas::independent`].
    pub exact: bool,
    /// Draws: afterwards the mask has one bit per unit, 1 where the unit stays. Fails when the sizes in the job differ, the
    /// key is out of range, the count cannot be exact, or the executor fails.
    pub draw: fn(&Job<'_>, &mut Scratch, &mut BitMask) -> Result<()>,
}

/// The draw called `name`.
///
/// # Errors
/// [`Error::Unknown`] with the valid names and the nearest one.
pub fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter().find(|e| e.name == name).ok_or_else(|| Error::unknown("draw", name, ALL.iter().map(|e| e.name)))
}

/// Everything a draw depends on.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The workers; results do not depend on them.
    pub exec: Exec<'a>,
    /// The graph whose pairs are the units.
    pub graph: &'a Graph,
    /// Probability of each unit to go.
    pub quotas: &'a Quotas,
    /// Order in which `systematic` and `pivotal` walk the units.
    pub order: &'a Order,
    /// What the random numbers are keyed by.
    pub key: DrawKey,
}

impl Job<'_> {
    /// Starts the mask with all units staying, once the sizes are found to agree.
    fn start(&self, mask: &mut BitMask) -> Result<()> {
        let expected = self.graph.pairs();
        let strata = if let Order::Score(strata) = self.order { strata.units() } else { expected };
        for (what, got) in [("the quotas have units", self.quotas.units()), ("the strata have units", strata)] {
            if got != expected {
                return Err(Error::Size { what, got, expected });
            }
        }
        mask.reset(expected as usize, true);
        Ok(())
    }

    /// As [`Job::start`], for a draw that needs a whole number of units to drop; returns that number.
    fn start_exact(&self, mask: &mut BitMask) -> Result<u64> {
        self.start(mask)?;
        self.quotas.exact()
    }
}

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

    #[test]
    fn unknown_draws_are_refused_with_the_nearest() {
        assert_eq!(find("pivotal").unwrap().name, "pivotal");
        let text = find("pivot").unwrap_err().to_string();
        assert!(text.starts_with("unknown draw 'pivot', did you mean 'pivotal'?; known: systematic, "), "{text}");
    }
}
