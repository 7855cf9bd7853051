"""Small Planetoid sets by Python 3, NumPy and SciPy: ind.pN.* in pickle protocol N."""
import collections, pickle, sys
import numpy as np, scipy.sparse as sp
out = sys.argv[1]
allx = sp.csr_matrix(np.array([[1,0,0,2],[0,0,0,0],[0,.5,0,0],[0,0,3,0],[1,1,1,1]], dtype=np.float32))
tx = sp.csr_matrix(np.array([[0,0,0,8],[0,5,0,0],[7,0,0,0]], dtype=np.float32))
ally = np.array([[1,0],[0,1],[1,0],[0,1],[0,1]], dtype=np.int32)
ty = np.array([[0,1],[1,0],[0,1]], dtype=np.int32)
graph = collections.defaultdict(list)
for u, vs in {0:[1,1,8],1:[0,0],2:[2,2,3],3:[2,5],4:[7],5:[3],6:[],7:[np.int64(4)],8:[0]}.items():
    graph[u] = vs
for p in (0, 1, 2):
    parts = dict(x=allx[:2], y=np.asfortranarray(ally[:2]), tx=tx, ty=ty.astype('>i8'), allx=allx, ally=ally, graph=graph)
    for name, value in parts.items():
        with open(f"{out}/ind.p{p}.{name}", "wb") as f:
            pickle.dump(value, f, protocol=p)
    open(f"{out}/ind.p{p}.test.index", "w").write("8\n5\n7\n")
