"""Indexing by arrays, with results that lie in memory as PyTorch's do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ..layout import broadcast_strides, by_falling_strides, empty_strided, steps
from ..shape import view
from . import indexing


def index(x: Array, indices: Sequence[Any]) -> Any:
    """The elements that arrays of indices select, one array for each leading dimension.

    The axes that are not indexed keep their order in memory, and so do the axes of the arrays of indices.
    """
    found = indexing.index(x, indices)
    if x.flags.c_contiguous and found.flags.c_contiguous and indices[-1].ndim == 1 and len(indices) == 1:
        return found                                     # the usual case, with fewer calls
    if found.ndim < 2 or not found.size or all([i is None or i.flags.c_contiguous for i in (x, *indices)]):
        return np.ascontiguousarray(found)
    order = by_falling_strides(found.shape, _strides(x, indices, found))
    strides, step = [0] * found.ndim, 1
    for axis in reversed(order):
        strides[axis] = step
        step *= found.shape[axis]
    if order == [*range(found.ndim)]:
        return np.ascontiguousarray(found)
    out = empty_strided(found.shape, tuple(strides), found.dtype)
    out[...] = found
    return out


def _strides(x: Array, indices: Sequence[Any], found: Array) -> list[tuple[int, ...]]:
    """The strides of `x` and of the arrays of indices for the axes of the result; 0 for an axis that they repeat."""
    own, indexed, axis = steps(x), [], 0
    for i in indices:
        count = i.ndim if i is not None and i.dtype.kind == "b" else 1
        indexed += [] if i is None else [*range(axis, axis + count)]
        axis += count
    others = [each for each in range(x.ndim) if each not in indexed]
    apart = indexed[-1] - indexed[0] >= len(indexed)                 # then the axes of the indices come first
    first, new = 0 if apart else indexed[0], found.ndim - len(others)
    chosen = [own[each] for each in others]
    arrays = [i for i in indices if i is not None and i.dtype.kind != "b"]
    shape = found.shape[first:first + new]
    placed = (1,) * first + shape + (1,) * (len(others) - first)
    return [(*chosen[:first], *[0] * new, *chosen[first:]),
            *[broadcast_strides(view(np.broadcast_to(i, shape), placed), found.shape) for i in arrays]]
