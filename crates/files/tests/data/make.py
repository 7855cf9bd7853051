"""The archives stored.npz and deflated.npz, by NumPy."""
import sys
import numpy as np

arrays = dict(
    a=np.arange(6, dtype=np.float64).reshape(2, 3) / 4,
    short=np.array([-1, 2, 127], dtype=np.int8),
    big=np.array([1, 65535], dtype=">u2"),
    words=np.array(["ab", "", "\u20acuro"]),
    objects=np.array(["x", None], dtype=object),
    empty=np.zeros((0, 4), dtype=np.int64),
    many=np.zeros(500, dtype=np.int32),
)
np.savez(sys.argv[1] + "/stored.npz", **arrays)
np.savez_compressed(sys.argv[1] + "/deflated.npz", **arrays)
