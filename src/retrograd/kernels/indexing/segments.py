"""Reductions of consecutive segments of rows.

An index gives the segment of each element of the data. An index past the last segment means no segment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .scattering import scatter_reduce_into

_EMPTY = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
_NAMES = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}


def segments_of(bounds: Any, length: int, dim: int, shape: tuple[int, ...]) -> Any:
    """The index for data of this shape, given the sorted bounds between segments along the last dimension."""
    place = np.arange(length)
    rows = bounds.reshape(-1, bounds.shape[-1])
    count = bounds.shape[-1] - 1
    index = np.empty((len(rows), length), np.int64)
    for row, own in zip(index, rows):
        row[:] = np.searchsorted(own[1:], place, side="right")
        row[place < own[0]] = count
    lead = (*bounds.shape[:-1], length) + (1,) * (len(shape) - dim - 1)
    return np.broadcast_to(index.reshape(lead), shape)


def segment_reduce(x: Any, index: Any, lengths: Any, dim: int, reduce: str, initial: float | None) -> Any:
    """The elements of each segment combined with each other, and with `initial` if it is given.

    `lengths` has as many dimensions as `x`, and holds the number of elements of each segment.
    """
    count = lengths.shape[dim]
    shape = (*x.shape[:dim], count + 1, *x.shape[dim + 1:])
    out = np.full(shape, _EMPTY[reduce] if initial is None else initial, x.dtype)
    scatter_reduce_into(out, x, np.ascontiguousarray(index), dim, _NAMES[reduce], True)
    out = np.ascontiguousarray(out[(slice(None),) * dim + (slice(0, count),)])
    if reduce == "mean":                                     # the mean of an empty segment is `initial`, or nan
        divisor = lengths if initial is None else np.maximum(lengths, 1)
        np.divide(out, divisor.astype(x.dtype), out=out)
    return out
