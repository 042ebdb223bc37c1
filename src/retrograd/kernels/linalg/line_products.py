"""Products of a tall matrix and a vector, which are weighted sums of its rows, and of two thin matrices.

The BLAS gets pieces so small that it starts no threads of its own. Kernels call these functions from their own threads,
and the two kinds of threads would wait for each other. Only rows that are too long for a piece go to the BLAS as they
are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import F64, Array
from ..native import blas

# OpenBLAS starts threads from 9216 elements on for a product with a vector, and beyond 1 << 18 multiplications for
# others.
_PIECE, _PRODUCT = 9000, 1 << 18
# The BLAS adds the elements of a row in a few running sums, whose rounding errors grow with the row. So longer rows are
# added in pieces of this length, and the sums of the pieces in double precision. It adds the elements of a column one
# after the other, so the pieces of columns are shorter.
_LONG, _TALL = 1 << 15, 256


def row_dots(x: Array, y: Array) -> Any:
    """For each row of the matrix x, the sum of its products with a row of y, or with y itself if y is one row."""
    length = x.shape[1]
    if length <= _LONG:
        return np.vecdot(x, y)
    total = np.zeros(len(x), F64)
    for at in range(0, length, _LONG):
        total += np.vecdot(x[:, at:at + _LONG], y[..., at:at + _LONG])
    return total.astype(x.dtype, copy=False)


def by_row(x: Array, line: Array) -> Any:
    """x @ line: for each row of the matrix x, its sum with the weights `line`."""
    count, length = x.shape
    if length > _LONG:
        return row_dots(x, line)
    if blas.is_alone():
        return x.dot(line)
    tall = _PIECE // length
    whole = count - count % tall if tall > 1 else 0
    if not whole:
        return np.vecdot(x, line)
    out = np.empty(count, x.dtype)
    np.matvec(x[:whole].reshape(-1, tall, length), line, out=out[:whole].reshape(-1, tall))
    if whole < count:
        np.vecdot(x[whole:], line, out=out[whole:])
    return out


def weighted_rows(weights: Array, x: Array) -> Any:
    """weights @ x: the sum of the rows of the matrix x with these weights. Many rows are added in double precision."""
    count, length = x.shape
    if count <= _TALL:
        return weights.dot(x)
    whole = count - count % _TALL
    parts = np.vecmat(weights[:whole].reshape(-1, _TALL), x[:whole].reshape(-1, _TALL, length))
    total = np.add.reduce(parts, axis=0, dtype=F64)
    if whole < count:
        total += weights[whole:].dot(x[whole:])
    return total


def thin(lines: Array, columns: Array, out: Array) -> Any:
    """Write columns.T @ lines, the sum of the outer products of each pair of a column and a line, to `out`.

    There are two or more pairs: NumPy does not hand a product with one column to the BLAS. `columns` is (pairs, rows),
    and `lines` is (pairs, length).
    """
    if blas.is_alone():
        return np.matmul(columns.T, lines, out=out)
    pairs, count = columns.shape
    tall = max(1, _PRODUCT // max(lines.size, 1))
    whole = count - count % tall
    if whole:
        pieces = columns[:, :whole].reshape(pairs, -1, tall).transpose(1, 2, 0)
        np.matmul(pieces, lines, out=out[:whole].reshape(-1, tall, lines.shape[1]))
    if whole < count:
        np.matmul(columns[:, whole:].T, lines, out=out[whole:])
    return out


def add_thin(lines: Array, columns: Array, out: Array) -> Any:
    """Add columns.T @ lines to `out`. One pair is enough."""
    rows = len(out) if blas.is_alone() else max(1, _PRODUCT // max(lines.size, 1))
    if not blas.add_product(columns, lines, out, rows):
        out += columns.T @ lines
    return out
