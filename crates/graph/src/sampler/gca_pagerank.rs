//! The adaptive edge drop of GCA (Zhu et al., "Graph Contrastive Learning with Adaptive Augmentation", WWW 2021) by
//! PageRank: an arc into a node of low PageRank goes more often.
//!
//! s = ln π of the sink, w = (max s − s)/(max s − mean s) over all arcs, and for a pair w̄, the mean of its two arcs.
//! Here q = min(1, c·w̄) with c such that Σq = k, and both arcs of a pair go together. `--faithful` is the published
//! program: its "PageRank" is 200 sweeps x ← 0.15x + 0.85Pᵀx without teleport (whose limit is the degree), q = min(p·w /
//! mean w, 0.7), which lowers the rate, and each arc goes on its own.

use super::units::{Calibrated, Source, Units};
use super::{Entry, Prepared, Ranking, Sampler, SamplerFacts, SamplerOptions, TrainLabels};
use crate::calibrate::mid_ranks;
use crate::centrality::pagerank;
use crate::draw::{self, Quotas};
use crate::{Graph, NodeId, Result};
use sapwood_skeleton::{Exec, math};
use sapwood_sparse::algorithms::PageRankOptions;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "gca-pagerank",
    summary: "drops edges into nodes of low PageRank more often (GCA; --faithful: as published, arc by arc)",
    reads: &["alpha", "draw", "stratify", "faithful"],
    new: |options| {
        options.rates.check()?;
        options.score_options.check()?;
        Ok(Box::new(Gca(options.clone())))
    },
};

struct Gca(SamplerOptions);

impl Sampler for Gca {
    fn prepare(&self, exec: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        let options = &self.0;
        if options.faithful {
            let graph = Arc::new(graph.by_arc());
            let source = Faithful { weights: weights(&graph, &walked(&graph)) };
            let options = SamplerOptions { draw: "bernoulli".into(), ..options.clone() };
            return Ok(Box::new(Units::new(ENTRY.name, &options, exec, &graph, source)?.on_own_graph()));
        }
        let walk = PageRankOptions { alpha: options.score_options.alpha, ..PageRankOptions::default() };
        let scores = pagerank::of(exec, graph, options.score_options.weighted, &walk)?.scores;
        let weights = weights(graph, &scores);
        let important: Vec<f64> = weights.iter().map(|w| -w).collect();
        let ranking = Ranking { z: mid_ranks(&important)?, scores: important };
        Ok(Box::new(Units::new(ENTRY.name, options, exec, graph, Adaptive::new(weights, ranking))?))
    }
}

/// The published iteration: 200 sweeps from ones.
fn walked(graph: &Graph) -> Vec<f64> {
    let n = graph.nodes();
    let (mut x, mut next) = (vec![1.0; n], vec![0.0; n]);
    let out: Vec<f64> = (0..n as u32).map(|j| pagerank::out_degree(graph, NodeId(j)) as f64).collect();
    for _ in 0..200 {
        for i in 0..n {
            let gathered: f64 =
                graph.neighbours(NodeId(i as u32)).iter().map(|&j| x[j as usize] / out[j as usize]).sum();
            next[i] = 0.15 * x[i] + 0.85 * gathered;
        }
        std::mem::swap(&mut x, &mut next);
    }
    x
}

/// w̄ of each unit: of an arc's head, or the mean of both ends of a pair. All 1 if all sinks are alike.
fn weights(graph: &Graph, centrality: &[f64]) -> Vec<f64> {
    let s: Vec<f64> = centrality.iter().map(|&x| math::ln_f64(x.max(f64::MIN_POSITIVE))).collect();
    let into = |i: usize| graph.degree(NodeId(i as u32));
    let sinks = || (0..graph.nodes()).filter(|&i| into(i) > 0);
    let top = sinks().map(|i| s[i]).fold(f64::NEG_INFINITY, f64::max);
    let mean = sinks().map(|i| into(i) as f64 * s[i]).sum::<f64>() / graph.arcs().max(1) as f64;
    let spread = top - mean;
    let weight = |i: NodeId| (top - s[i.index()]) / spread;
    let directed = graph.directed();
    // Rounding alone may set the mean of equal numbers apart from the largest.
    if spread.is_nan() || spread <= 1e-12 * top.abs().max(1.0) {
        return vec![1.0; graph.pairs() as usize];
    }
    graph.pair_ends().map(|(i, j)| if directed { weight(i) } else { 0.5 * (weight(i) + weight(j)) }).collect()
}

/// q = min(1, c·w̄), Σq = k.
struct Adaptive {
    weights: Vec<f64>,
    /// Weights in descending order, and what they sum to from each place on.
    sorted: Vec<f64>,
    rest: Vec<f64>,
    ranking: Ranking,
}

impl Adaptive {
    fn new(weights: Vec<f64>, ranking: Ranking) -> Adaptive {
        let mut sorted = weights.clone();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut rest = vec![0.0; sorted.len() + 1];
        for at in (0..sorted.len()).rev() {
            rest[at] = rest[at + 1] + sorted[at];
        }
        Adaptive { weights, sorted, rest, ranking }
    }

    /// c with Σ min(1, c·w̄) = `target`; infinite where no more units can go.
    fn factor(&self, target: f64) -> f64 {
        if target <= 0.0 {
            return 0.0;
        }
        // The units whose q is 1 are the heaviest: take the fewest for which c·w̄ of the next one is at most 1.
        for certain in 0..self.sorted.len() {
            let c = (target - certain as f64) / self.rest[certain];
            if c * self.sorted[certain] <= 1.0 {
                return c;
            }
        }
        f64::INFINITY
    }

    /// Units that can go at all.
    fn free(&self) -> u64 {
        self.sorted.partition_point(|&w| w > 0.0) as u64
    }
}

impl Source for Adaptive {
    fn at(&self, _: Exec<'_>, p: f64, exact: bool) -> Result<Calibrated> {
        let units = self.weights.len() as u64;
        let k = draw::exact_count(p, units).min(self.free());
        let target = if exact { k as f64 } else { (p * units as f64).min(self.free() as f64) };
        let c = if target >= self.free() as f64 { f64::INFINITY } else { self.factor(target) };
        let q: Vec<f64> = self.weights.iter().map(|&w| if w > 0.0 { (c * w).min(1.0) } else { 0.0 }).collect();
        let quotas = if exact { Quotas::from_probabilities(&q, k)? } else { Quotas::independent(&q)? };
        Ok(Calibrated { quotas: Arc::new(quotas), offset: None })
    }

    fn ranking(&self) -> Option<&Ranking> {
        Some(&self.ranking)
    }

    fn complete(&self, mut facts: SamplerFacts, _: bool) -> SamplerFacts {
        if facts.k < draw::exact_count(facts.p, facts.units) {
            let (free, units) = (self.free(), facts.units);
            facts.notes.push(format!("only {free} of {units} units can go, the others have weight 0"));
        }
        facts
    }
}

/// q = min(p·w / mean w, 0.7) for each arc.
struct Faithful {
    weights: Vec<f64>,
}

impl Source for Faithful {
    fn at(&self, _: Exec<'_>, p: f64, _: bool) -> Result<Calibrated> {
        let mean = self.weights.iter().sum::<f64>() / self.weights.len().max(1) as f64;
        let q: Vec<f64> = self.weights.iter().map(|w| (p * w / mean).min(0.7)).collect();
        Ok(Calibrated { quotas: Arc::new(Quotas::independent(&q)?), offset: None })
    }

    fn complete(&self, mut facts: SamplerFacts, _: bool) -> SamplerFacts {
        facts.unit = Some("arcs");
        let mean = facts.q.map_or(0.0, |q| q.mean);
        facts.notes.push(format!(
            "--faithful: arcs go one by one, so what stays is not symmetric; mean rate {mean:.4} for p = {}",
            facts.p
        ));
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_right_wherever_units_saturate() {
        let ranking = Ranking { scores: vec![], z: vec![] };
        let source = Adaptive::new(vec![4.0, 1.0, 0.0, 2.0, 1.0], ranking);
        for tenth in 1..40 {
            let target = f64::from(tenth) / 10.0;
            let c = source.factor(target);
            let sum: f64 = source.weights.iter().map(|w| (c * w).min(1.0)).sum();
            assert!((sum - target).abs() < 1e-12, "{target}: {sum}");
        }
        assert_eq!((source.factor(0.0), source.free()), (0.0, 4));
    }
}
