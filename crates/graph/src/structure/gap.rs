//! The spectral gap of what a draw leaves: how well its largest component holds together.

use super::{Sets, rows};
use crate::{Graph, Result, Sampled};
use sapwood_skeleton::Exec;
use sapwood_sparse::algorithms::{LanczosOptions, lanczos};
use sapwood_sparse::{Csr, Planned};

/// Of the eigenvalue, relative to the largest, which is 1.
const TOLERANCE: f64 = 1e-4;

/// 1 − λ₂ of D^-½AD^-½ on the largest component of what `sampled` leaves (of equal ones that of the smallest node), edge
/// weights and self-loops ignored: 0 where a component nearly falls apart, above 1 where it is nearly complete (Chung,
/// "Spectral graph theory", 1997). λ₂ is found to 10⁻⁴ by Lanczos iteration, the vector √d of λ₁ = 1 deflated. None for a
/// component of one node, for a directed graph, and where the iteration does not converge.
///
/// # Errors
/// What the iteration says.
pub fn spectral_gap(exec: Exec<'_>, graph: &Graph, sampled: &Sampled<'_>) -> Result<Option<f64>> {
    if graph.directed() {
        return Ok(None);
    }
    let inside = largest(graph, sampled);
    if inside.len() < 2 {
        return Ok(None);
    }
    let (matrix, top) = normalised(graph, sampled, &inside)?;
    let options = LanczosOptions { k: 1, tol: TOLERANCE, deflate: &[&top], ..LanczosOptions::default() };
    let found = lanczos(exec, &Planned::new(matrix), &options)?;
    Ok(found.values.first().filter(|_| found.converged).map(|second| 1.0 - second))
}

/// The nodes of the largest component, ascending.
fn largest(graph: &Graph, sampled: &Sampled<'_>) -> Vec<u32> {
    let mut sets = Sets::new(graph.nodes());
    for (i, row, units) in rows(graph) {
        let kept = row.iter().zip(units).filter(|&(_, &unit)| sampled.keeps(unit));
        for (&j, _) in kept {
            sets.join(i as u32, j);
        }
    }
    let size = sets.largest();
    let nodes = 0..graph.nodes() as u32;
    let Some(first) = nodes.clone().find(|&i| sets.size_of(i) == size) else { return Vec::new() };
    let root = sets.root(first);
    nodes.filter(|&i| sets.root(i) == root).collect()
}

/// D^-½AD^-½ of the nodes `inside`, and √d.
fn normalised(graph: &Graph, sampled: &Sampled<'_>, inside: &[u32]) -> Result<(Csr<f64>, Vec<f64>)> {
    let (pattern, unit) = (graph.rows().pattern(), graph.rows().unit());
    let mut number = vec![u32::MAX; graph.nodes()];
    (0..).zip(inside).for_each(|(new, &old)| number[old as usize] = new);
    let (mut offsets, mut columns) = (vec![0u64], Vec::new());
    for &i in inside {
        let kept = pattern.row(i as usize).iter().zip(&unit[pattern.row_range(i as usize)]);
        columns.extend(kept.filter(|&(_, &unit)| sampled.keeps(unit)).map(|(&j, _)| number[j as usize]));
        offsets.push(columns.len() as u64);
    }
    let top: Vec<f64> = offsets.windows(2).map(|w| ((w[1] - w[0]) as f64).sqrt()).collect();
    let row = |i: usize| offsets[i] as usize..offsets[i + 1] as usize;
    let entries = (0..inside.len()).flat_map(|i| row(i).map(move |e| (i, e)));
    let values: Vec<f64> = entries.map(|(i, e)| 1.0 / (top[i] * top[columns[e] as usize])).collect();
    Ok((Csr::try_new(inside.len(), inside.len(), offsets, columns, values)?, top))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BitMask;
    use crate::graph::{Edge, GraphOptions};

    fn gap(nodes: usize, ends: &[(u32, u32)], kept: impl Fn(usize) -> bool) -> Option<f64> {
        let edges = ends.iter().map(|&(from, to)| Edge { from, to, weight: 1.0 }).collect();
        let graph = Graph::build(nodes, edges, GraphOptions::default()).unwrap().0;
        let mut mask = BitMask::new(ends.len(), true);
        (0..ends.len()).for_each(|e| mask.set(e, kept(e)));
        let runtime = sapwood_skeleton::Runtime::sequential().unwrap();
        spectral_gap(runtime.exec(), &graph, &Sampled::Pairs(&mask)).unwrap()
    }

    #[test]
    fn known_graphs() {
        let near = |found: Option<f64>, expected: f64| {
            let found = found.unwrap();
            assert!((found - expected).abs() < 1e-4, "{found} instead of {expected}");
        };
        let complete: Vec<(u32, u32)> = (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j))).collect();
        near(gap(5, &complete, |_| true), 1.25); // λ₂ = −1/(n − 1)
        let cycle: Vec<(u32, u32)> = (0..12).map(|i| (i, (i + 1) % 12)).collect();
        near(gap(13, &cycle, |_| true), 1.0 - (std::f64::consts::TAU / 12.0).cos());
        near(gap(2, &[(0, 1)], |_| true), 2.0);
        // a path of 3 nodes, λ = 1, 0, −1, beside a pair; the pair 2 - 3 between them is dropped
        near(gap(5, &[(0, 1), (1, 2), (2, 3), (3, 4)], |e| e != 2), 1.0);
        assert_eq!(gap(3, &[(0, 1)], |_| false), None);
    }
}
