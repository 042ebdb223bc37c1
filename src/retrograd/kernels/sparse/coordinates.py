"""Coordinates of sparse arrays: as single numbers, in order, summed up; and the way to and from dense arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, letter
from ..networks.adding_rows import add_rows
from .arrays import Coo


def keys(indices: Array, shape: tuple[int, ...]) -> Array:
    """Each column of `indices` as one number: its place in an array of `shape`, row by row."""
    found = np.zeros(indices.shape[1], np.int64)
    for row, size in zip(indices, shape):
        found *= size
        found += row
    return found


def coalesce(x: Coo) -> Coo:
    """The array with its indices in order and each index once. Elements with the same index are added in order."""
    if x.coalesced:
        return x
    key = keys(x.indices, x.shape)
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.ones(len(key), bool)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    values = x.values[order]
    if len(starts) != len(key):
        values = summed(values, np.cumsum(first) - 1, len(starts))
    return Coo(np.ascontiguousarray(x.indices[:, order[starts]]), values, x.shape, True)


def summed(values: Array, groups: Array, count: int) -> Array:
    """The sums of the values of each group, along the first dimension, added one after the other."""
    total = np.zeros((count, *values.shape[1:]), values.dtype)
    if letter(total.dtype) in "fc":
        np.negative(total, out=total)                       # a sum of -0.0 is -0.0
    if total.size:
        add_rows(total.reshape(count, -1), groups, values.reshape(len(groups), total.size // count))
    return total


def pattern(indices: Array, shape: tuple[int, ...]) -> Coo:
    """An array that has indices, and zeros for values."""
    return Coo(indices, np.broadcast_to(np.float32(0), (indices.shape[1], *shape[indices.shape[0]:])), shape)


def places(a: Coo) -> tuple[Array, ...]:
    """The index of a dense array that takes the stored elements."""
    return tuple(a.indices)


def to_dense(x: Coo) -> Array:
    """The dense array with the same elements."""
    out = np.zeros(x.shape, x.values.dtype)
    if x.coalesced and x.indices.shape[0]:
        out[places(x)] += x.values                          # a sum, so that -0.0 becomes 0.0 as in PyTorch
        return out
    return add_to(out, x)


def add_to(out: Array, a: Coo) -> Array:
    """Add a sparse array to a dense array in place."""
    if not a.indices.shape[0]:
        for value in a.values:
            out += value
    elif a.coalesced:
        out[places(a)] += a.values.astype(out.dtype, copy=False)
    elif out.flags.c_contiguous and out.size:
        rows = math.prod(a.shape[:a.indices.shape[0]])
        add_rows(out.reshape(rows, -1), keys(a.indices, a.shape), a.values.reshape(a.nnz, out.size // rows))
    else:
        np.add.at(out, places(a), a.values.astype(out.dtype, copy=False))
    return out


def from_dense(x: Array, sparse_dim: int, coalesced: bool = True) -> Coo:
    """The elements that are not zero. With dense dimensions, the parts with an element that is not zero."""
    if not x.ndim:
        count = int(bool(x != 0))
        return Coo(np.zeros((0, count), np.int64), np.full(count, x, x.dtype), (), True)
    told = x != 0
    if sparse_dim < x.ndim:
        told = told.any(axis=tuple(range(sparse_dim, x.ndim)))
    found = np.nonzero(told)
    return Coo(np.array(found, np.int64).reshape(sparse_dim, -1), x[found], x.shape, coalesced)


def by_coordinates(x: Any, sparse_dim: int) -> Coo:
    """A dense array as a sparse array with so many sparse dimensions; a sparse array as it is."""
    return x if isinstance(x, Coo) else from_dense(x, sparse_dim)


def whole(x: Array) -> Coo:
    """A dense array with all its elements stored."""
    indices = np.indices(x.shape).reshape(x.ndim, -1)
    return Coo(indices, x.reshape(-1).copy(), x.shape, True)


def masked(x: Any, mask: Coo) -> Coo:
    """The elements of a dense or sparse array at the indices of `mask`; 0 where a sparse array stores none."""
    if not isinstance(x, Coo):
        values = x[places(mask)] if mask.indices.shape[0] else np.broadcast_to(x, mask.values.shape)
        return Coo(mask.indices, np.ascontiguousarray(values), mask.shape, mask.coalesced)
    sparse_dim = mask.indices.shape[0]
    x = with_sparse_dims(coalesce(x), sparse_dim)
    wanted, stored = keys(mask.indices, mask.shape), keys(x.indices, x.shape)
    values = np.zeros((mask.nnz, *mask.shape[sparse_dim:]), x.dtype)
    if stored.size:
        at = np.minimum(np.searchsorted(stored, wanted), stored.size - 1)
        hit = stored[at] == wanted
        values[hit] = x.values[at[hit]]
    return Coo(mask.indices, values, mask.shape, mask.coalesced)


def masked_once(x: Any, mask: Coo) -> Coo:
    """The elements of a dense or sparse array at the indices of `mask`, each once and in order."""
    return masked(x, coalesce(mask))


def with_sparse_dims(a: Coo, sparse_dim: int) -> Coo:
    """The same array with another number of sparse dimensions."""
    return a if a.indices.shape[0] == sparse_dim else from_dense(to_dense(a), sparse_dim)


def resized(x: Array, shape: tuple[int, ...]) -> Array:
    """The elements of an array in an array of another shape: a part of them, or zeros around them."""
    out = np.zeros(shape, x.dtype)
    shared = tuple(slice(min(m, n)) for m, n in zip(x.shape, shape))
    out[shared] = x[shared]
    return out
