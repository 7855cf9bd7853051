"""Peer: `Graph.pagerank` of python-igraph with its default solver, PRPACK, which has a tolerance of its own.

The wheels build PRPACK with OpenMP: it follows OMP_NUM_THREADS, which the harness sets, and with more than one thread
its scores differ in their last bits from call to call. An undirected self-loop counts twice there and once in Sapwood:
a graph with one is refused.
"""

import sys

import igraph
import numpy as np

import pairs
import peer


def main():
    u, v, n, threads = pairs.load()
    if (u == v).any():
        sys.exit("the graph has self-loops, which igraph counts twice")
    g = igraph.Graph(n=n, edges=np.stack([u, v], axis=1), directed=False)

    def run(case):
        return g.pagerank(damping=pairs.ALPHA, implementation="prpack")

    hello = {"system": "igraph", "version": igraph.__version__, "threads": threads}
    peer.serve(hello, run, lambda case: pairs.largest(np.array(run(case))))


if __name__ == "__main__":
    main()
