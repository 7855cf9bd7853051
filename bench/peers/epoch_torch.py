"""Peer: the same training epoch in PyTorch without a graph library, as an expert would tune it for the CPU.

    epoch_torch.py DATA --split full --layers 4 --hidden 128 --threads 2      (all options: job.py)

Sparse products are an autograd function of its own with the transpose at hand (Â is its own, Xᵀ is built once), so
that backward transposes nothing; W [in, out] is multiplied as it lies. Everything else is epoch_pyg.py.
"""

import scipy.sparse as sp
import torch
import torch.nn.functional as F

import job
from epoch_pyg import Trainer, csr


class Product(torch.autograd.Function):
    """Sparse A times dense H, with Aᵀ given for the gradient."""

    @staticmethod
    def forward(ctx, a, transposed, h):
        ctx.transposed = transposed
        return a @ h

    @staticmethod
    def backward(ctx, g):
        return None, None, ctx.transposed @ g


class Layers(torch.nn.Module):
    """Â (H W) + b; ReLU and dropout after each layer but the last."""

    def __init__(self, job):
        super().__init__()
        self.dropout, self.transposed = job.dropout, csr(sp.csr_matrix(job.x.T))
        pairs = [(torch.from_numpy(w), torch.from_numpy(b)) for w, b in job.initial()]
        self.weights = torch.nn.ParameterList(w for w, _ in pairs)
        self.biases = torch.nn.ParameterList(b for _, b in pairs)

    def forward(self, x, operator):
        h, last = x, len(self.weights) - 1
        for layer, (w, b) in enumerate(zip(self.weights, self.biases)):
            z = Product.apply(x, self.transposed, w) if layer == 0 else h @ w
            h = Product.apply(operator, operator, z) + b
            if layer < last:
                h = F.dropout(h.relu(), self.dropout, self.training)
        return h


if __name__ == "__main__":
    job.main(lambda j: Trainer(j, Layers(j)), "torch", torch.__version__.split("+")[0])
