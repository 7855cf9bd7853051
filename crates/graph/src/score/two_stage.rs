//! Two stages: pick a node by PageRank, then one of its edges by the degree of the other end.
//!
//! s = a_i·b(j|i) + a_j·b(i|j), a_i = π_i^γ / Σ_{d_k>0} π_k^γ, b(j|i) = d_j^δ / Σ_{k∈N(i)} d_k^δ. All scores sum to 1.
//! Of an arc, only the term of its tail: a over nodes with an arc out, N the heads of these arcs, d the in-degree.
//! Our reconstruction of how RankedDrop joins PageRank (global) and degree (local).

use super::{Degrees, Entry, ScoreCx, per_unit};
use crate::{Graph, Result};
use sapwood_skeleton::math;
use sapwood_skeleton::monoid::Sum;

pub(super) const ENTRY: Entry = Entry {
    name: "two_stage",
    summary: "chance to pick the edge: a node by PageRank, then one of its edges by neighbour degree",
    score,
};

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    let (gamma, delta) = (cx.options.gamma, cx.options.delta);
    let pi = cx.pagerank(graph)?;
    let degree = Degrees(graph);
    let mass = |i: usize| if degree.tail(i) > 0.0 { power(pi[i], gamma) } else { 0.0 };
    let all = cx.exec.reduce(graph.nodes(), &Sum::<f64>::new(), mass)?;
    let mut local = Vec::new();
    cx.exec.fill(&mut local, graph.nodes(), |i| power(degree.head(i), delta))?;
    // a_i / Σ_{k∈N(i)} d_k^δ
    let mut rate = Vec::new();
    cx.exec.fill(&mut rate, graph.nodes(), |i| {
        let out = graph.reverse().pattern().row(i);
        if out.is_empty() { 0.0 } else { mass(i) / all / total(out, &local, delta) }
    })?;
    if graph.directed() {
        return Ok(per_unit(graph, |head, tail| rate[tail] * local[head]));
    }
    Ok(per_unit(graph, |i, j| rate[i] * local[j] + rate[j] * local[i]))
}

/// Σ_{k∈row} d_k^δ, the same bits for every numbering of the nodes: whole numbers sum exactly, others are sorted first.
fn total(row: &[u32], local: &[f64], delta: f64) -> f64 {
    let terms = row.iter().map(|&k| local[k as usize]);
    if delta == 1.0 || delta == 0.0 {
        return terms.sum();
    }
    let mut sorted: Vec<f64> = terms.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.iter().sum()
}

/// x^exponent for x ≥ 0; exact for the exponents 0 and 1.
fn power(x: f64, exponent: f64) -> f64 {
    if exponent == 1.0 {
        x
    } else if exponent == 0.0 {
        1.0
    } else {
        math::exp_f64(exponent * math::ln_f64(x))
    }
}
