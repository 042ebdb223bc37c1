"""Products of a tall matrix and one vector, which are weighted sums of its rows; and of two thin ones.

The BLAS is handed pieces of so few elements that it takes no threads of its own: kernels call this from threads of
theirs, and the two kinds would wait for each other. Only rows too long for a piece go as they are. Must not know what
the sums are for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# From 9216 elements on OpenBLAS takes threads for a product with a vector; beyond 1 << 18 multiplications, for others.
_PIECE, _PRODUCT = 9000, 1 << 18


def by_row(x: Any, line: Any) -> Any:
    """x @ line: for each row of the matrix x its sum with the weights `line`."""
    count, length = x.shape
    tall = _PIECE // length
    whole = count - count % tall if tall > 1 else 0
    if not whole:
        return np.vecdot(x, line)
    out = np.empty(count, x.dtype)
    np.matvec(x[:whole].reshape(-1, tall, length), line, out=out[:whole].reshape(-1, tall))
    if whole < count:
        np.vecdot(x[whole:], line, out=out[whole:])
    return out


def thin(columns: Any, lines: Any, out: Any) -> Any:
    """columns @ lines into `out`, for few columns and lines."""
    step = max(1, _PRODUCT // max(lines.size, 1))
    for at in range(0, len(out), step):
        np.dot(columns[at:at + step], lines, out=out[at:at + step])
    return out
