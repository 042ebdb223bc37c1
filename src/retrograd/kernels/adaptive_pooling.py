"""Maxima and means over as many windows as a result is to have, and over windows at random places.

Window i of m along a dimension of n goes from floor(i n / m) to ceil((i + 1) n / m). As in `pooling`, one dimension is
taken after the other, and images are (..., *space).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import F16, F32

Sizes = tuple[int, ...]


def ends(size: int, outputs: int) -> tuple[list[int], list[int]]:
    """The first place of each window, and the one after its last."""
    return ([i * size // outputs for i in range(outputs)], [-(-(i + 1) * size // outputs) for i in range(outputs)])


def _dims(sizes: Sizes, to: Sizes) -> list[tuple[int, int, int]]:
    """For each of the last dimensions, the last first: how far from the end it is, its size, and how many windows."""
    return [(back, sizes[-back], to[-back]) for back in range(1, len(to) + 1)]


def adaptive_max_pool(x: Any, to: Sizes) -> Any:
    """The maxima, and where each is in its image."""
    values, indices = x, None
    for back, size, count in _dims(x.shape, to):
        step = math.prod(x.shape[x.ndim - back + 1:])
        starts, stops = map(np.asarray, ends(size, count))
        width = int((stops - starts).max(initial=0))
        # Windows are not all as wide: the last place of a narrow one comes once more.
        taps = [np.minimum(starts + i, stops - 1).astype(np.int64) for i in range(width)]
        values, indices = _max_over(values, indices, back, taps or [np.zeros(0, np.int64)], step)
    return np.ascontiguousarray(values), np.ascontiguousarray(indices)


def _max_over(x: Any, indices: Any, back: int, taps: list[Any], step: int) -> tuple[Any, Any]:
    best = chosen = None
    for tap in taps:
        axis = x.ndim - back
        value, place = np.take(x, tap, axis), (tap * step).reshape(-1, *[1] * (back - 1))
        index = np.take(indices, tap, axis) + place if indices is not None else np.broadcast_to(place, value.shape)
        if best is None:
            best, chosen = value, index.copy()
        else:
            better = (value > best) | (value != value)
            np.copyto(best, value, where=better)
            np.copyto(chosen, index, where=better)
    return best, chosen


def adaptive_avg_pool(x: Any, to: Sizes) -> Any:
    """The means."""
    if x.dtype == F16:
        return adaptive_avg_pool(x.astype(F32), to).astype(F16)
    for back, size, count in _dims(x.shape, to):
        axis, tail = x.ndim - back, (slice(None),) * (back - 1)
        result = np.empty((*x.shape[:axis], count, *x.shape[axis + 1:]), x.dtype)
        for i, (start, stop) in enumerate(zip(*ends(size, count))):
            np.mean(x[(..., slice(start, stop), *tail)], axis, out=result[(..., i, *tail)])
        x = result
    return x


def adaptive_avg_pool_backward(g: Any, sizes: Sizes, dims: int) -> Any:
    """The adjoint of `adaptive_avg_pool` of images whose last `dims` dimensions have these sizes."""
    if g.dtype == F16:
        return adaptive_avg_pool_backward(g.astype(F32), sizes, dims).astype(F16)
    for back in range(dims, 0, -1):
        axis, tail = g.ndim - back, (slice(None),) * (back - 1)
        result = np.zeros((*g.shape[:axis], sizes[-back], *g.shape[axis + 1:]), g.dtype)
        for i, (start, stop) in enumerate(zip(*ends(sizes[-back], g.shape[axis]))):
            result[(..., slice(start, stop), *tail)] += g[(..., slice(i, i + 1), *tail)] / (stop - start)
        g = result
    return g


def fractional_max_pool(x: Any, samples: Any, kernel: Sizes, to: Sizes) -> Any:
    """The maxima over windows of these sizes, whose places a sample for each image and dimension decides (Graham, 2014).

    The samples are (..., dims) of numbers in [0, 1), for the last dimension first.
    """
    values, indices, dims = x, None, len(to)
    for back in range(1, dims + 1):
        axis, step = x.ndim - back, math.prod(x.shape[x.ndim - back + 1:])
        starts = intervals(samples[..., back - 1 if dims == 2 else dims - back], x.shape[axis], kernel[-back], to[-back])
        starts = starts.reshape(*starts.shape[:-1], *[1] * (dims - back), to[-back], *[1] * (back - 1))
        best = chosen = None
        for i in range(kernel[-back]):
            at = np.broadcast_to(starts + i, (*values.shape[:axis], to[-back], *values.shape[axis + 1:]))
            value, index = np.take_along_axis(values, at, axis), at * step
            if indices is not None:
                index = index + np.take_along_axis(indices, at, axis)
            if best is None:
                best, chosen = value, index.copy()
            else:
                better = (value > best) | (value != value)
                np.copyto(best, value, where=better)
                np.copyto(chosen, index, where=better)
        values, indices = best, chosen
    return np.ascontiguousarray(values), np.ascontiguousarray(indices)


def intervals(sample: Any, size: int, kernel: int, count: int) -> Any:
    """Where the windows begin: (..., count) places for samples (...)."""
    last = np.full((*sample.shape, 1), size - kernel)
    if count == 1:
        return last
    step = sample.dtype.type((size - kernel) / (count - 1))
    first = sample[..., None]
    rest = ((np.arange(count - 1).astype(sample.dtype) + first) * step).astype(np.int64)
    return np.concatenate((rest - (first * step).astype(np.int64), last), -1)
