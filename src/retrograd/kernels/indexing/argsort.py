"""Stable sort orders as indices. A nan counts as the largest value.

NumPy sorts 64-bit integers many times faster than it sorts indices. So if the elements fit into 32 bits, they become
integers of the same order, with their index in the lower 32 bits, and these integers are sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import I64, Array
from ..native.threads import in_parts
from ..thresholds import ARGSORT

_LOW = (1 << 32) - 1


def order(x: Array, dim: int, descending: bool = False) -> Any:
    """The indices that sort `x` along `dim`. Equal elements keep their order."""
    if x.ndim == 0:
        return np.zeros((), I64)
    if x.size < ARGSORT or x.shape[dim] < 2:
        if not descending:
            return x.argsort(dim, kind="stable")
        backwards = (slice(None),) * dim + (slice(None, None, -1),)
        return x.shape[dim] - 1 - x[backwards].argsort(dim, kind="stable")[backwards]
    rows = np.ascontiguousarray(np.moveaxis(x, dim, -1))
    found = np.empty(rows.shape, I64)
    flat, out = rows.reshape(-1, rows.shape[-1]), found.reshape(-1, rows.shape[-1])

    def work(start: int, stop: int) -> None:
        keys = _keys(flat[start:stop])
        if descending:
            keys = ~keys
        np.copyto(out[start:stop], _packed(keys) if keys.itemsize == 4 else _repaired(keys))

    in_parts(work, len(flat), x.size * 8.0)
    return np.moveaxis(found, -1, dim)


def _keys(x: Array) -> Any:
    """Integers in the order of `x`, with 32 bits if possible. -0.0 counts as 0.0, and all nans are one number."""
    if x.dtype.kind != "f":
        if x.itemsize < 4 or x.dtype == np.int32:
            return x.astype(np.int32, copy=False)
        least = int(x.min())
        return (x - least).astype(np.int32) if int(x.max()) - least < 1 << 31 else x
    if x.itemsize == 2:
        x = x.astype(np.float32)
    signed: Any = np.int32 if x.itemsize == 4 else I64
    bits = (x + x.dtype.type(0)).view(signed)               # the sum turns -0.0 into 0.0
    nans = np.isnan(x)
    if nans.any():
        bits[nans] = np.iinfo(signed).max
    bits ^= (bits >> (8 * x.itemsize - 1)) & np.iinfo(signed).max
    return bits


def _packed(keys: Array) -> Array:
    """The sort order of rows of 32-bit keys."""
    pairs = keys.astype(I64)
    pairs <<= 32
    pairs |= np.arange(keys.shape[-1])
    pairs.sort(-1)
    pairs &= _LOW
    return pairs


def _repaired(keys: Array) -> Array:
    """The sort order of rows of 64-bit keys: NumPy's argsort, with runs of equal keys then sorted by index."""
    indices = np.argsort(keys, -1)
    ordered = np.take_along_axis(keys, indices, -1)
    new = ordered[:, 1:] != ordered[:, :-1]
    if new.all():
        return indices
    runs = np.zeros(keys.shape, I64)
    np.cumsum(new, -1, out=runs[:, 1:])
    runs <<= 32
    runs |= indices
    runs.sort(-1)
    runs &= _LOW
    return runs


def first_few(x: Array, k: int, dim: int, largest: bool) -> Any:
    """The indices of the k largest or smallest elements along `dim`, in order.

    If several elements equal the last of the k, any of them may be chosen.
    """
    n = x.shape[dim]
    if x.size < ARGSORT or 4 * k > n or not k:
        return order(x, dim, largest)[(slice(None),) * dim + (slice(k),)]
    last = dim == x.ndim - 1
    lines = np.ascontiguousarray(x if last else np.moveaxis(x, dim, -1))
    starts, rank = np.arange(0, lines.size, n)[:, None], n - k if largest else k - 1
    near = _up_to(np.partition(lines, rank)[..., rank:rank + 1], lines, starts, k, largest)
    if near is None:
        near = np.argpartition(lines, rank)[..., slice(n - k, None) if largest else slice(k)].reshape(-1, k)
        near.sort()
        near += starts
    by_value = order(lines.reshape(-1)[near], 1, largest) + np.arange(0, near.size, k)[:, None]
    found = (near.reshape(-1)[by_value] - starts).reshape(*lines.shape[:-1], k)
    return found if last else np.moveaxis(found, -1, dim)


def _up_to(bounds: Array, lines: Array, starts: Array, k: int, largest: bool) -> Array | None:
    """The k places of each line that are not beyond the line's bound, as flat indices; None if the counts are not k.

    Equal elements may make too many places, and nans none. NumPy finds a bound several times faster than places.
    """
    near: Array = np.flatnonzero(lines >= bounds if largest else lines <= bounds)
    if near.size != k * len(starts):
        return None
    near = near.reshape(-1, k)
    own = (near[:, :1] >= starts) & (near[:, -1:] < starts + lines.shape[-1])
    return near if own.all() else None


def at_rank(x: Array, rank: int, dim: int) -> tuple[Array, Array]:
    """The elements of this rank along `dim`, which keeps size 1, and their indices in the stable order."""
    rest = (slice(None),) * dim
    parted = x.copy()
    parted.partition(rank, dim)
    values = parted[(*rest, slice(rank, rank + 1))]
    equal, less = x == values, np.add.reduce(x < values, dim, np.intp, keepdims=True)
    if x.dtype.kind == "f" and (lost := np.isnan(values)).any():
        nans = np.isnan(x)
        equal |= lost & nans
        less = np.where(lost, x.shape[dim] - np.count_nonzero(nans, axis=dim, keepdims=True), less)
    behind = rank - less
    if behind.any():
        equal &= np.cumsum(equal, dim) > behind
    return values, equal.argmax(dim, keepdims=True)
