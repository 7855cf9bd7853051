//! From the order of scores to drop probabilities with a chosen sum.
//!
//! Only the order of the scores counts ([`mid_ranks`]). Unit e goes with probability
//! q_e = min(max(f(a − βz_e), q_min), q_max), where the offset a gives the q their sum ([`calibrate`]). Guarded units
//! have q = 0 and no part in the sum. Nothing here knows a graph.

mod ranks;
mod solve;

pub use ranks::mid_ranks;

use crate::{BitMask, Error, Result};
use sapwood_skeleton::{Exec, math};
use solve::Problem;

/// From rank to probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Curve {
    /// σ(a − βz).
    #[default]
    Sigmoid,
    /// a − (k/m)βz.
    Linear,
}

impl std::str::FromStr for Curve {
    type Err = Error;
    fn from_str(name: &str) -> Result<Curve> {
        match name {
            "sigmoid" => Ok(Curve::Sigmoid),
            "linear" => Ok(Curve::Linear),
            _ => Err(Error::unknown("curve", name, ["sigmoid", "linear"])),
        }
    }
}

/// Bounds of every probability.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Clip {
    /// `--q-min`.
    #[serde(rename = "q_min")]
    pub min: f64,
    /// `--q-max`.
    #[serde(rename = "q_max")]
    pub max: f64,
}

impl Default for Clip {
    fn default() -> Self {
        Clip { min: 0.0, max: 1.0 }
    }
}

impl Clip {
    /// Checks 0 ≤ min ≤ max ≤ 1.
    ///
    /// # Errors
    /// [`Error::Range`] naming `--q-min` or `--q-max`.
    pub fn check(&self) -> Result<()> {
        let wrong = |flag, range, value: f64| Err(Error::Range { flag, range, value: value.to_string() });
        if !(0.0..=1.0).contains(&self.min) {
            return wrong("--q-min", "a probability from 0 to 1", self.min);
        }
        if !(0.0..=1.0).contains(&self.max) || self.max < self.min {
            return wrong("--q-max", "a probability from --q-min to 1", self.max);
        }
        Ok(())
    }

    /// Whether it bounds nothing.
    pub fn is_whole(&self) -> bool {
        *self == Clip::default()
    }
}

/// What the probabilities sum to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// The number of units that every draw drops.
    Exact(u64),
    /// The mean number, where it is random.
    Mean(f64),
}

impl Target {
    fn value(self) -> f64 {
        match self {
            Target::Exact(k) => k as f64,
            Target::Mean(mean) => mean,
        }
    }
}

/// Probabilities that sum to what was asked for, or to what the guards leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Solved {
    /// Probability of each unit to go.
    pub q: Vec<f64>,
    /// The offset a; none where all unguarded units have the same probability without solving.
    pub offset: Option<f64>,
    /// What the q sum to, by intention: the target, or the number of unguarded units if that is less.
    pub sum: f64,
}

/// The probabilities of units with mid-ranks `z` that sum to `target`.
///
/// `guarded` has one bit per unit. `beta` > 0 keeps units of high rank, < 0 drops them first, 0 gives all the same. Equal
/// ranks, a sum of 0 and one of all unguarded units need no solving. |Σq − target| ≤ 1e-9·max(1, target), the same bits for any number
/// of threads; O(units) per step, some ten steps.
///
/// # Errors
/// [`Error::Range`] for a `beta` that is not finite or a clip out of range, [`Error::Size`] for masks of another length,
/// [`Error::Infeasible`] if the bounds leave no solution.
pub fn calibrate(
    exec: Exec<'_>,
    z: &[f64],
    guarded: &BitMask,
    target: Target,
    beta: f64,
    curve: Curve,
    clip: Clip,
) -> Result<Solved> {
    if !beta.is_finite() {
        return Err(Error::Range { flag: "--beta", range: "a finite number", value: beta.to_string() });
    }
    let (free, sum) = free_units(z, guarded, target, clip)?;
    let mean = if free.is_empty() { 0.0 } else { sum / free.len() as f64 };
    let alike = free.windows(2).all(|e| z[e[0] as usize] == z[e[1] as usize]);
    if beta == 0.0 || alike || sum == 0.0 || sum == free.len() as f64 {
        return Ok(spread(z.len(), &free, sum, None, |_| mean.clamp(clip.min, clip.max)));
    }
    let slope = match curve {
        Curve::Sigmoid => beta,
        Curve::Linear => sum / z.len() as f64 * beta,
    };
    let shifts = free.iter().map(|&e| slope * z[e as usize]).collect();
    let problem = Problem { shifts, curve, clip, sum };
    let wide = if clip.is_whole() { beta.abs() } else { beta.abs() + 40.0 };
    let (bracket, guess) = match curve {
        Curve::Sigmoid => {
            let middle = math::ln_f64(sum / (free.len() as f64 - sum));
            ((middle - wide, middle + wide), solve::even_ranks(mean, beta))
        }
        Curve::Linear => ((-wide, 1.0 + wide), mean),
    };
    let (offset, q) = problem.solve(exec, bracket, guess)?;
    Ok(spread(z.len(), &free, sum, Some(offset), |i| q[i]))
}

/// Given probabilities, moved to a new sum: σ(logit q + a). Those of 0 and 1 stay.
///
/// # Errors
/// [`Error::Size`] for a mask of another length.
pub fn shifted(exec: Exec<'_>, q: &[f64], guarded: &BitMask, target: Target) -> Result<Solved> {
    let (free, asked) = free_units(q, guarded, target, Clip::default())?;
    let certain = free.iter().filter(|&&e| q[e as usize] == 1.0).count() as f64;
    let possible = free.iter().filter(|&&e| q[e as usize] > 0.0).count() as f64;
    let sum = asked.clamp(certain, possible);
    if sum == certain || sum == possible {
        let at = if sum == possible { 1.0 } else { 0.0 };
        let of = |i: usize| {
            if (0.0..1.0).contains(&q[free[i] as usize]) && q[free[i] as usize] > 0.0 {
                at
            } else {
                q[free[i] as usize]
            }
        };
        return Ok(spread(q.len(), &free, sum, None, of));
    }
    let shifts = free.iter().map(|&e| -logit(q[e as usize])).collect();
    let problem = Problem { shifts, curve: Curve::Sigmoid, clip: Clip::default(), sum };
    let (offset, moved) = problem.solve(exec, (-1500.0, 1500.0), 0.0)?;
    Ok(spread(q.len(), &free, sum, Some(offset), |i| moved[i]))
}

/// ln(q / (1 − q)): −∞ at 0, ∞ at 1.
pub fn logit(q: f64) -> f64 {
    math::ln_f64(q) - math::ln_f64(1.0 - q)
}

/// The unguarded units, and the sum that they can reach.
fn free_units(z: &[f64], guarded: &BitMask, target: Target, clip: Clip) -> Result<(Vec<u32>, f64)> {
    clip.check()?;
    let (got, expected) = (guarded.len() as u64, z.len() as u64);
    if got != expected {
        return Err(Error::Size { what: "bits for guarded units", got, expected });
    }
    let asked = target.value();
    if !(0.0..=expected as f64).contains(&asked) {
        let range = "from 0 to the number of units";
        return Err(Error::Range { flag: "the number of units to drop", range, value: asked.to_string() });
    }
    let free: Vec<u32> = (0..z.len() as u32).filter(|&e| !guarded.get(e as usize)).collect();
    let sum = asked.min(free.len() as f64);
    let slack = 1e-9 * sum.max(1.0);
    for (flag, bound, fits) in [
        ("--q-min", clip.min, sum + slack >= free.len() as f64 * clip.min),
        ("--q-max", clip.max, sum - slack <= free.len() as f64 * clip.max),
    ] {
        if !fits {
            return Err(Error::Infeasible { flag, bound, units: free.len() as u64, sum });
        }
    }
    Ok((free, sum))
}

/// All units' probabilities from those of the free ones.
fn spread(units: usize, free: &[u32], sum: f64, offset: Option<f64>, of: impl Fn(usize) -> f64) -> Solved {
    let mut q = vec![0.0; units];
    for (i, &e) in free.iter().enumerate() {
        q[e as usize] = of(i);
    }
    Solved { q, offset, sum }
}

#[cfg(test)]
mod tests;
