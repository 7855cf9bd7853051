"""Peer: the same training epoch in PyTorch without a graph library, as an expert would tune it for the CPU.

    epoch_torch.py DATA --split full --layers 4 --hidden 128 --threads 2      (all options: job.py)

Sparse products are an autograd function of its own with the transpose at hand (Â is its own, Xᵀ is built once), so
that backward transposes nothing; W [in, out] is multiplied as it lies. The output layer of jknet adds up the products
of the hidden layers, which are never put side by side. Everything else is epoch_pyg.py.
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


class Jumping(torch.nn.Module):
    """A linear layer on X, convolutions, and the sum over all hidden layers of H_l W_l."""

    def __init__(self, job):
        super().__init__()
        self.dropout, self.transposed = job.dropout, csr(sp.csr_matrix(job.x.T))
        *pairs, (w, b) = [(torch.from_numpy(w), torch.from_numpy(b)) for w, b in job.initial()]
        self.weights = torch.nn.ParameterList(w for w, _ in pairs)
        self.biases = torch.nn.ParameterList(b for _, b in pairs)
        self.outputs = torch.nn.ParameterList(part.contiguous() for part in w.split(job.hidden))
        self.bias = torch.nn.Parameter(b)

    def forward(self, x, operator):
        h, scores = x, self.bias
        for layer, (w, b, out) in enumerate(zip(self.weights, self.biases, self.outputs)):
            if layer == 0:
                z = Product.apply(x, self.transposed, w) + b
            else:
                z = Product.apply(operator, operator, h @ w) + b
            h = F.dropout(z.relu(), self.dropout, self.training)
            scores = torch.addmm(scores, h, out)
        return scores


MODELS = {"gcn": Layers, "jknet": Jumping}

if __name__ == "__main__":
    makers = {name: lambda j, model=model: Trainer(j, model(j)) for name, model in MODELS.items()}
    job.main(makers, "torch", torch.__version__.split("+")[0])
