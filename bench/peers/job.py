"""What the training peers share: the job's options, its data, and the loop around a trainer.

A peer gives `main` its networks: the name of a model, and `make(job)` that builds a trainer, which has
    train_epoch() -> loss          one full-batch epoch: forward, backward, optimiser step; the loss before the step
    evaluate() -> dict             val_loss, val_acc, test_acc on the full graph, no dropout
Alone, the program trains and prints one JSON line per epoch and one at the end. With `--serve` it is a peer (peer.py):
`run train` is one epoch, `run train+evaluate` one epoch and one evaluation, `check losses` the losses of the first
epochs from the weights of `--weights` without dropout.
"""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import folder
import peer

CHECKED_EPOCHS = 5


@dataclass
class Job:
    """A node classification job: data and settings, the same for every system.

    `gcn` has `layers` convolutions. `jknet` has a linear layer, `layers` - 1 convolutions, and a linear layer on the
    hidden activations of all `layers` of them side by side.
    """

    x: sp.csr_matrix  # n x features, f32
    operator: sp.csr_matrix  # n x n, f32, the normalised adjacency matrix
    adjacency: sp.csr_matrix  # n x n, 0/1
    labels: np.ndarray
    split: dict
    classes: int
    model: str
    layers: int
    hidden: int
    lr: float
    l2: float
    dropout: float
    seed: int
    threads: int
    weights: list | None  # [(W [in, out], b)] per layer, or None

    def widths(self):
        """Input and output width of each layer."""
        if self.model == "jknet":
            inner = [(self.hidden, self.hidden)] * (self.layers - 1)
            return [(self.x.shape[1], self.hidden), *inner, (self.layers * self.hidden, self.classes)]
        w = [self.x.shape[1], *[self.hidden] * (self.layers - 1), self.classes]
        return list(zip(w[:-1], w[1:]))

    def initial(self):
        """Weights to start from: those given, else Glorot uniform (AISTATS 2010) with zero biases."""
        if self.weights is not None:
            return [(w.copy(), b.copy()) for w, b in self.weights]
        rng = np.random.default_rng(self.seed)
        bound = [(i, o, np.sqrt(6 / (i + o))) for i, o in self.widths()]
        return [(rng.uniform(-s, s, (i, o)).astype(np.float32), np.zeros(o, np.float32)) for i, o, s in bound]


def weights(path, model, layers):
    """The weights of each layer, from an .npz file or a folder of .npy files that has them as PyTorch lays them out.

    `convs.<i>.lin.weight` [out, in] and `convs.<i>.bias`; of jknet also `lins.0.weight`, `lins.0.bias`, `lins.1.bias`,
    and the columns of `lins.1.weight` in one array for each hidden layer, `lins.1.<l>.weight`.
    """
    path = Path(path)
    get = (lambda name: np.load(path / f"{name}.npy")) if path.is_dir() else np.load(path).__getitem__

    def layer(weight, bias):
        return np.ascontiguousarray(get(f"{weight}.weight").T), get(f"{bias}.bias")

    if model == "jknet":
        joined = np.vstack([get(f"lins.1.{i}.weight").T for i in range(layers)])
        inner = [layer(f"convs.{i}.lin", f"convs.{i}") for i in range(layers - 1)]
        return [layer("lins.0", "lins.0"), *inner, (joined, get("lins.1.bias"))]
    return [layer(f"convs.{i}.lin", f"convs.{i}") for i in range(layers)]


def options(models):
    args = argparse.ArgumentParser()
    args.add_argument("data", help="a TSV folder")
    args.add_argument("--split", help="NAME of split_NAME.tsv; default split.tsv")
    args.add_argument("--model", choices=list(models), default="gcn")
    args.add_argument("--layers", type=int, default=2)
    args.add_argument("--hidden", type=int, default=128)
    args.add_argument("--epochs", type=int, default=400)
    args.add_argument("--eval-every", type=int, default=1)
    args.add_argument("--lr", type=float, default=0.01)
    args.add_argument("--l2", type=float, default=5e-4)
    args.add_argument("--dropout", type=float, default=0.5)
    args.add_argument("--seed", type=int, default=0)
    args.add_argument("--threads", type=int, default=1)
    args.add_argument("--weights", help="initial weights: .npz file or folder of .npy files")
    args.add_argument("--serve", action="store_true", help="be a peer of `sapwood bench train`")
    return args.parse_args()


def load(args):
    """The job that the options describe."""
    name = None if args.split == "public" else args.split
    n = folder.node_count(args.data)
    a, y = folder.graph(args.data), folder.labels(args.data, n)
    return Job(
        x=folder.tfidf(folder.words(args.data, n)),
        operator=folder.aug(a),
        adjacency=a,
        labels=y,
        split=folder.split(args.data, name),
        classes=int(y.max()) + 1,
        model=args.model,
        layers=args.layers,
        hidden=args.hidden,
        lr=args.lr,
        l2=args.l2,
        dropout=args.dropout,
        seed=args.seed,
        threads=args.threads,
        weights=weights(args.weights, args.model, args.layers) if args.weights else None,
    )


def main(models, system, version):
    """Runs the job alone or as a peer; `models` has `make(job)` by the name of the network."""
    args = options(models)
    job, make = load(args), models[args.model]
    if args.serve:
        serve(make, job, {"system": system, "version": version, "threads": job.threads})
    else:
        alone(make(job), args)


def serve(make, job, hello):
    trainer = make(job)

    def run(case):
        trainer.train_epoch()
        if case == "train+evaluate":
            trainer.evaluate()

    def check(case):
        without_dropout = make(Job(**{**vars(job), "dropout": 0.0}))
        return [without_dropout.train_epoch() for _ in range(CHECKED_EPOCHS)]

    peer.serve(hello, run, check)


def alone(trainer, args):
    """Trains, keeps the epoch with the best validation accuracy (ties: smaller validation loss, then earlier)."""
    best, times = None, []
    for epoch in range(1, args.epochs + 1):
        start = time.perf_counter()
        line = {"epoch": epoch, "train_loss": float(trainer.train_epoch())}
        times.append(time.perf_counter() - start)
        if epoch % args.eval_every == 0 or epoch == args.epochs:
            line |= trainer.evaluate()
            if best is None or rank(line) > rank(best):
                best = line
        print(json.dumps(line | {"train_s": times[-1]}))
    print(json.dumps({"best": best, "median_train_s": float(np.median(times))}))


def rank(line):
    return line["val_acc"], -line["val_loss"]
