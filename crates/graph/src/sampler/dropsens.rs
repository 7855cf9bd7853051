//! DropSens (Singh et al. 2025, "Effects of Random Edge-Dropping on Over-Squashing in Graph Neural Networks"): a node of
//! degree d drops an arc into it at the rate q for which q + q² + … + q^d = d(1 − c), the expected share c of its
//! sensitivity to its neighbours being the same for all nodes. The rate rises with the degree.
//!
//! A pair takes the mean of its two ends; c is such that the rates of all pairs have the sum k. `--q-max` caps a rate.

use super::units::{Calibrated, Source, Units};
use super::{Entry, Prepared, Sampler, SamplerOptions, TrainLabels};
use crate::draw::{self, Quotas};
use crate::{Error, Graph, Result};
use sapwood_skeleton::Exec;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "dropsens",
    summary: "drops edges of nodes of high degree more often, so that all nodes keep the same sensitivity",
    reads: &["draw", "stratify", "q-max"],
    new: |options| {
        options.rates.check()?;
        if !(options.clip.max > 0.0 && options.clip.max <= 1.0) {
            let value = options.clip.max.to_string();
            return Err(Error::Range { flag: "--q-max", range: "above 0 and at most 1", value });
        }
        Ok(Box::new(DropSens(options.clone())))
    },
};

struct DropSens(SamplerOptions);

impl Sampler for DropSens {
    fn prepare(&self, exec: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        let degree = |node| graph.degree(node) as u32;
        let directed = graph.directed();
        // An arc goes into its head alone.
        let ends = graph.pair_ends().map(|(i, j)| (degree(i), if directed { degree(i) } else { degree(j) })).collect();
        let source = Sensitivity::new(ends, self.0.clip.max);
        Ok(Box::new(Units::new(ENTRY.name, &self.0, exec, graph, source)?))
    }
}

/// The degrees at the ends of all units.
struct Sensitivity {
    /// For each unit, where its two degrees stand in `degrees`.
    ends: Vec<(u32, u32)>,
    /// The degrees that occur, ascending.
    degrees: Vec<u32>,
    /// How many ends have each.
    counts: Vec<f64>,
    cap: f64,
}

impl Sensitivity {
    fn new(mut ends: Vec<(u32, u32)>, cap: f64) -> Sensitivity {
        let mut degrees: Vec<u32> = ends.iter().flat_map(|&(a, b)| [a, b]).collect();
        degrees.sort_unstable();
        degrees.dedup();
        let mut counts = vec![0.0; degrees.len()];
        let at = |d: u32| degrees.partition_point(|&other| other < d) as u32;
        for (a, b) in &mut ends {
            (*a, *b) = (at(*a), at(*b));
            counts[*a as usize] += 1.0;
            counts[*b as usize] += 1.0;
        }
        Sensitivity { ends, degrees, counts, cap }
    }

    /// Rate of each degree that occurs, for the share `c` of sensitivity.
    fn rates(&self, c: f64) -> Vec<f64> {
        self.degrees.iter().map(|&d| rate(d, c).min(self.cap)).collect()
    }

    /// Sum of the rates of all units.
    fn sum(&self, c: f64) -> f64 {
        0.5 * self.rates(c).iter().zip(&self.counts).map(|(q, n)| q * n).sum::<f64>()
    }

    /// The c whose rates sum to `target`, by bisection down to neighbouring numbers.
    fn solve(&self, target: f64) -> f64 {
        bisect(0.0, 1.0, |c| self.sum(c) >= target)
    }
}

/// The largest x of [low, high], to the last bit, at which `holds`, which holds below some point and not above it.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            return low;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
}

/// The root q in [0, 1] of q + q² + … + q^d = d(1 − c).
pub(super) fn rate(d: u32, c: f64) -> f64 {
    let wanted = f64::from(d) * (1.0 - c);
    if c <= 0.0 {
        return 1.0;
    }
    bisect(0.0, 1.0, |q| geometric(q, d) <= wanted)
}

/// q + q² + … + q^d, by halving: the sum of 2e terms is the sum of e terms times (1 + q^e).
fn geometric(q: f64, d: u32) -> f64 {
    let (mut sum, mut power) = (0.0, 1.0); // of the leading bits of d: the sum, and q to that number
    for bit in (0..32 - d.leading_zeros()).rev() {
        sum += power * sum;
        power *= power;
        if d >> bit & 1 == 1 {
            sum = q + q * sum;
            power *= q;
        }
    }
    sum
}

impl Source for Sensitivity {
    fn at(&self, _: Exec<'_>, p: f64, exact: bool) -> Result<Calibrated> {
        let units = self.ends.len() as u64;
        let k = draw::exact_count(p, units);
        let target = if exact { k as f64 } else { p * units as f64 };
        if target > self.cap * units as f64 {
            let range = "large enough for --p: the rates of all edges cannot sum to what is to be dropped";
            return Err(Error::Range { flag: "--q-max", range, value: self.cap.to_string() });
        }
        let q: Vec<f64> = if target == 0.0 {
            vec![0.0; self.ends.len()]
        } else {
            let rates = self.rates(self.solve(target));
            self.ends.iter().map(|&(a, b)| 0.5 * (rates[a as usize] + rates[b as usize])).collect()
        };
        let quotas = if exact { Quotas::from_probabilities(&q, k)? } else { Quotas::independent(&q)? };
        Ok(Calibrated { quotas: Arc::new(quotas), offset: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_rates() {
        for (d, q) in [(1, 0.7), (2, 0.784523257867), (3, 0.831967436746)] {
            assert!((rate(d, 0.3) - q).abs() < 1e-12, "{d}");
        }
        assert_eq!((rate(5, 0.0), rate(5, 1.0)), (1.0, 0.0));
        assert!((rate(20_000, 0.3) - rate(19_999, 0.3)) > 0.0);
    }

    #[test]
    fn halving_adds_up_the_powers() {
        for d in 1..40u32 {
            let plain: f64 = (1..=d).map(|e| 0.9f64.powi(e as i32)).sum();
            assert!((geometric(0.9, d) - plain).abs() < 1e-13, "{d}");
        }
    }
}
