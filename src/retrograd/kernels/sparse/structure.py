"""Dimensions of sparse arrays: moved, selected, narrowed, joined. Only indices change, and which elements are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from .arrays import Coo


def permute(a: Coo, dims: tuple[int, ...]) -> Coo:
    """The array with its dimensions in the order `dims`. Sparse dimensions stay before dense ones."""
    sparse_dim = a.indices.shape[0]
    dims = tuple(dim % a.ndim for dim in dims)
    if any((dim < sparse_dim) != (at < sparse_dim) for at, dim in enumerate(dims)):
        raise noted(
            RuntimeError("permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.Only "
                         "transpositions within sparse and dense dimensions are supported."),
            given=f"{sparse_dim} sparse dimensions, and the order {list(dims)}", instead="call it on x.to_dense()")
    order = [0, *(dim - sparse_dim + 1 for dim in dims[sparse_dim:])]
    keeps = a.coalesced and dims[:sparse_dim] == (*range(sparse_dim),)
    return Coo(a.indices[[*dims[:sparse_dim]]], a.values.transpose(order), tuple([a.shape[dim] for dim in dims]),
               rounds=a.rounds).marked(keeps)


def check_turned(a: Coo, dim0: int, dim1: int) -> None:
    """Raises RuntimeError if one of two dimensions that are to be swapped is dense."""
    if max(dim0, dim1) >= a.indices.shape[0]:
        raise RuntimeError("sparse transpose: transposed dimensions must be sparse Got sparse_dim: "
                           f"{a.indices.shape[0]}, d0: {dim0}, d1: {dim1}")


def transpose(a: Coo, dim0: int, dim1: int) -> Coo:
    """The array with two dimensions swapped."""
    dims = [*range(a.ndim)]
    dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    turned = permute(a, tuple(dims))
    return turned.marked(turned.coalesced or (a.coalesced and not a.nnz))


def t(a: Coo) -> Coo:
    """The transposed matrix; a vector as it is."""
    return transpose(a, 0, 1) if a.ndim == 2 else a


def unsqueeze(a: Coo, dim: int) -> Coo:
    """The array with a dimension of size 1 at `dim`."""
    dim = dim % (a.ndim + 1)
    sparse_dim, shape = a.indices.shape[0], (*a.shape[:dim], 1, *a.shape[dim:])
    if dim > sparse_dim:
        return Coo(a.indices, np.expand_dims(a.values, dim - sparse_dim + 1), shape)
    return Coo(np.insert(a.indices, dim, 0, axis=0), a.values, shape)


def squeeze_dim(a: Coo, dim: int) -> Coo:
    """The array without a dimension of size 1."""
    sparse_dim, shape = a.indices.shape[0], (*a.shape[:dim], *a.shape[dim + 1:])
    if a.shape[dim] != 1:
        return a
    if dim >= sparse_dim:
        return Coo(a.indices, np.squeeze(a.values, dim - sparse_dim + 1), shape, a.coalesced)
    return Coo(np.delete(a.indices, dim, axis=0), a.values, shape, a.coalesced)


def select(a: Coo, dim: int, index: int) -> Any:
    """The part of the array at one index of a dimension: sparse, or dense if no sparse dimension is left."""
    dim, index = dim % a.ndim, index % a.shape[dim % a.ndim]
    sparse_dim, shape = a.indices.shape[0], (*a.shape[:dim], *a.shape[dim + 1:])
    if dim >= sparse_dim:
        values = np.take(a.values, index, axis=dim - sparse_dim + 1)
        return Coo(a.indices, values, shape)
    kept = np.flatnonzero(a.indices[dim] == index)
    if sparse_dim == 1:
        return np.asarray(a.values[kept].sum(axis=0, dtype=a.dtype))
    return Coo(np.delete(a.indices[:, kept], dim, axis=0), a.values[kept], shape)


def unbind(a: Coo, dim: int) -> tuple[Any, ...]:
    """The parts of the array at each index of a dimension."""
    return tuple(select(a, dim, i) for i in range(a.shape[dim]))


def narrow(x: Any, dim: int, start: int, length: int) -> Any:
    """The part of the array from `start`, `length` long, along a dimension."""
    if not isinstance(x, Coo):
        return x[(slice(None),) * dim + (slice(start, start + length),)].copy()
    sparse_dim, shape = x.indices.shape[0], (*x.shape[:dim], length, *x.shape[dim + 1:])
    if dim >= sparse_dim:
        along = dim - sparse_dim + 1
        return Coo(x.indices, np.take(x.values, range(start, start + length), axis=along), shape).marked(x.coalesced)
    kept = np.flatnonzero((x.indices[dim] >= start) & (x.indices[dim] < start + length))
    indices = x.indices[:, kept]
    indices[dim] -= start
    return Coo(indices, x.values[kept], shape).marked(x.coalesced)


def widened(g: Any, shape: tuple[int, ...], dim: int, start: int) -> Any:
    """An array of `shape` whose part from `start` along a dimension is `g`: the adjoint of `narrow`."""
    if not isinstance(g, Coo):
        wide = np.zeros(shape, g.dtype)
        wide[(slice(None),) * dim + (slice(start, start + g.shape[dim]),)] = g
        return wide
    indices = g.indices.copy()
    indices[dim] += start
    return Coo(indices, g.values, shape, g.coalesced)


def index_select(a: Coo, index: Array, dim: int) -> Coo:
    """The parts of the array at the indices `index` of a dimension, in their order; an index may occur again."""
    sparse_dim, index = a.indices.shape[0], np.where(index < 0, index + a.shape[dim], index).reshape(-1)
    shape = (*a.shape[:dim], index.size, *a.shape[dim + 1:])
    if dim >= sparse_dim:
        return Coo(a.indices, np.take(a.values, index, axis=dim - sparse_dim + 1), shape)
    order = np.argsort(a.indices[dim], kind="stable")
    held = a.indices[dim][order]
    low, high = np.searchsorted(held, index, "left"), np.searchsorted(held, index, "right")
    lengths = high - low
    taken = order[ranges(low, lengths)]
    indices = a.indices[:, taken]
    indices[dim] = np.repeat(np.arange(index.size), lengths)
    return Coo(indices, a.values[taken], shape)


def ranges(starts: Array, lengths: Array) -> Array:
    """The ranges that begin at `starts`, one behind the other, as one array of ints."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    within: Array = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return within


def concatenate(arrays: Sequence[Coo], axis: int = 0) -> Coo:
    """Sparse arrays one behind the other along a dimension."""
    first = arrays[0]
    sparse_dim, dim = first.indices.shape[0], axis % first.ndim
    for i, a in enumerate(arrays):
        if a.ndim != first.ndim or any(m != n for at, (m, n) in enumerate(zip(a.shape, first.shape)) if at != dim):
            raise RuntimeError("All tensors must have the same shape: " + f"{list(first.shape)} (except in the "
                               f"concatenating dimension), but found shape: {list(a.shape)} at position {i}.")
        if a.indices.shape[0] != sparse_dim:
            raise RuntimeError("All tensors must have the same sparse_dim and dense_dim: "
                               f"{sparse_dim}, {first.ndim - sparse_dim}, but tensor at position {i} has "
                               f"{a.indices.shape[0]}, {a.ndim - a.indices.shape[0]}.")
    shape = (*first.shape[:dim], sum(a.shape[dim] for a in arrays), *first.shape[dim + 1:])
    if dim >= sparse_dim:
        return _side_by_side(arrays, dim - sparse_dim, shape)
    parts, start = [], 0
    for a in arrays:
        indices = a.indices.copy()
        indices[dim] += start
        parts.append(indices)
        start += a.shape[dim]
    return Coo(np.concatenate(parts, axis=1), np.concatenate([a.values for a in arrays]), shape)


def _side_by_side(arrays: Sequence[Coo], dense_dim: int, shape: tuple[int, ...]) -> Coo:
    """Sparse arrays joined along a dense dimension. Around its own elements each array has zeros."""
    values, start = [], 0
    for a in arrays:
        wide = np.zeros((a.nnz, *shape[a.indices.shape[0]:]), a.dtype)
        at = (slice(None),) * (dense_dim + 1)
        size = a.values.shape[dense_dim + 1]
        wide[(*at, slice(start, start + size))] = a.values
        values.append(wide)
        start += size
    return Coo(np.concatenate([a.indices for a in arrays], axis=1), np.concatenate(values), shape)


def stack(arrays: Sequence[Coo], axis: int = 0) -> Coo:
    """Sparse arrays of one shape as one array with a new dimension."""
    return concatenate([unsqueeze(a, axis) for a in arrays], axis)


