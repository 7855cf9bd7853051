//! A certified bound from any multipliers, in whole numbers.
//!
//! Let paths have weights w ≥ 0 and layers of each segment ℓ prices u. Every plan takes at least as long as each path, so
//! Σw · T ≥ Σ w · (constant of the path) + Σ over stages of Σ w · (the stage's part of the path). With all n layers of ℓ
//! placed, Σ u·(n − layers placed) is 0 and may be added; then each stage is replaced by the least that any of its allowed
//! patterns comes to (Lagrange; Geoffrion 1974). Weights and prices are rounded to whole numbers first, and everything after
//! that is exact: no error of a solver is part of the bound, it can only make it lower.

use super::master::Master;

/// Units of a weight of 1.
const FINE: f64 = 4_294_967_296.0;

/// Weights and prices in whole numbers.
pub(super) struct Prices {
    /// Weight of each path, by its place among all paths.
    weights: Vec<(usize, i128)>,
    /// Of a layer, by segment of the body.
    layers: Vec<i128>,
    /// Of a tick, by place of the durations of an order.
    work: Vec<i128>,
}

/// What prices prove.
pub(super) struct Proof {
    /// No plan of the region takes less, in ticks: the least whole number that is not below what is proven.
    pub(super) bound: u64,
    /// The same before rounding up.
    pub(super) exact: f64,
    /// The cheapest allowed pattern of each stage and what it costs, in ticks.
    pub(super) cheapest: Vec<(u32, f64)>,
}

impl Prices {
    /// Of weights by path, and prices of layers in ticks.
    pub(super) fn new(master: &Master<'_>, weights: &[(usize, f64)], layers: &[f64]) -> Prices {
        let whole = |weight: f64| (weight.clamp(0.0, 1.0) * FINE).round() as i128;
        let weights: Vec<(usize, i128)> = weights.iter().map(|&(path, weight)| (path, whole(weight))).collect();
        let sum: i128 = weights.iter().map(|&(_, weight)| weight).sum();
        let mut work = vec![0; master.operations()];
        for &(path, weight) in &weights {
            let counts = &master.paths[path].operations;
            work.iter_mut().zip(counts).for_each(|(sum, &count)| *sum += weight * i128::from(count));
        }
        // 2⁵⁰ ticks · 2⁴² (weights of a thousand paths) · 2³² layers is below 2¹²⁷.
        let most = (1u64 << 50) as f64;
        let price = |&price: &f64| (price.clamp(-most, most) * sum as f64).round() as i128;
        Prices { layers: layers.iter().map(price).collect(), weights, work }
    }

    /// What a pattern of a stage comes to.
    fn cost(&self, master: &Master<'_>, stage: usize, pattern: u32) -> i128 {
        let pattern = &master.patterns.stages[stage][pattern as usize];
        let k = master.virtual_stages();
        let mut sum = 0;
        for (chunk, &at) in master.places[stage].iter().enumerate() {
            let (layers, work) = master.patterns.chunk(pattern, chunk);
            sum -= layers.iter().zip(&self.layers).map(|(&n, price)| i128::from(n) * price).sum::<i128>();
            sum += work.iter().enumerate().map(|(kind, &t)| i128::from(t) * self.work[kind * k + at]).sum::<i128>();
        }
        sum
    }

    /// The bound of all plans of allowed patterns; `None` if a stage has none, so that there is no plan.
    pub(super) fn proof(&self, master: &Master<'_>, allowed: &[Vec<u32>]) -> Option<Proof> {
        let constant = |&(path, weight): &(usize, i128)| weight * i128::from(master.paths[path].constant);
        let placed = master.layers.iter().zip(&self.layers).map(|(&n, price)| i128::from(n) * price);
        let whole: i128 = self.weights.iter().map(|&(_, weight)| weight).sum::<i128>().max(1);
        let mut sum = self.weights.iter().map(constant).sum::<i128>() + placed.sum::<i128>();
        let mut cheapest = Vec::with_capacity(allowed.len());
        for (stage, allowed) in allowed.iter().enumerate() {
            let costs = allowed.iter().map(|&pattern| (self.cost(master, stage, pattern), pattern));
            let (cost, pattern) = costs.min()?;
            sum += cost;
            cheapest.push((pattern, cost as f64 / whole as f64));
        }
        let up = sum.max(0).div_euclid(whole) + i128::from(sum.max(0).rem_euclid(whole) > 0);
        let bound = u64::try_from(up).unwrap_or(u64::MAX);
        Some(Proof { bound, exact: sum as f64 / whole as f64, cheapest })
    }
}
