"""Peer: the same training epoch with PyTorch Geometric on the CPU.

    epoch_pyg.py DATA --split full --layers 4 --hidden 128 --threads 2        (all options: job.py)

GCNConv layers on a normalised adjacency matrix in CSR (`normalize=False`: the operator is computed once, as
`cached=True` does), X in CSR as well: of the forms GCNConv takes (dense or sparse X; edge_index, EdgeIndex, CSR)
the fastest in a full epoch on both data sets. Gradients by autograd. Weight decay on weights only.
jknet: a linear layer on X, GCNConv layers as above, JumpingKnowledge("cat"), a linear layer on what it puts together.
"""

import warnings

warnings.filterwarnings("ignore", category=FutureWarning)  # torch_geometric's own use of torch.jit
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import torch_geometric  # noqa: E402
from torch_geometric.nn import GCNConv, JumpingKnowledge  # noqa: E402

import job  # noqa: E402

torch.sparse.check_sparse_tensor_invariants.disable()


def csr(m):
    """A scipy CSR matrix as a torch sparse CSR tensor."""
    parts = torch.from_numpy(m.indptr.astype(np.int64)), torch.from_numpy(m.indices.astype(np.int64))
    return torch.sparse_csr_tensor(*parts, torch.from_numpy(m.data), size=m.shape)


class Layers(torch.nn.Module):
    """GCNConv layers; ReLU and dropout after each but the last."""

    def __init__(self, job):
        super().__init__()
        self.dropout = job.dropout
        self.convs = torch.nn.ModuleList(GCNConv(i, o, normalize=False) for i, o in job.widths())
        with torch.no_grad():
            for conv, (w, b) in zip(self.convs, job.initial()):
                conv.lin.weight.copy_(torch.from_numpy(w.T.copy()))
                conv.bias.copy_(torch.from_numpy(b))

    def forward(self, x, operator):
        for conv in self.convs[:-1]:
            x = F.dropout(conv(x, operator).relu(), self.dropout, self.training)
        return self.convs[-1](x, operator)


class Jumping(torch.nn.Module):
    """ReLU and dropout after the linear layer on X and after each convolution; the output layer sees all of them."""

    def __init__(self, job):
        super().__init__()
        self.dropout = job.dropout
        first, *inner, last = job.widths()
        self.input = torch.nn.Linear(*first)
        self.convs = torch.nn.ModuleList(GCNConv(i, o, normalize=False) for i, o in inner)
        self.jump, self.output = JumpingKnowledge("cat"), torch.nn.Linear(*last)
        linear = [self.input, *[conv.lin for conv in self.convs], self.output]
        with_bias = [self.input, *self.convs, self.output]
        with torch.no_grad():
            for layer, owner, (w, b) in zip(linear, with_bias, job.initial()):
                layer.weight.copy_(torch.from_numpy(w.T.copy()))
                owner.bias.copy_(torch.from_numpy(b))

    def forward(self, x, operator):
        hidden = [self.end(self.input(x))]
        for conv in self.convs:
            hidden.append(self.end(conv(hidden[-1], operator)))
        return self.output(self.jump(hidden))

    def end(self, h):
        return F.dropout(h.relu(), self.dropout, self.training)


MODELS = {"gcn": Layers, "jknet": Jumping}


class Trainer:
    """Training step and evaluation of any module called as module(x, operator)."""

    def __init__(self, job, model):
        torch.set_num_threads(job.threads)
        torch.manual_seed(job.seed)
        self.model, self.x, self.operator = model, csr(job.x), csr(job.operator)
        self.labels = torch.from_numpy(job.labels)
        self.split = {part: torch.from_numpy(ids) for part, ids in job.split.items()}
        weights = [p for p in model.parameters() if p.dim() == 2]
        rest = [p for p in model.parameters() if p.dim() != 2]
        groups = [{"params": weights, "weight_decay": job.l2}, {"params": rest, "weight_decay": 0.0}]
        self.adam = torch.optim.Adam(groups, lr=job.lr)

    def train_epoch(self):
        self.model.train()
        self.adam.zero_grad()
        scores = self.model(self.x, self.operator)
        loss = F.cross_entropy(scores[self.split["train"]], self.labels[self.split["train"]])
        loss.backward()
        self.adam.step()
        return float(loss.detach())

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        scores = self.model(self.x, self.operator)
        guess = scores.argmax(dim=1)
        accuracy = {p: float((guess[v] == self.labels[v]).float().mean()) for p, v in self.split.items()}
        val = self.split["val"]
        loss = float(F.cross_entropy(scores[val], self.labels[val]))
        return {"val_loss": loss, "val_acc": accuracy["val"], "test_acc": accuracy["test"]}


if __name__ == "__main__":
    version = f"{torch_geometric.__version__} (torch {torch.__version__.split('+')[0]})"
    makers = {name: lambda j, model=model: Trainer(j, model(j)) for name, model in MODELS.items()}
    job.main(makers, "pyg", version)
