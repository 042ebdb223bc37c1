"""Sums, norms and softmax of sparse arrays. In a softmax an element that is not stored counts as minus infinity."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import F32, I64, NARROW, Array, legacy, require
from ..sums import sum_dim
from .arrays import Coo, SparseLike
from .coordinates import coalesce, keys
from .elementwise import zeros_like
from .structure import unsqueeze


def sum_all(a: SparseLike, dtype: np.dtype[Any] | None = None) -> Array:
    """The sum of all elements. Ints are summed in 64 bits, unless `dtype` is given."""
    return _sums(a.values, tuple(range(a.values.ndim)), dtype)


def _sums(values: Array, axes: tuple[int, ...], dtype: np.dtype[Any] | None) -> Array:
    """The sums over axes of the stored elements, as of an array without holes. Narrow floats are added in float32."""
    if dtype is None and values.dtype in NARROW:
        return np.asarray(sum_dim(values.astype(F32), axes, False, None)).astype(values.dtype)
    return np.asarray(sum_dim(values, axes, False, dtype))


def sum_wide(a: Coo, axes: tuple[int, ...], keepdim: bool, dtype: np.dtype[Any] | None) -> Any:
    """`sum_dims`, of ints in 64 bits, unless a `dtype` was given, which `a` has by now.

    With `keepdim`, no axes are all axes, as in PyTorch.
    """
    total = sum_dims(a, axes, I64 if dtype is None and a.dtype.kind in "biu" else None)
    for axis in sorted(axes or range(a.ndim)) if keepdim else ():
        total = unsqueeze(total, axis) if isinstance(total, Coo) else np.expand_dims(total, axis)
    return total


def sum_dims(a: Coo, axes: tuple[int, ...], dtype: np.dtype[Any] | None = None) -> Any:
    """The sum over dimensions. It is dense if no sparse dimension is left.

    Ints keep their dtype if sparse dimensions are summed and others are left, and are summed in 64 bits otherwise.
    """
    sparse_dim = a.indices.shape[0]
    dense = tuple(axis - sparse_dim + 1 for axis in axes if axis >= sparse_dim)
    values = a.values if dtype is None else a.values.astype(dtype)
    values = _sums(values, dense, dtype) if dense else values
    kept = [axis for axis in range(sparse_dim) if axis not in axes]
    if not kept:
        return _sums(values, (0,), dtype)
    if dtype is None and values.dtype != a.dtype:
        raise RuntimeError(f"dtype of values ({legacy(values)}) must match dtype of sparse tensor ({legacy(a)})")
    shape = tuple([size for axis, size in enumerate(a.shape) if axis not in axes])
    return coalesce(Coo(a.indices[kept], values, shape, a.coalesced and len(kept) == sparse_dim))


def sum_backward(g: Any, x: Coo, axes: tuple[int, ...]) -> Coo:
    """The gradient of a sum over dimensions, at the indices of the summed array, each once."""
    x = coalesce(x)
    sparse_dim = x.indices.shape[0]
    axes = tuple(sorted(axes))
    kept = [axis for axis in range(sparse_dim) if axis not in axes]
    if isinstance(g, Coo):
        g, index = coalesce(g), x.indices[kept]
        wanted, stored = keys(index, g.shape), keys(g.indices, g.shape)
        values = np.zeros((x.nnz, *g.values.shape[1:]), g.dtype)
        if stored.size:
            at = np.minimum(np.searchsorted(stored, wanted), stored.size - 1)
            hit = stored[at] == wanted
            values[hit] = g.values[at[hit]]
    else:
        values = g[tuple(x.indices[kept])] if kept else np.broadcast_to(g, (x.nnz, *np.shape(g)))
    for axis in axes:
        if axis >= sparse_dim:
            values = np.expand_dims(values, axis - sparse_dim + 1)
    return Coo(x.indices, np.ascontiguousarray(np.broadcast_to(values, x.values.shape)), x.shape, True)


def norm(x: Coo) -> Array:
    """The 2-norm of all elements."""
    return np.asarray(np.sqrt(np.square(np.abs(coalesce(x).values)).sum()), coalesce(x).values.real.dtype)


def _pools(a: Coo, dim: int) -> tuple[Array, int]:
    """For each stored element, the number of its row along a sparse dimension; and the number of rows."""
    others = [axis for axis in range(a.indices.shape[0]) if axis != dim]
    key = keys(a.indices[others], tuple(a.shape[axis] for axis in others))
    found, pools = np.unique(key, return_inverse=True)
    return pools.reshape(-1), found.size


def _over(pools: Array, count: int, values: Array) -> Array:
    total = np.zeros((count, *values.shape[1:]), values.dtype)
    np.add.at(total, pools, values)
    return total[pools]


def softmax(a: Coo, dim: int, logarithm: bool = False) -> Coo:
    """The softmax of the stored elements along a dimension, or its logarithm."""
    a, sparse_dim, dim = coalesce(a), a.indices.shape[0], dim % max(a.ndim, 1)
    if not a.size:
        return zeros_like(a)
    require(a.dtype.name in ("float32", "float64"), "log_softmax" if logarithm else "softmax", a.dtype)
    if not a.ndim:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    if dim >= sparse_dim:
        along = dim - sparse_dim + 1
        shifted = a.values - a.values.max(axis=along, keepdims=True)
        powers = np.exp(shifted)
        total = powers.sum(axis=along, keepdims=True)
    else:
        pools, count = _pools(a, dim)
        largest = np.full((count, *a.values.shape[1:]), -np.inf, a.dtype)
        np.maximum.at(largest, pools, a.values)
        shifted = a.values - largest[pools]
        powers = np.exp(shifted)
        total = _over(pools, count, powers)
    return a.with_values(shifted - np.log(total) if logarithm else powers / total)


def pooled(x: Coo, dim: int) -> Coo:
    """The sums of the stored elements along a dimension, at the places of these elements."""
    dim, sparse_dim = dim % x.ndim, x.indices.shape[0]
    if dim < sparse_dim:
        return x.with_values(_over(*_pools(x, dim), x.values))
    total = x.values.sum(axis=dim - sparse_dim + 1, keepdims=True)
    return x.with_values(np.ascontiguousarray(np.broadcast_to(total, x.values.shape)))
