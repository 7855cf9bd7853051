"""Peer: PageRank by power iteration with scipy's sparse product, as one writes it by hand.

The adjacency matrix is CSR f64 with 32-bit indices, built once; the degrees belong to the timed part, as they do in
`sapwood bench graph`. Stops as Sapwood does: when a sweep changes the scores by at most TOL in the 1-norm. The graph is
undirected, so the matrix is its own transpose and what flows into i is (A (x / d))_i.
"""

import numpy as np
import scipy
import scipy.sparse as sp

import pairs
import peer


def adjacency(u, v, n):
    """Symmetric 0/1 matrix; a self-loop is one entry."""
    other = u != v
    rows, columns = np.r_[u, v[other]], np.r_[v, u[other]]
    a = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    a.sort_indices()
    return a


def pagerank(a):
    n = a.shape[0]
    degree = np.diff(a.indptr).astype(np.float64)
    sinks = degree == 0
    share = pairs.ALPHA / np.where(sinks, 1, degree)
    x = np.full(n, 1 / n)
    for _ in range(pairs.MOST_SWEEPS):
        before = x
        x = a @ (before * share)
        x += (pairs.ALPHA * before[sinks].sum() + 1 - pairs.ALPHA) / n
        if np.abs(x - before).sum() <= pairs.TOL:
            return x
    raise RuntimeError(f"no convergence in {pairs.MOST_SWEEPS} sweeps")


def main():
    u, v, n, _ = pairs.load()
    a = adjacency(u, v, n)
    hello = {"system": "scipy", "version": scipy.__version__, "threads": 1}
    peer.serve(hello, lambda case: pagerank(a), lambda case: pairs.largest(pagerank(a)))


if __name__ == "__main__":
    main()
