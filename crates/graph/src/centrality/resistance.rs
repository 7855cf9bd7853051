//! Effective resistance of edges, each a resistor of 1, and what it says of nodes; directions are ignored.
//!
//! R of an edge is the chance that a random spanning forest holds it (Kirchhoff), so R = 1 exactly at bridges, and all
//! R sum to n − components (Foster 1949). A node's score is the sum over its edges: its expected degree in the forest.
//!
//! Up to [`EXACT`] nodes one Laplacian system is solved for each node, and the result is rounded to 30 significant
//! bits, so that edges which are alike tie. Above, the sketch of Spielman and Srivastava (2008): with K = ⌈24 ln n⌉ rows of
//! random signs, R ≈ Σ (z_u − z_v)²/K, where z solves the system of a row; a relative standard deviation of √(2/K). Each
//! component is a system of its own.

mod cg;

use super::betweenness::Vectors;
use super::{Entry, Ranks};
use crate::structure::Sets;
use crate::undirected::Undirected;
use crate::{Graph, Result};
use cg::{LANES, Lanes};
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_skeleton::{ChunkPlan, Exec};

pub(super) const ENTRY: Entry = Entry {
    name: "resistance",
    summary: "expected degree of a node in a random spanning forest: sum of its edges' effective resistances",
    rank: |graph, cx| {
        let plain = Undirected::of(graph);
        let edges = of_edges(cx.exec, &plain, cx.seed)?;
        let mut scores = vec![0.0; graph.nodes()];
        for (&(u, v), r) in plain.ends.iter().zip(edges) {
            scores[u as usize] += r;
            scores[v as usize] += r;
        }
        Ok(Ranks::plain(scores))
    },
};

/// Most nodes for which resistances are exact.
pub const EXACT: usize = 1000;

/// Effective resistance of every unit; an arc has that of the edge between its ends.
///
/// # Errors
/// What the executor says.
pub fn of_units(exec: Exec<'_>, graph: &Graph, seed: u64) -> Result<Vec<f64>> {
    let plain = Undirected::of(graph);
    let edges = of_edges(exec, &plain, seed)?;
    Ok(plain.edge_of.iter().map(|&e| edges[e as usize]).collect())
}

fn of_edges(exec: Exec<'_>, graph: &Undirected, seed: u64) -> Result<Vec<f64>> {
    if graph.nodes() <= EXACT {
        let mut all = exact(exec, graph)?;
        all.iter_mut().for_each(|r| *r = rounded(*r));
        return Ok(all);
    }
    sketch(exec, graph, seed)
}

/// One system for each node u: x = L⁺e_u gives x_u − x_v, half of what R of the edge u – v needs.
fn exact(exec: Exec<'_>, graph: &Undirected) -> Result<Vec<f64>> {
    let n = graph.nodes();
    let mut sets = Sets::new(n);
    graph.ends.iter().for_each(|&(u, v)| {
        sets.join(u, v);
    });
    let of: Vec<u32> = (0..n as u32).map(|i| sets.root(i)).collect();
    let mut size = vec![0.0; n];
    of.iter().for_each(|&c| size[c as usize] += 1.0);
    blocks(exec, graph, n.div_ceil(LANES), |block, found| {
        let node = |lane: usize| block * LANES + lane;
        let mut b: Lanes = vec![[0.0; LANES]; n];
        for lane in (0..LANES).filter(|&lane| node(lane) < n) {
            let home = of[node(lane)];
            let same = (0..n).filter(|&i| of[i] == home);
            same.for_each(|i| b[i][lane] = -1.0 / size[home as usize]);
            b[node(lane)][lane] += 1.0;
        }
        let x = cg::solve(graph, b, 1e-15);
        for (found, &(u, v)) in found.iter_mut().zip(&graph.ends) {
            for (here, there) in [(u as usize, v as usize), (v as usize, u as usize)] {
                if here / LANES == block {
                    *found += x[here][here % LANES] - x[there][here % LANES];
                }
            }
        }
        Ok(())
    })
}

fn sketch(exec: Exec<'_>, graph: &Undirected, seed: u64) -> Result<Vec<f64>> {
    let n = graph.nodes();
    let count = (24.0 * sapwood_skeleton::math::ln_f64(n as f64)).ceil() as usize;
    let count = count.div_ceil(LANES) * LANES;
    let stream = Stream::new(seed, Purpose::Sketch);
    let mut all = blocks(exec, graph, count / LANES, |block, found| {
        let mut b: Lanes = vec![[0.0; LANES]; n];
        for (e, &(u, v)) in (0u64..).zip(&graph.ends) {
            let word = stream.at(block as u32, 0, e)?[0];
            for lane in 0..LANES {
                let sign = if word >> lane & 1 == 1 { 1.0 } else { -1.0 };
                b[u as usize][lane] += sign;
                b[v as usize][lane] -= sign;
            }
        }
        let x = cg::solve(graph, b, 1e-6);
        for (found, &(u, v)) in found.iter_mut().zip(&graph.ends) {
            let (u, v) = (&x[u as usize], &x[v as usize]);
            *found += u.iter().zip(v).map(|(u, v)| (u - v) * (u - v)).sum::<f64>();
        }
        Ok(())
    })?;
    all.iter_mut().for_each(|r| *r /= count as f64);
    Ok(all)
}

/// The sum over all blocks of what each adds to the edges.
fn blocks(
    exec: Exec<'_>,
    graph: &Undirected,
    count: usize,
    add: impl Fn(usize, &mut [f64]) -> sapwood_skeleton::Result<()> + Sync,
) -> Result<Vec<f64>> {
    let plan = ChunkPlan::of(count, count.div_ceil(16)).dynamic();
    let sum = exec.reduce_chunks(&plan, &Vectors(graph.ends.len()), |_, _, blocks| {
        let mut found = vec![0.0; graph.ends.len()];
        for block in blocks {
            add(block, &mut found)?;
        }
        Ok(found)
    })?;
    Ok(sum)
}

/// To 30 significant bits: far more than a resistance is used for, far fewer than rounding errors reach.
fn rounded(x: f64) -> f64 {
    f64::from_bits((x.to_bits() + (1 << 22)) >> 23 << 23)
}
