"""Peer: what a training step with DropEdge does in PyTorch Geometric: `dropout_edge` on whole pairs, then `gcn_norm`.

The result is a list of arcs with their weights (COO), unlike Sapwood's rows ready to multiply. Self-loops are never
dropped there, so they are left out here: `gcn_norm` adds one to each node.
"""

import torch
import torch_geometric
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import dropout_edge

import pairs
import peer

P = 0.3


def main():
    u, v, n, threads = pairs.load()
    torch.set_num_threads(threads)
    u, v = (torch.from_numpy(end[u != v].astype("int64")) for end in (u, v))
    arcs = torch.stack([torch.cat([u, v]), torch.cat([v, u])])
    arcs = torch_geometric.utils.sort_edge_index(arcs, num_nodes=n)

    def draw():
        left, _ = dropout_edge(arcs, p=P, force_undirected=True)
        gcn_norm(left, num_nodes=n, dtype=torch.float32)
        return left.size(1)

    def check(case):
        torch.manual_seed(0)
        return [draw()]

    version = f"{torch_geometric.__version__} (torch {torch.__version__.split('+')[0]})"
    peer.serve({"system": "pyg", "version": version, "threads": threads}, lambda case: draw(), check)


if __name__ == "__main__":
    main()
