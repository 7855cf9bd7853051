"""The plain twin of `sapwood train --sampler none` in numpy and scipy, models gcn and jknet, and a peer of its epoch time.

    epoch_scipy.py DATA --split full --layers 2 --hidden 128 --epochs 400       (all options: job.py)

Layer of gcn: Z = Â (H W) + b; ReLU and dropout after each layer but the last; softmax cross-entropy, mean over the
training nodes; Adam with L2 added to the gradient of the weights, not of the biases. Backward by hand:
T = Âᵀ G, dW = Hᵀ T, db = column sums of G, dH = T Wᵀ. Â is symmetric, so Âᵀ = Â. X stays sparse, Xᵀ is built once.
jknet: the first layer is X W + b, and the output layer reads all hidden activations side by side.
With `--weights` and `--dropout 0` it gives Sapwood's losses.
"""

import numpy as np
import scipy
import scipy.sparse as sp

import job


class Adam:
    """Adam (Kingma & Ba, ICLR 2015) with coupled L2, in place."""

    def __init__(self, parameters, lr, l2):
        self.parameters, self.lr, self.l2, self.step_no = parameters, lr, l2, 0
        self.m = [np.zeros_like(p) for p in parameters]
        self.v = [np.zeros_like(p) for p in parameters]

    def step(self, gradients):
        self.step_no += 1
        rate = np.float32(self.lr / (1 - 0.9**self.step_no))
        root = np.float32(1 / np.sqrt(1 - 0.999**self.step_no))
        for p, g, m, v in zip(self.parameters, gradients, self.m, self.v):
            if p.ndim == 2:
                g += np.float32(self.l2) * p
            m *= np.float32(0.9)
            m += np.float32(0.1) * g
            v *= np.float32(0.999)
            g *= g
            v += np.float32(0.001) * g
            p -= rate * m / (np.sqrt(v) * root + np.float32(1e-8))


class Gcn:
    """A graph convolutional network with its training step."""

    def __init__(self, job):
        self.job, self.a, self.x = job, job.operator, job.x
        self.xt = sp.csr_matrix(job.x.T)
        self.w, self.b = (list(p) for p in zip(*job.initial()))
        self.adam = Adam([*self.w, *self.b], job.lr, job.l2)
        self.rng = np.random.default_rng(job.seed + 1)

    def forward(self, training):
        """The inputs of all layers and the scores of the last one."""
        inputs, h = [], self.x
        for layer, (w, b) in enumerate(zip(self.w, self.b)):
            inputs.append(h)
            h = self.a @ (h @ w)
            h += b
            if layer + 1 < len(self.w):
                self.end(h, training)
        return inputs, h

    def end(self, h, training):
        """ReLU and dropout, in place."""
        np.maximum(h, 0, out=h)
        if training and self.job.dropout > 0:
            h *= self.rng.random(h.shape, dtype=np.float32) >= self.job.dropout
            h *= np.float32(1 / (1 - self.job.dropout))

    def end_backward(self, g, h):
        """The gradient before ReLU and dropout from that behind them, in place; `h` is what they gave."""
        g *= h > 0  # alive: neither cut by ReLU nor dropped
        g *= np.float32(1 / (1 - self.job.dropout))

    def loss(self, scores, nodes):
        """Mean cross-entropy over `nodes` and its gradient with respect to their scores."""
        z = scores[nodes]
        z -= z.max(axis=1, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=1, keepdims=True)
        at = np.arange(len(nodes)), self.job.labels[nodes]
        value = float(np.mean(np.log(total[:, 0]) - z[at], dtype=np.float64))
        e /= total
        e[at] -= 1
        e /= np.float32(len(nodes))
        return value, e

    def train_epoch(self):
        train = self.job.split["train"]
        known, scores = self.forward(training=True)
        value, gradient = self.loss(scores, train)
        g = np.zeros_like(scores)
        g[train] = gradient
        self.adam.step(self.gradients(known, g))
        return value

    def gradients(self, inputs, g):
        """Of all weights, then of all biases, from the gradient of the scores."""
        dw, db = [None] * len(self.w), [None] * len(self.w)
        for layer in reversed(range(len(self.w))):
            t = self.a @ g
            db[layer] = g.sum(axis=0)
            if layer == 0:
                dw[0] = self.xt @ t
            else:
                dw[layer] = inputs[layer].T @ t
                g = t @ self.w[layer].T
                self.end_backward(g, inputs[layer])
        return [*dw, *db]

    def evaluate(self):
        _, scores = self.forward(training=False)
        guess = scores.argmax(axis=1)
        accuracy = {p: float(np.mean(guess[v] == self.job.labels[v])) for p, v in self.job.split.items()}
        val_loss, _ = self.loss(scores, self.job.split["val"])
        return {"val_loss": val_loss, "val_acc": accuracy["val"], "test_acc": accuracy["test"]}


class Jknet(Gcn):
    """A linear layer, convolutions, and a linear layer on what all of them gave."""

    def forward(self, training):
        """All hidden activations, side by side too, and the scores."""
        hidden = []
        for layer, (w, b) in enumerate(zip(self.w[:-1], self.b[:-1])):
            h = self.a @ (hidden[-1] @ w) if layer else self.x @ w
            h += b
            self.end(h, training)
            hidden.append(h)
        joined = np.hstack(hidden)
        return (hidden, joined), joined @ self.w[-1] + self.b[-1]

    def gradients(self, known, g):
        hidden, joined = known
        dw, db = [None] * len(self.w), [None] * len(self.w)
        dw[-1], db[-1] = joined.T @ g, g.sum(axis=0)
        from_output = np.split(g @ self.w[-1].T, len(hidden), axis=1)
        from_next = 0
        for layer in reversed(range(len(hidden))):
            g = from_output[layer] + from_next
            self.end_backward(g, hidden[layer])
            db[layer] = g.sum(axis=0)
            if layer == 0:
                dw[0] = self.xt @ g
            else:
                t = self.a @ g
                dw[layer] = hidden[layer - 1].T @ t
                from_next = t @ self.w[layer].T
        return [*dw, *db]


if __name__ == "__main__":
    job.main({"gcn": Gcn, "jknet": Jknet}, "scipy", scipy.__version__)
