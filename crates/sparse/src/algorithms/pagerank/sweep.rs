//! What both methods share: the arrays of a run, and what a sweep measures.

use super::fixed;
use super::options::Vectors;
use crate::error::{Result, reserve};
use crate::scalar::Scalar;

/// What a sweep measures of some rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measures {
    /// Σ |x_new − x|.
    pub(super) delta: f64,
    /// What must be conserved: mass that came in along arcs (power), or all mass (Gauss-Seidel).
    pub(super) mass: f64,
    /// Σ of x_new over sinks, in units of [`sink_units`].
    pub(super) sinks: i64,
    /// The largest x_new.
    pub(super) largest: f64,
}

/// Units of sums over sinks in 1: such a sum is at most 1.
#[inline(always)]
pub(super) fn sink_units() -> f64 {
    fixed::units_for(1.0)
}

impl Measures {
    fn add(&mut self, other: Measures) {
        self.delta += other.delta;
        self.mass += other.mass;
        self.sinks += other.sinks;
        self.largest = self.largest.max(other.largest);
    }

    /// Sums over the items of a plan, in a tree that their number fixes.
    pub(super) fn total(items: &[Measures]) -> Measures {
        match items {
            [] => Measures::default(),
            [one] => *one,
            _ => {
                let (left, right) = items.split_at(items.len().next_power_of_two() / 2);
                let mut sum = Measures::total(left);
                sum.add(Measures::total(right));
                sum
            }
        }
    }

    /// Row `i` changed from `old` to `new`. Gives what others gather of it, `units` of it being 1.
    #[inline(always)]
    pub(super) fn take<V: Scalar>(&mut self, out: f64, units: f64, old: f64, new: f64) -> u64 {
        self.delta += (new - old).abs();
        self.largest = self.largest.max(new);
        // No branch: sinks may be anywhere. A sink's own quotient is dropped.
        let sink = (out == 0.0) as i64;
        self.sinks += -sink & fixed::whole(new * sink_units());
        fixed::encode::<V>(new / out * units) & (sink - 1) as u64
    }

    /// Mass of the sinks.
    pub(super) fn sunk(&self) -> f64 {
        self.sinks as f64 / sink_units()
    }
}

/// Writes what is gathered of the scores `x`, and the mass of the sinks into `m`.
pub(super) fn start<V: Scalar>(v: &Vectors<'_>, x: &[f64], units: f64, z: &mut [u64], m: &mut Measures) {
    for ((&x, z), &out) in x.iter().zip(z).zip(v.out_weight) {
        *z = m.take::<V>(out, units, x, x);
    }
}

/// `len` zeros, or the memory that was refused.
pub(super) fn zeros<T: Copy + Default>(len: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    reserve(&mut vec, len, "the vectors of PageRank")?;
    vec.resize(len, T::default());
    Ok(vec)
}
