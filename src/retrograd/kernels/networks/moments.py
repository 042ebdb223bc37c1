"""Sums over axes, and the means and variances that normalization needs. Large sums use double precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F64, Array
from .. import rows
from ..elementwise.elementary import widened
from ..linalg.line_products import weighted_rows
from ..thresholds import NORM_ROWS, NORM_SUMS_BLOCK, NORM_TEMPORARY

# `einsum` adds up to so many rows to each other: the rounding errors of its sums grow with them. More rows that lie
# beside each other are added as fewer wide rows; of others, so many at a time.
_ADDED, _WIDE, _PIECES = 256, 1024, 1024


def sums(x: Array, axes: tuple[int, ...], other: Array | None = None) -> Any:
    """The sums of x, or of x * other, over axes that keep size 1. Large sums use double precision."""
    if x.size < NORM_TEMPORARY:
        return rows.sums(x if other is None else x * other, axes, True)
    if axes == (0,) and len(x) > _ADDED and x.size < _WIDE * len(x) and x.flags.c_contiguous and (
            other is None or other.flags.c_contiguous):
        columns = [a.reshape(len(x), -1) for a in (x, other) if a is not None]
        return _of_columns(*columns).astype(x.dtype).reshape((1, *x.shape[1:]))
    if len(x) > _PIECES and 0 in axes:
        pieces = [slice(at, at + _PIECES) for at in range(0, len(x), _PIECES)]
        total = sum([sums(x[piece], axes, None if other is None else other[piece]).astype(F64) for piece in pieces])
        return total.astype(x.dtype, copy=False)
    inner = x.ndim - 1 in axes
    subscripts = [*range(x.ndim)]
    kept = [axis for axis in subscripts if axis not in axes]
    first = [axis for axis in subscripts if axis != x.ndim - 1] if inner else kept
    factors: Any = (x, subscripts) if other is None else (x, subscripts, other, subscripts)
    total = np.einsum(*factors, first)
    if inner and len(axes) > 1:
        rest = tuple([axis for axis in axes if axis != x.ndim - 1])
        total = np.add.reduce(total, axis=rest, dtype=F64)
    return total.astype(x.dtype, copy=False).reshape([1 if axis in axes else n for axis, n in enumerate(x.shape)])


def _of_columns(*operands: Array) -> Any:
    """The sums of the columns of a tall matrix, or of the products of two, in double precision."""
    count, length = operands[0].shape
    together = _WIDE // length
    whole, total = count - count % together, np.zeros(together * length, F64)
    wide = [a[:whole].reshape(-1, together * length) for a in operands]
    subscripts = ",".join(["ij"] * len(operands)) + "->j"
    for at in range(0, len(wide[0]), _ADDED):
        total += np.einsum(subscripts, *[a[at:at + _ADDED] for a in wide])
    total = np.add.reduce(total.reshape(together, length), axis=0)
    if whole < count:
        total += np.add.reduce(math.prod([a[whole:] for a in operands]), axis=0, dtype=F64)
    return total


def moments(x: Array, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Mean and biased variance over the axes, with a temporary of full size."""
    count = max(math.prod([x.shape[axis] for axis in axes]), 1)
    mean = sums(x, axes) / x.dtype.type(count)
    off = x - mean
    return mean, sums(off, axes, off) / x.dtype.type(count)


def sum_over_rows(x: Array, rank: int) -> Any:
    """The sum over all but the last `rank` axes. Blocks are added in double precision."""
    shape, exact = x.shape[x.ndim - rank:], widened(x)
    if 0 < x.size < NORM_ROWS:
        rows = exact.reshape(-1, math.prod(shape))
        return weighted_rows(np.ones(len(rows), rows.dtype), rows).astype(x.dtype, copy=False).reshape(shape)
    rows = exact.reshape(-1, math.prod(shape)) if x.size else np.zeros((0, math.prod(shape)), exact.dtype)
    step, total = max(1, NORM_SUMS_BLOCK // max(rows.shape[1], 1)), np.zeros(rows.shape[1], F64)
    for at in range(0, len(rows), step):
        part = rows[at:at + step]
        total += weighted_rows(np.ones(len(part), part.dtype), part)
    return total.astype(x.dtype).reshape(shape)
