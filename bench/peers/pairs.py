"""What the peers of `sapwood bench graph` share: the graph they are given, and the scores they answer with.

    PEER PAIRS.npy --nodes N          PAIRS.npy: 2 x m int32, each undirected pair once, a self-loop as (u, u)
"""

import argparse

import numpy as np

ALPHA = 0.85
TOL = 1e-10  # of the 1-norm of what a sweep changes
MOST_SWEEPS = 1000
COMPARED = 5


def load():
    """(u, v, number of nodes, threads) from the command line."""
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("pairs")
    args.add_argument("--nodes", type=int, required=True)
    args.add_argument("--threads", type=int, default=1, help="accepted for all peers; some have one")
    args = args.parse_args()
    u, v = np.load(args.pairs)
    return u, v, args.nodes, args.threads


def largest(scores):
    """The numbers by which scores are compared: the largest ones, descending."""
    return np.sort(scores)[::-1][:COMPARED]
