"""Peer: Y = A X with scipy (CSR f32 times dense f32, one thread, which is all that scipy has).

    spmm_scipy.py GRAPH --k 1,16,64,128 [--operator] [--inplace]     then see peer.py

GRAPH is a TSV folder or an edge list. A is the 0/1 adjacency matrix, with `--operator` the GCN operator `aug`.
Plain: `A @ X`, what a user writes; the result is allocated each time. `--inplace`: scipy's own inner routine
adding into an array that is reused, so that no page is touched for the first time in the timed part.
X[i, j] = ((131 i + 17 j) mod 1009) / 1009 - 1/2, the same numbers as in `sapwood bench sparse`.
"""

import argparse

import numpy as np
import scipy
from scipy.sparse import _sparsetools

import folder
import peer


def dense(n, k):
    """The right-hand side both systems multiply with."""
    i, j = np.arange(n)[:, None], np.arange(k)[None, :]
    return (((131 * i + 17 * j) % 1009) / 1009 - 0.5).astype(np.float32)


def sums(y):
    """Two numbers that tell apart a wrong result: the sum of all entries and the sum of absolute values."""
    return [y.sum(dtype=np.float64), np.abs(y).sum(dtype=np.float64)]


def options():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("graph")
    args.add_argument("--k", default="1,16,64,128")
    args.add_argument("--operator", action="store_true")
    args.add_argument("--inplace", action="store_true")
    args.add_argument("--threads", type=int, default=1, help="accepted for all peers; scipy has one")
    return args.parse_args()


def matrix(args):
    """A as CSR with 32-bit indices, the smallest that scipy and torch take."""
    a = folder.graph(args.graph)
    a = folder.aug(a) if args.operator else a
    a.indptr, a.indices = a.indptr.astype(np.int32), a.indices.astype(np.int32)
    return a


def main():
    args = options()
    a = matrix(args)
    n = a.shape[0]
    x = {k: dense(n, int(k)) for k in args.k.split(",")}
    y = {k: np.zeros_like(x[k]) for k in x} if args.inplace else None

    def inplace(k):
        out = y[k]
        out.fill(0)
        _sparsetools.csr_matvecs(n, n, x[k].shape[1], a.indptr, a.indices, a.data, x[k].ravel(), out.ravel())
        return out

    def plain(k):
        return a @ x[k]

    run = inplace if args.inplace else plain
    system = "scipy-inplace" if args.inplace else "scipy"
    hello = {"system": system, "version": scipy.__version__, "n": n, "entries": int(a.nnz), "threads": 1}
    peer.serve(hello, run, lambda k: sums(run(k)))


if __name__ == "__main__":
    main()
