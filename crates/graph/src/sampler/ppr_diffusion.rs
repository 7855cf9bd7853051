//! Graph diffusion (GDC; Klicpera, Weißenberger, Günnemann, NeurIPS 2019) by personalised PageRank, a rival that changes
//! the graph once instead of sampling it: P = Σ τ(1−τ)^k T^k with T = Â of form `aug`.
//!
//! Row i of P comes from pushes (Andersen, Chung, Lang 2006): the residual of a node is moved on along T until no residual
//! is above 10⁻⁴. The largest entries of each row stay, P becomes (P + Pᵀ)/2, and training and evaluation use P as a
//! weighted graph. `ppr-diffusion+dropedge` drops its pairs as `dropedge` does; without it no pair is dropped.

use super::dropedge::Uniform;
use super::units::Units;
use super::{
    Diffusion, DrawBuffers, DrawKey, Entry, Prepared, Sampled, Sampler, SamplerFacts, SamplerOptions, Stratify,
    TrainLabels,
};
use crate::{Edge, Error, Graph, GraphOptions, Normalisation, Operator, Result, structure};
use sapwood_skeleton::{ChunkPlan, Exec};
use std::sync::Arc;

/// Residuals above this are pushed on.
const RESIDUAL: f64 = 1e-4;

/// Rows of a chunk: each chunk clears a vector over all nodes.
const ROWS: usize = 256;

pub(super) const ENTRY: Entry = Entry {
    name: "ppr-diffusion",
    summary: "trains on the personalised PageRank diffusion of the graph (GDC); drops nothing",
    reads: &["diffuse-teleport", "diffuse-top"],
    new: |options| Ok(Box::new(PprDiffusion { options: checked(options)?, drops: false })),
};

pub(super) const WITH_DROPEDGE: Entry = Entry {
    name: "ppr-diffusion+dropedge",
    summary: "trains on the diffusion and drops exactly round(p * pairs) of its pairs",
    reads: &["draw", "diffuse-teleport", "diffuse-top"],
    new: |options| Ok(Box::new(PprDiffusion { options: checked(options)?, drops: true })),
};

fn checked(options: &SamplerOptions) -> Result<SamplerOptions> {
    options.rates.check()?;
    let Diffusion { teleport, top } = options.diffusion;
    if !(teleport > 0.0 && teleport <= 1.0) {
        return Err(Error::Range {
            flag: "--diffuse-teleport",
            range: "above 0 and at most 1",
            value: teleport.to_string(),
        });
    }
    if top == 0 {
        return Err(Error::Range { flag: "--diffuse-top", range: "1 or more", value: "0".into() });
    }
    Ok(SamplerOptions { stratify: Stratify::None, ..options.clone() })
}

struct PprDiffusion {
    options: SamplerOptions,
    drops: bool,
}

impl Sampler for PprDiffusion {
    fn prepare(&self, exec: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        let diffused = Arc::new(diffuse(exec, graph, self.options.diffusion)?);
        if self.drops {
            let source = Uniform(diffused.pairs());
            let units = Units::new(WITH_DROPEDGE.name, &self.options, exec, &diffused, source)?;
            return Ok(Box::new(units.on_own_graph()));
        }
        Ok(Box::new(Ready { isolated_expected: structure::expected_isolated(&diffused, |_| 0.0), graph: diffused }))
    }
}

struct Ready {
    graph: Arc<Graph>,
    isolated_expected: f64,
}

impl Prepared for Ready {
    fn kept<'a>(&self, _: Exec<'_>, _: DrawKey, _: &'a mut DrawBuffers) -> Result<Sampled<'a>> {
        Ok(Sampled::All)
    }

    fn facts(&self) -> SamplerFacts {
        SamplerFacts::plain(ENTRY.name, 0.0, self.graph.pairs(), 0, self.isolated_expected)
    }

    fn graph(&self) -> Option<&Arc<Graph>> {
        Some(&self.graph)
    }
}

/// (P + Pᵀ)/2 of the rows of P cut to their largest entries. O(nodes · pushes · degree) time, 2·top entries a node.
fn diffuse(exec: Exec<'_>, graph: &Graph, how: Diffusion) -> Result<Graph> {
    let n = graph.nodes();
    let t = Operator::<f64>::full(exec, graph, Normalisation::default())?;
    let rows = exec.map_chunks(&ChunkPlan::of(n, ROWS).dynamic(), |_, _, range| {
        let mut pushes = Pushes::new(n);
        Ok(range.map(|i| pushes.row(&t, i, how)).collect::<Vec<_>>())
    })?;
    // Both halves of a pair become two lines of one edge, smaller end first, which are then added.
    let mut edges: Vec<(u32, u32, f64)> = Vec::new();
    for (i, row) in rows.iter().flatten().enumerate() {
        let i = i as u32;
        edges.extend(row.iter().map(|&(j, value)| (i.min(j), i.max(j), if i == j { value } else { 0.5 * value })));
    }
    edges.sort_by_key(|&(i, j, _)| (i, j)); // stable: the row of the smaller end comes first
    edges.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    let edges = edges.into_iter().map(|(from, to, value)| Edge { from, to, weight: value as f32 }).collect();
    let (graph, _) = Graph::build(n, edges, GraphOptions { directed: false, weighted: true })?;
    Ok(graph)
}

/// The vectors of one row at a time, all zero between rows.
struct Pushes {
    estimate: Vec<f64>,
    residual: Vec<f64>,
    touched: Vec<u32>,
    queued: Vec<bool>,
    queue: std::collections::VecDeque<u32>,
}

impl Pushes {
    fn new(nodes: usize) -> Pushes {
        Pushes {
            estimate: vec![0.0; nodes],
            residual: vec![0.0; nodes],
            touched: Vec::new(),
            queued: vec![false; nodes],
            queue: std::collections::VecDeque::new(),
        }
    }

    fn add(&mut self, node: u32, amount: f64) {
        let at = node as usize;
        if self.residual[at] == 0.0 && self.estimate[at] == 0.0 {
            self.touched.push(node);
        }
        self.residual[at] += amount;
        if self.residual[at] > RESIDUAL && !self.queued[at] {
            self.queued[at] = true;
            self.queue.push_back(node);
        }
    }

    /// The largest entries of row `i` of P, largest first.
    fn row(&mut self, t: &Operator<f64>, i: usize, how: Diffusion) -> Vec<(u32, f64)> {
        self.add(i as u32, 1.0);
        while let Some(node) = self.queue.pop_front() {
            let at = node as usize;
            self.queued[at] = false;
            let amount = std::mem::take(&mut self.residual[at]);
            self.estimate[at] += how.teleport * amount;
            let moved = (1.0 - how.teleport) * amount;
            self.add(node, moved * t.diagonal()[at]);
            for (j, value) in t.row(at) {
                self.add(j, moved * value);
            }
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        let mut row: Vec<(u32, f64)> = Vec::new();
        for &node in &self.touched {
            let at = node as usize;
            if self.estimate[at] > 0.0 {
                row.push((node, self.estimate[at]));
            }
            (self.estimate[at], self.residual[at]) = (0.0, 0.0);
        }
        self.touched.clear();
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.truncate(how.top as usize);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_skeleton::Runtime;

    /// P of a small graph against the series itself.
    #[test]
    fn pushes_come_near_the_series() {
        let ends = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 4)];
        let edges = ends.iter().map(|&(from, to)| Edge { from, to, weight: 1.0 }).collect();
        let graph = Graph::build(7, edges, GraphOptions::default()).unwrap().0;
        let runtime = Runtime::threads(2).unwrap();
        let t = Operator::<f64>::full(runtime.exec(), &graph, Normalisation::default()).unwrap();
        let how = Diffusion { teleport: 0.15, top: 64 };
        let mut pushes = Pushes::new(7);
        for i in 0..7 {
            let mut term = vec![0.0; 7];
            term[i] = 1.0;
            let mut series = [0.0; 7];
            for _ in 0..400 {
                let mut next = vec![0.0; 7];
                for node in 0..7 {
                    series[node] += 0.15 * term[node];
                    next[node] += 0.85 * term[node] * t.diagonal()[node];
                    t.row(node).for_each(|(j, value)| next[j as usize] += 0.85 * term[node] * value);
                }
                term = next;
            }
            let row = pushes.row(&t, i, how);
            for (node, expected) in series.iter().enumerate() {
                let found = row.iter().find(|e| e.0 == node as u32).map_or(0.0, |e| e.1);
                assert!((found - expected).abs() < 2e-3 && found <= expected + 1e-12, "{i} {node}: {found} {expected}");
            }
            assert!(row.is_sorted_by(|a, b| a.1 >= b.1));
        }
    }

    #[test]
    fn the_diffused_graph_is_symmetric_and_keeps_the_nodes() {
        let edges = (1..30).map(|i| Edge { from: 0, to: i, weight: 1.0 }).collect();
        let graph = Graph::build(31, edges, GraphOptions::default()).unwrap().0;
        let runtime = Runtime::threads(2).unwrap();
        let how = Diffusion { teleport: 0.15, top: 4 };
        let diffused = diffuse(runtime.exec(), &graph, how).unwrap();
        assert_eq!((diffused.nodes(), diffused.directed(), diffused.weighted()), (31, false, true));
        assert_eq!(diffused.self_loops().len(), 31);
        assert!(diffused.pairs() <= 31 * 4);
    }
}
