"""Peer: Y = A X with torch (sparse CSR f32 times dense f32, which calls MKL's sparse product).

    spmm_torch.py GRAPH --k 1,16,64,128 --threads 2 [--operator]      the same numbers as spmm_scipy.py
"""

import warnings

import numpy as np
import torch

import peer
from spmm_scipy import dense, matrix, options, sums

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
torch.sparse.check_sparse_tensor_invariants.disable()


def main():
    args = options()
    torch.set_num_threads(args.threads)
    m = matrix(args)
    offsets, columns = (torch.from_numpy(v.astype(np.int32)) for v in (m.indptr, m.indices))
    a = torch.sparse_csr_tensor(offsets, columns, torch.from_numpy(m.data), size=m.shape)
    x = {k: torch.from_numpy(dense(m.shape[0], int(k))) for k in args.k.split(",")}
    version = torch.__version__.split("+")[0]
    hello = {"system": "torch", "version": version, "n": m.shape[0], "entries": int(m.nnz), "threads": args.threads}
    peer.serve(hello, lambda k: a @ x[k], lambda k: sums((a @ x[k]).numpy()))


if __name__ == "__main__":
    main()
