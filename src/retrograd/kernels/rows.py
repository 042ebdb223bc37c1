"""Sums and extremes of large arrays, faster than NumPy's own reductions.

NumPy starts its inner loop again for each row. `einsum` adds in many lanes, and machine code also shares long rows
among threads. Many short rows are compared by whole columns. Many narrow rows are added as fewer wide rows. A product
with ones would add in two threads, but the threads of the BLAS stay busy waiting for more work, and take the cores from
other threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import C64, C128, F32, F64, Array
from .native.served import served
from .native.threads import in_parts
from .thresholds import COMPARED_CACHED, COMPARED_ROW, ROW_SUMS, ROWS, SERVED_ROW, SERVED_SUMS, SUMMED_ROW

# How many elements are added at once, so that the rounding error stays small.
BLOCK = 1024
_FEW_ROWS = 64
# NumPy may add so many elements one after the other.
TALL = 128
# The dtypes in which many elements are added that NumPy adds one after the other.
WIDER = {F32: F64, C64: C128}


def sums(x: Array, axes: tuple[int, ...] | None, keepdim: bool) -> Array:
    """The sums of floats over `axes`, or of all elements."""
    if x.size < ROW_SUMS or (x.dtype is not F32 and x.dtype is not F64) or not x.flags.c_contiguous:
        return _plainly(x, axes, keepdim)
    if axes is None or len(axes) == x.ndim:
        return _sum_of_all(x.reshape(-1)).reshape((1,) * x.ndim if keepdim else ())
    first = axes[0] if axes else 0
    if not axes or axes != tuple(range(first, first + len(axes))):
        return _rows_first(x, axes, keepdim)
    before, after = x.shape[:first], x.shape[axes[-1] + 1:]
    outer, inner = math.prod(before), math.prod(after)
    n = x.size // (outer * inner)
    found = _sums_of_rows(x.reshape(outer, n)) if inner == 1 else sums_of_columns(x.reshape(outer, n, inner))
    return found.reshape((*before, *(1,) * len(axes), *after) if keepdim else (*before, *after))


def _rows_first(x: Array, axes: tuple[int, ...], keepdim: bool) -> Array:
    """Sums over several groups of axes. If the last group makes long rows, these rows are summed first."""
    first = x.ndim
    while first - 1 in axes:
        first -= 1
    n = math.prod(x.shape[first:])
    if first == x.ndim or n < SUMMED_ROW:
        return _plainly(x, axes, keepdim)
    found = _plainly(_sums_of_rows(x.reshape(-1, n)).reshape(x.shape[:first]), tuple([a for a in axes if a < first]),
                     keepdim)
    return found.reshape((*found.shape, *(1,) * (x.ndim - first))) if keepdim else found


def drifts(x: Array, axes: tuple[int, ...] | None) -> bool:
    """Whether NumPy adds along the axes one element after the other, so that rounding errors add up.

    Along the last axis of rows, NumPy adds in pairs.
    """
    if axes is None or len(axes) == x.ndim:
        return not x.flags.forc
    return not x.flags.c_contiguous or axes != tuple(range(x.ndim - len(axes), x.ndim))


def widened(x: Array, axes: tuple[int, ...] | None) -> np.dtype[Any] | None:
    """The wider dtype in which the elements along the axes are added; None if they are added in their own."""
    wide = WIDER.get(x.dtype) if x.size > TALL and drifts(x, axes) else None
    return wide if axes is None or math.prod([x.shape[axis] for axis in axes]) > TALL else None


def _plainly(x: Array, axes: tuple[int, ...] | None, keepdim: bool) -> Array:
    """The sums by NumPy. Many elements that it adds one after the other are added in the next wider dtype."""
    wide = widened(x, axes) if x.size > TALL else None
    if wide is not None:
        if axes == (0,) and len(x) >= 2 * TALL and x.size < _FEW_ROWS * len(x) and x.flags.c_contiguous:
            found = _narrow(x.reshape(len(x), -1), wide).reshape(x.shape[1:])
            return found[None] if keepdim else found
        return np.add.reduce(x, axis=axes, keepdims=keepdim, dtype=wide, out=...).astype(x.dtype)
    result: Array = np.add.reduce(x, axis=axes, keepdims=keepdim, out=...)
    return result


def _narrow(x: Array, wide: np.dtype[Any]) -> Array:
    """The sums of the columns of a narrow matrix: several rows count as one wide row, which NumPy adds more quickly."""
    n, width = x.shape
    together = math.isqrt(n)
    whole = n - n % together
    parts = np.add.reduce(x[:whole].reshape(-1, together * width), axis=0).reshape(together, width)
    found: Array = np.add.reduce(parts, axis=0, dtype=wide)
    if whole < n:
        found += np.add.reduce(x[whole:], axis=0)
    return found.astype(x.dtype)


def _sum_of_all(x: Array) -> Array:
    return sum_of_parts([part_of_sum(x)])


def part_of_sum(x: Array) -> tuple[Array, Any]:
    """What the sum of all elements needs of some of them, from a multiple of BLOCK on: the sums of whole blocks, and
    the sum of the rest. Only the last part may have a rest.
    """
    x, whole = x.reshape(-1), x.size - x.size % BLOCK
    return _sums_of_blocks(x[:whole].reshape(-1, BLOCK)), np.add.reduce(x[whole:])


def sum_of_parts(parts: Sequence[tuple[Array, Any]]) -> Array:
    """The sum of all elements from those of its parts, in their order. It has the same bits for all parts."""
    blocks = parts[0][0] if len(parts) == 1 else np.concatenate([blocks for blocks, _ in parts])
    total: Array = np.add.reduce(blocks, out=...)
    total += parts[-1][1]
    return total


def row_sums(x: Any) -> Any:
    """The sums of the rows of a 2-d array, as machine code computes them."""
    return np.add.reduce(x, axis=1)


def _served(x: Array) -> Any:
    """The sums of rows by machine code, or None."""
    return served(row_sums, x) if x.size >= SERVED_SUMS and x.shape[1] >= SERVED_ROW else None


def _sums_of_rows(x: Array) -> Array:
    rows, n = x.shape
    if (found := _served(x)) is not None:
        return found  # type: ignore[no-any-return]
    if n <= 2 * BLOCK:
        return _in_lanes(x)
    if n % BLOCK:
        return _plainly(x, (1,), False)
    return _plainly(_in_lanes(x.reshape(-1, BLOCK)).reshape(rows, -1), (1,), False)


def _sums_of_blocks(x: Array) -> Array:
    found = _served(x)
    return _in_lanes(x) if found is None else found


def _in_lanes(x: Array) -> Array:
    """The sums of rows that are not long, by NumPy."""
    found = np.empty(len(x), x.dtype)
    in_parts(lambda start, stop: np.einsum("ij->i", x[start:stop], out=found[start:stop]), len(x), x.size * 0.1)
    return found


def sums_of_columns(x: Array) -> Array:
    """The sums of a contiguous 3-d array along its axis 1. Several narrow rows are treated as one wide row."""
    outer, n, inner = x.shape
    together = max(min(BLOCK // inner, n), 1)
    whole = n - n % together
    found = _in_blocks(x[:, :whole].reshape(outer, -1, together * inner))
    if together > 1:                                       # the last sums are so few that they can be exact
        found = np.add.reduce(found.reshape(outer, together, inner), axis=1, dtype=F64, out=...)
    if whole < n:
        found += np.add.reduce(x[:, whole:], axis=1, dtype=found.dtype)
    return found.astype(x.dtype, copy=False)


def _in_blocks(x: Array) -> Array:
    """The sums of a 3-d array along its axis 1. Blocks of rows are added first, since rounding errors add up."""
    outer, n, width = x.shape
    whole = n - n % _FEW_ROWS
    if whole < 2 * _FEW_ROWS:
        return np.add.reduce(x[0], axis=0, keepdims=True) if outer == 1 else np.add.reduce(x, axis=1)
    parts = np.add.reduce(x[:, :whole].reshape(outer, -1, _FEW_ROWS, width), axis=2)
    found: Array = np.add.reduce(parts, axis=1, dtype=F64)
    found += np.add.reduce(x[:, whole:], axis=1)
    return found


def _extremes_of_columns(ufunc: np.ufunc, x: Array) -> Array:
    """The largest or smallest elements of the columns of a 2-d array. Several narrow rows are treated as one wide row.
    """
    n, width = x.shape
    together = min(BLOCK // width, n)
    if together < 2:
        return ufunc.reduce(x, axis=0, out=...)  # type: ignore[no-any-return]
    whole = n - n % together
    wide = ufunc.reduce(x[:whole].reshape(-1, together * width), axis=0)
    found: Array = ufunc.reduce(wide.reshape(together, width), axis=0, out=...)
    if whole < n:
        ufunc(found, ufunc.reduce(x[whole:], axis=0), out=found)
    return found


def sums_of_squares(x: Array, axes: tuple[int, ...], keepdim: bool) -> Array:
    """The sums of the squares of real numbers over `axes`."""
    if x.size < COMPARED_ROW:
        return sums(np.square(x, out=...), axes, keepdim)
    first, n = x.ndim - len(axes), math.prod([x.shape[axis] for axis in axes])
    rows = x.size // n if n else 0
    if x.flags.c_contiguous and axes == tuple(range(first, x.ndim)) and (rows == 1 or x.size >= ROWS):
        if n <= 2 * BLOCK:
            found = _squares_of_rows(x.reshape(rows, n))
        elif rows == 1 or n % BLOCK == 0:
            whole = x.size - x.size % BLOCK
            flat = x.reshape(-1)
            blocks = _squares_of_rows(flat[:whole].reshape(-1, BLOCK))
            found = _plainly(blocks.reshape(rows, -1), (1,), False)
            found += np.dot(flat[whole:], flat[whole:])
        else:
            return sums(np.square(x, out=...), axes, keepdim)
        return found.reshape((*x.shape[:first], *(1,) * (len(axes) * keepdim)))
    return sums(np.square(x, out=...), axes, keepdim)


def _squares_of_rows(x: Array) -> Array:
    """The sums of squares of rows that are not long, without an array of the squares."""
    if len(x) == 1:
        found: Array = np.asarray(np.dot(x[0], x[0]))
    else:
        found = np.vecdot(x, x) if x.shape[1] >= COMPARED_ROW else np.einsum("ij,ij->i", x, x)
    return found


def extremes(x: Array, axes: tuple[int, ...], keepdim: bool, largest: bool) -> Array:
    """The largest or smallest elements over `axes`, or nan if an element is nan."""
    ufunc = np.maximum if largest else np.minimum
    count = len(axes)
    if x.size >= ROWS and 0 < count < x.ndim and x.flags.c_contiguous:
        if axes == tuple(range(x.ndim - count, x.ndim)):
            before = x.shape[:axes[0]]
            found = _extremes_of_rows(ufunc, x.reshape(math.prod(before), -1), largest)
            return found.reshape((*before, *(1,) * count) if keepdim else before)
        if axes == tuple(range(count)):
            after = x.shape[count:]
            found = _extremes_of_columns(ufunc, x.reshape(-1, math.prod(after)))
            return found.reshape((*(1,) * count, *after) if keepdim else after)
    result: Array = ufunc.reduce(x, axis=axes, keepdims=keepdim, out=...)
    return result


def _extremes_of_rows(ufunc: np.ufunc, x: Array, largest: bool) -> Array:
    short = x.shape[1] < COMPARED_ROW
    if x.size <= COMPARED_CACHED and not short:
        return at_columns(x, x.argmax(1) if largest else x.argmin(1))
    found = np.empty(len(x), x.dtype)

    def work(start: int, stop: int) -> None:
        part = x[start:stop]
        if short:
            _column_by_column(ufunc, part, found[start:stop])
        else:
            np.copyto(found[start:stop], at_columns(part, part.argmax(1) if largest else part.argmin(1)))

    in_parts(work, len(x), x.size * (0.5 if short else 0.1))
    return found


def products(x: Array, dim: int, keepdim: bool) -> Array:
    """The products of floats along `dim`."""
    if x.ndim == 0 or dim != x.ndim - 1 or x.size < ROWS or not x.flags.c_contiguous:
        result: Array = np.multiply.reduce(x, axis=dim, keepdims=keepdim, out=...)
        return result
    rows = x.reshape(-1, x.shape[-1])
    found = np.empty(len(rows), x.dtype)
    while rows.shape[1] >= COMPARED_ROW:                   # multiply the two halves of all rows
        half, odd = divmod(rows.shape[1], 2)
        halves = np.multiply(rows[:, :half], rows[:, half:2 * half])
        if odd:
            np.multiply(halves[:, 0], rows[:, -1], out=halves[:, 0])
        rows = halves
    _column_by_column(np.multiply, rows, found)
    return found.reshape((*x.shape[:-1], *(1,) * keepdim))


def product_of_all(x: Array) -> Array:
    """The product of all elements, in many lanes at once. In NumPy's product each step waits for the last."""
    if x.size < ROWS or not x.flags.c_contiguous:
        return np.asarray(np.multiply.reduce(x, axis=None))
    flat, whole = x.reshape(-1), x.size - x.size % BLOCK
    lanes = np.multiply.reduce(flat[:whole].reshape(-1, BLOCK), axis=0)
    rest = np.multiply.reduce(flat[whole:])
    return np.asarray(np.multiply.reduce(np.multiply.reduce(lanes.reshape(32, -1), axis=0)) * rest)


def _column_by_column(ufunc: np.ufunc, x: Array, found: Array) -> None:
    """The reduction of short rows: neighboring elements of all rows at once, then the remaining columns in turn."""
    while x.size > COMPARED_CACHED and x.shape[1] > 8 and not x.shape[1] % 2:
        flat = x.reshape(-1)
        x = ufunc(flat[::2], flat[1::2]).reshape(len(x), -1)
    if x.size <= COMPARED_CACHED:
        ufunc.reduce(np.ascontiguousarray(x.T), axis=0, out=found)
        return
    np.copyto(found, x[:, 0])
    for j in range(1, x.shape[1]):
        ufunc(found, x[:, j], out=found)


def at_columns(x: Array, index: Array) -> Array:
    """The element of each row at its index."""
    found: Array = x.reshape(-1).take(index + np.arange(0, x.size, x.shape[1]))
    return found


def places_of_extremes(x: Array, largest: bool) -> tuple[Array, Array]:
    """The largest or smallest elements of the rows of a 2-d array, and the first index of each."""
    values, indices = np.empty(len(x), x.dtype), np.empty(len(x), np.int64)

    def work(start: int, stop: int) -> None:
        part, index = x[start:stop], indices[start:stop]
        if largest:
            part.argmax(1, out=index)
        else:
            part.argmin(1, out=index)
        np.copyto(values[start:stop], at_columns(part, index))

    in_parts(work, len(x), x.size * (0.1 + 10.0 / x.shape[1]))
    return values, indices
