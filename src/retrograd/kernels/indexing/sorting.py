"""Sorting, the k-th smallest, the most frequent and the unique elements, and elements by index along a dimension.

A nan counts as the largest value, and equal elements keep their order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, I64, Array, refuse
from ..layout import empty_as
from ..reductions import nonempty
from ..thresholds import ARGSORT
from .argsort import at_rank, first_few, order
from .gathering import gather, gather_backward


def picked(indices: Array, x: Array, dim: int, keepdim: bool) -> Any:
    """The elements of `x` at `indices` along `dim`. Without `keepdim`, the indices and the result lack this axis."""
    if x.ndim == 0:
        return x.copy()
    if not keepdim:
        indices = np.expand_dims(indices, dim)
    # `gather` reads faster, but would copy an array that is not row-major.
    found = gather(x, indices, dim) if x.flags.c_contiguous else np.take_along_axis(x, indices, dim)
    return found if keepdim else found.squeeze(dim)


def placed(indices: Array, x: Array, shape: tuple[int, ...], dim: int, keepdim: bool) -> Any:
    """Zeros of `shape`, with `x` added at `indices` along `dim`: the transpose of `picked`."""
    if shape and not keepdim:
        indices, x = np.expand_dims(indices, dim), np.expand_dims(x, dim)
    return gather_backward(x, indices, shape, dim)


def sort(x: Array, dim: int, descending: bool) -> tuple[Any, Any]:
    """The sorted elements along `dim`, and their indices."""
    if x.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    indices = order(x, dim, descending)
    return _laid_out_as(x, picked(indices, x, dim, True)), _laid_out_as(x, indices)


def _laid_out_as(x: Array, result: Array) -> Any:
    """The result, with its axes in memory in the order of the axes of `x`, as PyTorch's sort does."""
    if result.flags.c_contiguous and x.flags.c_contiguous:
        return result
    out = empty_as(x, result.dtype)
    out[...] = result
    return out


def topk(x: Array, k: int, dim: int, largest: bool) -> tuple[Any, Any]:
    """The k largest or smallest elements in order, and their indices."""
    if x.dtype.kind in "bc":
        kind = "bool" if x.dtype.kind == "b" else "complex"
        raise RuntimeError(f"{' ' if kind == 'complex' else ''}topk does not support {kind} dtypes on CPU")
    indices = np.ascontiguousarray(first_few(x, k, dim, largest)) if x.ndim else order(x, dim)
    return picked(indices, x, dim, True), indices


def _at_rank(x: Array, rank: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The element of this rank (one int, or one rank for each line along `dim`), and its index."""
    if x.ndim == 0:
        return x.copy(), np.zeros((), I64)
    if x.size and isinstance(rank, int):
        if x.size < ARGSORT:
            index = order(x, dim)[(*(slice(None),) * dim, slice(rank, rank + 1))]
            values = picked(index, x, dim, True)
        else:
            values, index = at_rank(x, rank, dim)
    else:
        rank = np.broadcast_to(rank, [1 if axis == dim else n for axis, n in enumerate(x.shape)])
        index = np.take_along_axis(order(x, dim), rank, dim) if x.shape[dim] else np.zeros(rank.shape, I64)
        values = np.take_along_axis(x, index, dim) if x.shape[dim] else np.zeros(rank.shape, x.dtype)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


def kthvalue(x: Array, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The k-th smallest elements along `dim`, counted from 1, and their indices."""
    refuse(x.dtype, "kthvalue_cpu", "bc")
    return _at_rank(x, k - 1, dim, keepdim)


def median_dim(x: Array, dim: int, keepdim: bool, ignore_nan: bool) -> tuple[Any, Any]:
    """The medians along `dim` (the lower of two) and their indices. A nan gives nan, unless it is ignored."""
    refuse(x.dtype, "median_out", "bc")
    nonempty("median()", x.shape, (dim,))
    n = x.shape[dim] if x.ndim else 1
    rank: Any = (n - 1) // 2
    if x.dtype.kind == "f" and x.ndim and np.isnan(np.maximum.reduce(x, axis=None, initial=-math.inf)):
        nans = np.count_nonzero(np.isnan(x), axis=dim, keepdims=True)
        rank = np.maximum(n - nans - 1, 0) // 2 if ignore_nan else np.where(nans > 0, n - nans, rank)
    return _at_rank(x, rank, dim, keepdim)


def median(x: Array, ignore_nan: bool) -> Any:
    """The median of all elements, or nan for an empty array."""
    refuse(x.dtype, "median_cpu", "bc")
    if not x.size:
        if x.dtype.kind == "f":
            return np.full((), np.nan, x.dtype)
        # A nan cast to an int. A short int takes the low bits of 32.
        return np.full((), np.iinfo(x.dtype).min if x.itemsize > 2 else 0, x.dtype)
    return median_dim(x.reshape(-1), 0, False, ignore_nan)[0]


def mode(x: Array, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The most frequent elements along `dim` (the smallest of several), and the last index of each."""
    refuse(x.dtype, "mode_cpu")
    nonempty("mode()", x.shape, (dim,))
    if x.ndim == 0:
        return x.copy(), np.zeros((), I64)
    indices = order(x, dim)
    ordered = picked(indices, x, dim, True)
    place = np.arange(x.shape[dim]).reshape(-1, *[1] * (x.ndim - 1 - dim))
    first = np.concatenate([np.zeros_like(place[:1]), place[1:]])
    changed = np.ones(x.shape, bool)
    rest = (slice(None),) * dim
    changed[(*rest, slice(1, None))] = ordered[(*rest, slice(1, None))] != ordered[(*rest, slice(None, -1))]
    run = place - np.maximum.accumulate(np.where(changed, first, 0), dim)
    index = picked(run.argmax(dim, keepdims=True), indices, dim, True)
    values = picked(index, x, dim, True)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


def nonzero(x: Array) -> Any:
    """The indices of the nonzero elements, one element per row."""
    if x.ndim < 2:
        return np.argwhere(x).astype(I64, copy=False)
    at = np.flatnonzero(x if x.dtype.kind == "b" else x != 0)   # NumPy is much faster on one dim
    found = np.empty((x.ndim, len(at)), I64)
    for d in range(x.ndim - 1, 0, -1):
        line = at // x.shape[d]
        np.subtract(at, line * x.shape[d], out=found[d])
        at = line
    found[0] = at
    return found.T


def nonzero_columns(x: Array) -> list[Any]:
    """The same, an array for each dimension; of a number as of an array of one dimension."""
    return [np.ascontiguousarray(column) for column in nonzero(np.atleast_1d(x)).T]


def bincount(x: Array, weights: Array | None, minlength: int) -> Any:
    """How often each of 0, 1, 2 … occurs in `x`, or the sum of its weights."""
    refuse(x.dtype, "bincount_cpu", "fcb")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if x.ndim != 1 or (x.size and x.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return np.bincount(x.astype(I64, copy=False), minlength=minlength).astype(I64, copy=False)
    if weights.shape != x.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    counts = np.bincount(x.astype(I64, copy=False), weights.astype(np.float64, copy=False), minlength)
    return counts.astype(F32) if weights.dtype == F32 else counts


# Unique elements

Found = tuple[Array, Array, Array]


def unique(x: Array, inverse: bool) -> Found:
    """The sorted unique elements, the index of each element of `x` among them, and their counts.

    Without `inverse` the second array is empty, because it needs a sort by indices.
    """
    refuse(x.dtype, "unique")
    flat = x.reshape(-1)
    if not inverse:
        values = np.sort(flat)
        return _without_repeats(values, values[1:] != values[:-1], None, ())
    indices = order(flat, 0)
    values = flat[indices]
    return _without_repeats(values, values[1:] != values[:-1], indices, x.shape)


def unique_dim(x: Array, dim: int) -> Found:
    """`unique` for the slices along `dim`, sorted lexicographically."""
    refuse(x.dtype, "unique_dim")
    lined = _lined(x, dim)
    rows = lined.reshape(len(lined), math.prod(lined.shape[1:]))
    indices = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    ordered = rows[indices]
    values, inverse, counts = _without_repeats(lined[indices], np.any(ordered[1:] != ordered[:-1], axis=1), indices,
                                               (len(rows),))
    return np.moveaxis(values, 0, dim), inverse, counts


def unique_consecutive(x: Array, dim: int | None, inverse: bool) -> Found:
    """The elements, or the slices along `dim`, that differ from the one before.

    Without `inverse` the second array is empty here too.
    """
    refuse(x.dtype, "unique" if dim is None else "unique_dim")
    lined = x.reshape(-1) if dim is None else _lined(x, dim)
    changes = lined[1:] != lined[:-1]
    if lined.ndim > 1:
        changes = np.any(changes, axis=tuple(range(1, lined.ndim)))
    found, where, counts = _without_repeats(lined, changes, slice(None) if inverse else None,
                                            x.shape if dim is None else (len(lined),))
    return found if dim is None else np.moveaxis(found, 0, dim), where, counts


def _lined(x: Array, dim: int) -> Array:
    """`x` with `dim` as its first axis. Raises RuntimeError if the slices are empty."""
    if not x.shape[dim] and x.shape.count(0) > 1:
        raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
    if 0 in x.shape and x.shape[dim]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return np.moveaxis(x, dim, 0)


def _without_repeats(ordered: Array, changes: Array, indices: Array | slice | None, shape: tuple[int, ...]) -> Found:
    """The first element of each run, the inverse indices, and the counts. `changes` marks where a new run starts."""
    new = np.concatenate([np.ones(len(ordered[:1]), bool), changes])
    starts = np.flatnonzero(new)
    counts = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=counts[:-1])
    counts[-1:] = len(new) - starts[-1:]
    inverse = np.empty(0 if indices is None else len(ordered), np.int64)
    if indices is not None:
        inverse[indices] = np.cumsum(new) - 1
        inverse = inverse.reshape(shape)
    return ordered.take(starts, 0), inverse, counts


def isin(x: Array, tests: Array, invert: bool) -> Any:
    """Whether each element is among the elements of `tests`, or with `invert`, whether it is not."""
    return np.asarray(np.isin(x, tests, invert=invert))
