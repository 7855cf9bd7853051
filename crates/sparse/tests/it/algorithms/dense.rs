//! Small dense matrices, graphs, and slow twins of what is done with them.

use crate::make::Numbers;
use sapwood_sparse::Csr;

/// The entries of a dense matrix that are not zero.
pub(crate) fn csr(a: &[Vec<f64>]) -> Csr<f64> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in a {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as u32);
            values.push(v);
        }
        offsets.push(columns.len() as u64);
    }
    Csr::try_new(a.len(), a.len(), offsets, columns, values).unwrap()
}

/// Gaussian elimination with row pivots.
pub(crate) fn solve(a: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut rows: Vec<Vec<f64>> = a.iter().zip(b).map(|(row, &b)| row.iter().copied().chain([b]).collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap();
        rows.swap(k, pivot);
        let row = rows[k].clone();
        for lower in &mut rows[k + 1..] {
            let factor = lower[k] / row[k];
            lower.iter_mut().zip(&row).for_each(|(l, r)| *l -= factor * r);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    x
}

/// The eigenvalues of a symmetric matrix, descending: rotations of the largest element (Jacobi's own choice).
pub(crate) fn eigenvalues(a: &[Vec<f64>]) -> Vec<f64> {
    let n = a.len();
    let mut a = a.to_vec();
    loop {
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let Some((p, q)) = pairs.max_by(|x, y| a[x.0][x.1].abs().total_cmp(&a[y.0][y.1].abs())) else { break };
        if a[p][q].abs() < 1e-15 {
            break;
        }
        let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
        let (s, c) = angle.sin_cos();
        for i in 0..n {
            (a[i][p], a[i][q]) = (c * a[i][p] - s * a[i][q], s * a[i][p] + c * a[i][q]);
        }
        for i in 0..n {
            (a[p][i], a[q][i]) = (c * a[p][i] - s * a[q][i], s * a[p][i] + c * a[q][i]);
        }
        (a[p][q], a[q][p]) = (0.0, 0.0);
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i][i]).collect();
    values.sort_by(|x, y| y.total_cmp(x));
    values
}

/// A simple undirected graph.
pub(crate) struct Graph {
    pub(crate) n: usize,
    pub(crate) pairs: Vec<(usize, usize)>,
}

impl Graph {
    /// About `pairs` random pairs, and a path through all nodes.
    pub(crate) fn random(seed: u64, n: usize, pairs: usize) -> Graph {
        let mut numbers = Numbers::new(seed);
        let mut list: Vec<_> = (0..pairs).map(|_| (numbers.below(n), numbers.below(n))).collect();
        list.iter_mut().for_each(|p| *p = (p.0.min(p.1), p.0.max(p.1)));
        list.retain(|p| p.0 != p.1);
        list.extend((1..n).map(|i| (i - 1, i)));
        list.sort_unstable();
        list.dedup();
        Graph { n, pairs: list }
    }

    pub(crate) fn degrees(&self) -> Vec<f64> {
        let mut degrees = vec![0.0; self.n];
        for &(i, j) in &self.pairs {
            degrees[i] += 1.0;
            degrees[j] += 1.0;
        }
        degrees
    }

    pub(crate) fn adjacency(&self) -> Vec<Vec<f64>> {
        let mut a = vec![vec![0.0; self.n]; self.n];
        for &(i, j) in &self.pairs {
            (a[i][j], a[j][i]) = (1.0, 1.0);
        }
        a
    }

    pub(crate) fn laplacian(&self) -> Vec<Vec<f64>> {
        let mut a = self.adjacency();
        a.iter_mut().flatten().for_each(|v| *v = -*v);
        self.degrees().into_iter().enumerate().for_each(|(i, d)| a[i][i] = d);
        a
    }

    pub(crate) fn sparse_laplacian(&self) -> Csr<f64> {
        let degrees = self.degrees();
        let mut entries: Vec<_> = (0..self.n).map(|i| (i, i, degrees[i])).collect();
        entries.extend(self.pairs.iter().flat_map(|&(i, j)| [(i, j, -1.0), (j, i, -1.0)]));
        entries.sort_by_key(|e| (e.0, e.1));
        let mut offsets = vec![0u64; self.n + 1];
        entries.iter().for_each(|e| offsets[e.0 + 1] += 1);
        for i in 0..self.n {
            offsets[i + 1] += offsets[i];
        }
        let columns = entries.iter().map(|e| e.1 as u32).collect();
        Csr::try_new(self.n, self.n, offsets, columns, entries.iter().map(|e| e.2).collect()).unwrap()
    }
}
