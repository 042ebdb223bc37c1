"""Products of a tall matrix and one vector, which are weighted sums of its rows; and of two thin ones.

The BLAS is handed pieces of so few elements that it takes no threads of its own: kernels call this from threads of
theirs, and the two kinds would wait for each other. Only rows too long for a piece go as they are. Must not know what
the sums are for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..native import blas

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


def thin(lines: Any, columns: Any, out: Any) -> Any:
    """The outer product of each pair of a column and a line, summed, into `out`: columns.T @ lines, of two or more.

    (One column alone is no product for the BLAS in NumPy's eyes.) `columns` is (pairs, rows), `lines` (pairs, length).
    """
    pairs, count = columns.shape
    tall = max(1, _PRODUCT // max(lines.size, 1))
    whole = count - count % tall
    if whole:
        pieces = columns[:, :whole].reshape(pairs, -1, tall).transpose(1, 2, 0)
        np.matmul(pieces, lines, out=out[:whole].reshape(-1, tall, lines.shape[1]))
    if whole < count:
        np.matmul(columns[:, whole:].T, lines, out=out[whole:])
    return out


def add_thin(lines: Any, columns: Any, out: Any) -> Any:
    """The same, added to `out`. A single pair will do."""
    rows = len(out) if blas.is_alone() else max(1, _PRODUCT // max(lines.size, 1))
    if not blas.add_product(columns, lines, out, rows):
        out += columns.T @ lines
    return out
