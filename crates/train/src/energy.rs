//! How alike neighbours have become: the Dirichlet energy of an activation, which over-smoothing drives to zero.
//!
//! Sums run over nodes in chunks of 256 rows, over chunks in the fixed tree, in double precision.

use crate::Result;
use crate::rows::CHUNK;
use sapwood_graph::Graph;
use sapwood_skeleton::fixed_tree::AlignedTree;
use sapwood_skeleton::{ChunkPlan, Exec, per_chunk};
use sapwood_sparse::{Block, Real};

/// ½ Σ over arcs (i, j) of w_ij ‖h_i/√(1 + d_i) − h_j/√(1 + d_j)‖², divided by ‖H‖²: 0 where neighbours are alike up to
/// their degrees (Cai & Wang 2020, "A note on over-smoothing for graph neural networks"). d_i = Σ_j w_ij, without
/// self-loops; w = 1 in a graph without weights. NaN for H = 0. O(arcs · columns).
///
/// # Errors
/// When the executor fails.
pub fn dirichlet<T: Real>(exec: Exec<'_>, graph: &Graph, h: &Block<T>) -> Result<f64> {
    let (rows, weights) = (graph.rows().pattern(), graph.rows().weights());
    let weight = |arc: usize| weights.map_or(1.0, |w| f64::from(w[arc]));
    let root = |i: usize| 1.0 / (1.0 + rows.row_range(i).map(weight).sum::<f64>()).sqrt();
    let roots: Vec<f64> = (0..graph.nodes()).map(root).collect();
    let plan = ChunkPlan::of(h.rows(), CHUNK);
    let mut sums = vec![(0.0f64, 0.0f64); plan.chunks()];
    exec.for_chunks_mut(&plan, per_chunk(&mut sums), |_, range, sums| {
        for i in range {
            let own = h.row(i);
            let mut apart = 0.0;
            for (&j, arc) in rows.row(i).iter().zip(rows.row_range(i)) {
                let (a, b) = (roots[i], roots[j as usize]);
                let pairs = own.iter().zip(h.row(j as usize));
                let apart_by = pairs.map(|(x, y)| (x.to_f64() * a - y.to_f64() * b).powi(2)).sum::<f64>();
                apart += weight(arc) * apart_by;
            }
            let length: f64 = own.iter().map(|x| x.to_f64().powi(2)).sum();
            sums.iter_mut().for_each(|sum| *sum = (sum.0 + apart, sum.1 + length));
        }
        Ok(())
    })?;
    let mut tree = AlignedTree::new();
    let add = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
    sums.into_iter().enumerate().for_each(|(chunk, sum)| tree.push_one(chunk, sum, add));
    let (apart, length) = tree.finish(add).unwrap_or_default();
    Ok(0.5 * apart / length)
}
