"""The unique elements of an array, their inverse indices, and their counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes import refuse
from .argsort import order

Array = np.ndarray[Any, Any]
Found = tuple[Array, Array, Array]


def unique(x: Any, inverse: bool) -> Found:
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


def unique_dim(x: Any, dim: int) -> Found:
    """`unique` for the slices along `dim`, sorted lexicographically."""
    refuse(x.dtype, "unique_dim")
    lined = _lined(x, dim)
    rows = lined.reshape(len(lined), math.prod(lined.shape[1:]))
    indices = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    ordered = rows[indices]
    values, inverse, counts = _without_repeats(lined[indices], np.any(ordered[1:] != ordered[:-1], axis=1), indices,
                                               (len(rows),))
    return np.moveaxis(values, 0, dim), inverse, counts


def unique_consecutive(x: Any, dim: int | None, inverse: bool) -> Found:
    """The elements, or the slices along `dim`, without those that equal the element before them.

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


def isin(x: Any, tests: Any, invert: Any) -> Any:
    """Whether each element is among the elements of `tests`, or with `invert`, whether it is not."""
    return np.asarray(np.isin(x, tests, invert=invert))
