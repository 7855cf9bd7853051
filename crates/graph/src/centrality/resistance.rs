//! Effective resistance of edges, each a resistor of 1, and what it says of nodes; directions are ignored.
//!
//! R of an edge is the chance that a random spanning forest holds it (Kirchhoff), so R = 1 exactly at bridges, and all
//! R sum to n − components (Foster 1949). A node's score is the sum over its edges: its expected degree in the forest.
//!
//! Up to [`EXACT`] nodes one Laplacian system is solved for each node, and the result is rounded to 30 significant
//! bits, so that edges which are alike tie. Above, the sketch of Spielman and Srivastava (2008): with K = ⌈24 ln n⌉ rows of
//! random signs, R ≈ Σ (z_u − z_v)²/K, where z solves the system of a row; a relative standard deviation of √(2/K). Each
//! component is a system of its own.

use super::{Entry, Ranks};
use crate::structure::Sets;
use crate::undirected::Undirected;
use crate::{Error, Graph, Result};
use sapwood_skeleton::Exec;
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_sparse::algorithms::{CgOptions, Scaled, cg};
use sapwood_sparse::{Block, Csr, One, Scale, WorkPlan};

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

/// Right-hand sides that are solved for together.
const COLUMNS: usize = 16;

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
    for &(u, v) in &graph.ends {
        sets.join(u, v);
    }
    let home: Vec<u32> = (0..n as u32).map(|i| sets.root(i)).collect();
    let mut size = vec![0.0; n];
    home.iter().for_each(|&c| size[c as usize] += 1.0);
    let laplacian = Laplacian::of(graph)?;
    let mut all = vec![0.0; graph.ends.len()];
    for first in (0..n).step_by(COLUMNS) {
        let columns = first..(first + COLUMNS).min(n);
        let unit = |i: usize, u: usize| f64::from(i == u) - f64::from(home[i] == home[u]) / size[home[u] as usize];
        let b = Block::from_fn(n, columns.len(), |i, column| unit(i, first + column))?;
        let x = laplacian.solve(exec, &b, 1e-13)?;
        for (r, &(u, v)) in all.iter_mut().zip(&graph.ends) {
            for (here, there) in [(u as usize, v as usize), (v as usize, u as usize)] {
                if columns.contains(&here) {
                    *r += x.row(here)[here - first] - x.row(there)[here - first];
                }
            }
        }
    }
    Ok(all)
}

fn sketch(exec: Exec<'_>, graph: &Undirected, seed: u64) -> Result<Vec<f64>> {
    let n = graph.nodes();
    let rows = (24.0 * sapwood_skeleton::math::ln_f64(n as f64)).ceil() as usize;
    let panels = rows.div_ceil(COLUMNS);
    let stream = Stream::new(seed, Purpose::Sketch);
    let laplacian = Laplacian::of(graph)?;
    let mut all = vec![0.0; graph.ends.len()];
    for panel in 0..panels {
        let mut b = Block::zeros(n, COLUMNS)?;
        for (e, &(u, v)) in (0u64..).zip(&graph.ends) {
            let word = stream.at(panel as u32, 0, e)?[0];
            for column in 0..COLUMNS {
                let sign = if word >> column & 1 == 1 { 1.0 } else { -1.0 };
                b.row_mut(u as usize)[column] += sign;
                b.row_mut(v as usize)[column] -= sign;
            }
        }
        let x = laplacian.solve(exec, &b, 1e-6)?;
        for (r, &(u, v)) in all.iter_mut().zip(&graph.ends) {
            let (u, v) = (x.row(u as usize), x.row(v as usize));
            *r += u.iter().zip(v).map(|(u, v)| (u - v) * (u - v)).sum::<f64>();
        }
    }
    all.iter_mut().for_each(|r| *r /= (panels * COLUMNS) as f64);
    Ok(all)
}

/// L = D − A, ready to be solved with.
struct Laplacian {
    adjacency: Csr<One>,
    plan: WorkPlan,
    degrees: Vec<f64>,
    ones: Vec<f64>,
    minus: Vec<f64>,
}

impl Laplacian {
    fn of(graph: &Undirected) -> Result<Laplacian> {
        let n = graph.nodes();
        let offsets: Vec<u64> = graph.starts.iter().map(|&start| start as u64).collect();
        let adjacency = Csr::try_new(n, n, offsets, graph.neighbours.clone(), vec![One; graph.neighbours.len()])?;
        Ok(Laplacian {
            plan: WorkPlan::new(&adjacency),
            adjacency,
            degrees: (0..n).map(|i| graph.row(i).len() as f64).collect(),
            ones: vec![1.0; n],
            minus: vec![-1.0; n],
        })
    }

    /// x with L·x = b for each column of b, which sums to 0 over each component.
    fn solve(&self, exec: Exec<'_>, b: &Block<f64>, tol: f64) -> Result<Block<f64>> {
        let scale = Scale { own: &self.degrees, left: &self.minus, right: &self.ones };
        let operator = Scaled { matrix: &self.adjacency, plan: &self.plan, scale };
        let max_iter = 4 * self.ones.len() as u32 + 1000;
        let found = cg(exec, &operator, b, &CgOptions { tol, max_iter, diagonal: Some(&self.degrees) })?;
        // Near the limit of the numbers a residual may stop falling just above so small a tolerance; that is near enough.
        match found.columns.iter().find(|column| column.residual.is_nan() || column.residual > 1e3 * tol) {
            Some(worst) => Err(Error::NotConverged { what: "effective resistances", residual: worst.residual }),
            None => Ok(found.solution),
        }
    }
}

/// To 30 significant bits: far more than a resistance is used for, far fewer than rounding errors reach.
fn rounded(x: f64) -> f64 {
    f64::from_bits((x.to_bits() + (1 << 22)) >> 23 << 23)
}
