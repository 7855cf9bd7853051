//! Conjugate gradients (Hestenes, Stiefel 1952) on the Laplacian of a graph, eight right-hand sides at a time, each with
//! steps of its own; preconditioned by the degrees. A right-hand side must sum to 0 over each component.

use crate::undirected::Undirected;

/// Right-hand sides of a block.
pub(super) const LANES: usize = 8;

/// One row per node.
pub(super) type Lanes = Vec<[f64; LANES]>;

/// x with L·x = b, until the residual in the norm of D⁻¹ has fallen to `tol` of its start, or 4n + 1000 steps are made.
pub(super) fn solve(graph: &Undirected, b: Lanes, tol: f64) -> Lanes {
    let n = graph.nodes();
    let inverse: Vec<f64> = (0..n).map(|i| 1.0 / graph.row(i).len().max(1) as f64).collect();
    let (mut r, mut x) = (b, vec![[0.0; LANES]; n]);
    let mut p: Lanes = r.iter().zip(&inverse).map(|(r, d)| r.map(|r| r * d)).collect();
    let mut ap = x.clone();
    let mut energy = dot(&r, &p);
    let goal = energy.map(|e| e * tol * tol);
    for _ in 0..4 * n + 1000 {
        if energy.iter().zip(&goal).all(|(e, goal)| e <= goal) {
            break;
        }
        laplacian(graph, &p, &mut ap);
        let curvature = dot(&p, &ap);
        // a lane that is done stands still
        let mut step = [0.0; LANES];
        for l in 0..LANES {
            step[l] = if energy[l] > goal[l] && curvature[l] > 0.0 { energy[l] / curvature[l] } else { 0.0 };
        }
        if step == [0.0; LANES] {
            break;
        }
        let mut after = [0.0; LANES];
        for i in 0..n {
            for l in 0..LANES {
                x[i][l] += step[l] * p[i][l];
                r[i][l] -= step[l] * ap[i][l];
                after[l] += r[i][l] * r[i][l] * inverse[i];
            }
        }
        let mut turn = [0.0; LANES];
        for l in 0..LANES {
            turn[l] = if step[l] > 0.0 { after[l] / energy[l] } else { 0.0 };
        }
        for i in 0..n {
            for l in 0..LANES {
                p[i][l] = r[i][l] * inverse[i] + turn[l] * p[i][l];
            }
        }
        energy = after;
    }
    x
}

/// y = L·x.
fn laplacian(graph: &Undirected, x: &Lanes, y: &mut Lanes) {
    for i in 0..graph.nodes() {
        let row = graph.row(i);
        let mut sum = [0.0; LANES];
        for &j in row {
            for l in 0..LANES {
                sum[l] += x[j as usize][l];
            }
        }
        for l in 0..LANES {
            y[i][l] = row.len() as f64 * x[i][l] - sum[l];
        }
    }
}

fn dot(a: &Lanes, b: &Lanes) -> [f64; LANES] {
    let mut sum = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sum[l] += a[l] * b[l];
        }
    }
    sum
}
