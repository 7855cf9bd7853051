"""Reads the graphs and data sets that the benchmarks use: TSV folders, edge lists (SNAP), each file plain, .gz or .zst.

Only what the peers need; the formats are described in docs/data.md. Nothing here is timed.
"""

import gzip
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def read(path):
    """The text of a file, decompressed by its first bytes."""
    raw = Path(path).read_bytes()
    if raw[:2] == b"\x1f\x8b":
        return gzip.decompress(raw).decode()
    if raw[:4] == b"\x28\xb5\x2f\xfd":
        import zstandard

        return zstandard.ZstdDecompressor().decompressobj().decompress(raw).decode()
    return raw.decode()


def find(folder, name):
    """`folder/name`, or the same with .gz or .zst; None when there is none."""
    for end in ("", ".gz", ".zst"):
        path = Path(folder) / (name + end)
        if path.exists():
            return path
    return None


def rows(path):
    """The lines of a text file split at white space, without empty lines and `#` comments."""
    return (line.split() for line in read(path).splitlines() if line.strip() and not line.startswith("#"))


def edges(path):
    """Edge list as an int64 array of two columns."""
    return np.array([(int(r[0]), int(r[1])) for r in rows(path)], dtype=np.int64).reshape(-1, 2)


def nodes_of(path):
    """N of the header line `# Nodes: N Edges: M` of a SNAP file, or 0."""
    for line in read(path).splitlines():
        if not line.startswith("#"):
            return 0
        words = line.split()
        if "Nodes:" in words:
            return int(words[words.index("Nodes:") + 1])
    return 0


def pattern(pairs, n):
    """Symmetric 0/1 adjacency matrix (CSR f32) of undirected pairs; a self-loop is one entry."""
    u, v = pairs.T
    ones = np.ones(2 * len(u), dtype=np.float32)
    a = sp.csr_matrix((ones, (np.r_[u, v], np.r_[v, u])), shape=(n, n))
    a.data[:] = 1  # duplicates count once
    a.sort_indices()
    return a


def graph(path):
    """Adjacency matrix of a TSV folder or of one edge-list file."""
    path = Path(path)
    if path.is_dir():
        return pattern(edges(find(path, "edges.tsv")), node_count(path))
    pairs = edges(path)
    return pattern(pairs, max(nodes_of(path), int(pairs.max()) + 1))


def node_count(folder):
    """Number of nodes: nodes.tsv, else the largest that any file of the folder knows."""
    if path := find(folder, "nodes.tsv"):
        return int(next(rows(path))[0])
    n = int(edges(find(folder, "edges.tsv")).max()) + 1
    if path := find(folder, "labels.tsv"):
        n = max(n, max(int(r[0]) for r in rows(path)) + 1)
    if path := find(folder, "words.tsv"):
        n = max(n, len(read(path).splitlines()))
    return n


def words(folder, n):
    """Presence matrix nodes x words (CSR f32, all 1) from features.mtx or words.tsv."""
    if path := find(folder, "features.mtx"):
        lines = (line for line in read(path).splitlines() if not line.startswith("%"))
        shape = next(lines).split()
        at = np.array([line.split()[:2] for line in lines], dtype=np.int64) - 1
        i, j, width = at[:, 0], at[:, 1], int(shape[1])
    else:
        path = find(folder, "words.tsv")
        lists = [[int(w) for w in line.split()] for line in read(path).splitlines()]
        i = np.repeat(np.arange(len(lists)), [len(w) for w in lists])
        j = np.array([w for ws in lists for w in ws], dtype=np.int64)
        names = find(folder, "words.txt")
        width = len(read(names).splitlines()) if names else int(j.max()) + 1
    x = sp.csr_matrix((np.ones(len(i), dtype=np.float32), (i, j)), shape=(n, width))
    x.sort_indices()
    return x


def labels(folder, n):
    """Class of each node, -1 for none."""
    y = np.full(n, -1, dtype=np.int64)
    for node, label in rows(find(folder, "labels.tsv")):
        y[int(node)] = int(label)
    return y


def split(folder, name):
    """Sorted node ids of train, val and test. `name` None: split.tsv; else split_NAME.tsv."""
    path = find(folder, f"split_{name}.tsv" if name else "split.tsv")
    parts = {"train": [], "val": [], "test": []}
    for node, part in rows(path):
        parts[part].append(int(node))
    return {part: np.sort(np.array(ids, dtype=np.int64)) for part, ids in parts.items()}


def tfidf(x):
    """presence * (ln((1 + n) / (1 + df)) + 1), rows scaled to L2 norm 1; an empty row stays empty."""
    n = x.shape[0]
    df = np.asarray((x != 0).sum(axis=0)).ravel()
    weight = np.log((1 + n) / (1 + df)) + 1
    w = x.astype(np.float64).multiply(weight[None, :]).tocsr()
    norm = np.sqrt(np.asarray(w.multiply(w).sum(axis=1)).ravel())
    norm[norm == 0] = 1
    return sp.csr_matrix(sp.diags(1 / norm) @ w).astype(np.float32)


def aug(a):
    """The operator D~^-1/2 (A + I) D~^-1/2 (Kipf & Welling, ICLR 2017), D~ the row sums of A + I."""
    a = sp.csr_matrix(a.astype(np.float64).maximum(sp.eye(a.shape[0], format="csr")))
    r = 1 / np.sqrt(np.asarray(a.sum(axis=1)).ravel())
    op = sp.csr_matrix(sp.diags(r) @ a @ sp.diags(r)).astype(np.float32)
    op.sort_indices()
    return op
