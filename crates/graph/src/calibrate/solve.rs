//! The offset that gives probabilities their sum. The sum never falls as the offset rises, so a bracket can be halved
//! down to two neighbouring floats; Newton's step shortens that where it lands inside.

use super::{Clip, Curve};
use crate::Result;
use sapwood_skeleton::{ChunkPlan, Exec, Monoid, Work, isa, math, rows};

/// Find a with Σ_i min(max(f(a − shift_i), q_min), q_max) = sum.
pub(super) struct Problem {
    pub(super) shifts: Vec<f64>,
    pub(super) curve: Curve,
    pub(super) clip: Clip,
    pub(super) sum: f64,
}

/// A sum and its derivative.
struct Both;

impl Monoid for Both {
    type Item = (f64, f64);
    type Acc = (f64, f64);

    fn unit(&self) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn lift(&self, x: (f64, f64)) -> (f64, f64) {
        x
    }

    fn push(&self, acc: &mut (f64, f64), x: (f64, f64)) {
        *acc = (acc.0 + x.0, acc.1 + x.1);
    }

    fn combine(&self, a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
        (a.0 + b.0, a.1 + b.1)
    }
}

/// Units worked on at a time; part of the order of the sums.
const LANES: usize = 256;

/// Steps before the bracket's ends are taken as they are; halving alone needs fewer for any bracket of doubles.
const STEPS: usize = 3000;

impl Problem {
    /// The offset and the probabilities. `bracket` holds a solution; `guess` is where to begin.
    pub(super) fn solve(&self, exec: Exec<'_>, bracket: (f64, f64), guess: f64) -> Result<(f64, Vec<f64>)> {
        let (mut low, mut high) = bracket;
        let mut a = inside(guess, low, high);
        let mut before = f64::INFINITY;
        for step in 0..STEPS {
            let (sum, slope) = self.sums(exec, a)?;
            let error = sum - self.sum;
            if error.abs() <= 1e-12 * self.sum.max(1e-3) {
                break;
            }
            if error < 0.0 {
                low = a
            } else {
                high = a
            }
            let newton = a - error / slope;
            // a step that does not even halve the error is no Newton step any more
            let next =
                if error.abs() < 0.5 * before || step == 0 { inside(newton, low, high) } else { middle(low, high) };
            before = error.abs();
            if next == a || next <= low || next >= high {
                return self.between(exec, low, high);
            }
            a = next;
        }
        Ok((a, self.probabilities(exec, a)?))
    }

    /// Between neighbouring offsets: where even these are too far apart, a mixture of both has the sum.
    fn between(&self, exec: Exec<'_>, low: f64, high: f64) -> Result<(f64, Vec<f64>)> {
        let (below, above) = (self.sums(exec, low)?.0, self.sums(exec, high)?.0);
        let near = |sum: f64| (sum - self.sum).abs() <= 1e-10 * self.sum.max(1.0);
        let nearer = if self.sum - below < above - self.sum { low } else { high };
        if near(below) || near(above) || above <= below {
            return Ok((nearer, self.probabilities(exec, nearer)?));
        }
        let share = ((self.sum - below) / (above - below)).clamp(0.0, 1.0);
        let (mut q, up) = (self.probabilities(exec, low)?, self.probabilities(exec, high)?);
        q.iter_mut().zip(&up).for_each(|(q, up)| *q = (*q + share * (up - *q)).clamp(self.clip.min, self.clip.max));
        Ok((nearer, q))
    }

    /// Probability of the units that `x` holds a − shift of, in place; returns their sum and its derivative by a.
    fn curve(&self, x: &mut [f64]) -> (f64, f64) {
        isa::vectorized(
            #[inline(always)]
            || match self.curve {
                Curve::Sigmoid => bounded(x, self.clip, |x| 1.0 / (1.0 + math::exp_f64(-x)), |q| q * (1.0 - q)),
                Curve::Linear => bounded(x, self.clip, |x| x, |_| 1.0),
            },
        )
    }

    fn sums(&self, exec: Exec<'_>, a: f64) -> Result<(f64, f64)> {
        let plan = ChunkPlan::of(self.shifts.len(), 16 * LANES).work(Work { flops: 40.0, bytes: 8.0 });
        let total = exec.reduce_chunks(&plan, &Both, |_, _, range| {
            let (mut x, mut total) = ([0.0; LANES], (0.0, 0.0));
            for shifts in self.shifts[range].chunks(LANES) {
                let x = &mut x[..shifts.len()];
                x.iter_mut().zip(shifts).for_each(|(x, shift)| *x = a - shift);
                let (sum, slope) = self.curve(x);
                total = (total.0 + sum, total.1 + slope);
            }
            Ok(total)
        })?;
        Ok(total)
    }

    fn probabilities(&self, exec: Exec<'_>, a: f64) -> Result<Vec<f64>> {
        let mut q = self.shifts.clone();
        let plan = ChunkPlan::of(q.len(), 16 * LANES);
        exec.for_chunks_mut(&plan, rows(&mut q, 1), |_, _, part| {
            for x in part.chunks_mut(LANES) {
                x.iter_mut().for_each(|x| *x = a - *x);
                self.curve(x);
            }
            Ok(())
        })?;
        Ok(q)
    }
}

/// Replaces each x by min(max(f(x), min), max); returns the sum and the sum of the slopes where no bound holds.
#[inline(always)]
fn bounded(x: &mut [f64], clip: Clip, f: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64) -> (f64, f64) {
    let Clip { min, max } = clip;
    let (mut sums, mut slopes) = ([0.0; 8], [0.0; 8]);
    let mut one = |lane: usize, x: &mut f64| {
        let free = f(*x);
        let q = if free > min { free } else { min };
        let q = if q < max { q } else { max };
        slopes[lane] += if q == free { slope(q) } else { 0.0 };
        sums[lane] += q;
        *x = q;
    };
    let mut eights = x.chunks_exact_mut(8);
    for eight in &mut eights {
        for lane in 0..8 {
            one(lane, &mut eight[lane]);
        }
    }
    eights.into_remainder().iter_mut().enumerate().for_each(|(lane, x)| one(lane, x));
    let fold = |s: [f64; 8]| ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    (fold(sums), fold(slopes))
}

/// `x` if it lies inside the bracket, else its middle.
fn inside(x: f64, low: f64, high: f64) -> f64 {
    if x > low && x < high { x } else { middle(low, high) }
}

fn middle(low: f64, high: f64) -> f64 {
    low * 0.5 + high * 0.5 // the difference may overflow
}

/// The offset for ranks spread evenly over [−1, 1]: the integral of σ(a − βz) over z has a closed form, and with
/// E = e^(2βk̂) its solution is e^a = (E − 1)/(e^β − E·e^−β).
pub(super) fn even_ranks(mean: f64, beta: f64) -> f64 {
    let beta = beta.abs(); // the integral does not change
    let e = math::exp_f64(2.0 * beta * mean);
    math::ln_f64((e - 1.0) / (math::exp_f64(beta) - e * math::exp_f64(-beta)))
}
