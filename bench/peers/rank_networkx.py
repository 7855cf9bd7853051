"""Peer: `networkx.pagerank`, called as its users do: on a Graph, which it turns into a scipy matrix in each call.

Its `tol` is per node: it stops when a sweep changes the scores by less than nodes * tol in the 1-norm.
"""

import networkx
import numpy as np

import pairs
import peer


def main():
    u, v, n, _ = pairs.load()
    g = networkx.Graph()
    g.add_nodes_from(range(n))
    g.add_edges_from(zip(u.tolist(), v.tolist()))

    def run(case):
        return networkx.pagerank(g, alpha=pairs.ALPHA, tol=pairs.TOL / n, max_iter=pairs.MOST_SWEEPS)

    hello = {"system": "networkx", "version": networkx.__version__, "threads": 1}
    peer.serve(hello, run, lambda case: pairs.largest(np.fromiter(run(case).values(), np.float64, n)))


if __name__ == "__main__":
    main()
