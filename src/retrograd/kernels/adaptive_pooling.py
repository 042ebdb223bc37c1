"""Maxima and means over as many windows as a result is to have, and over windows at random places.

Window i of m along a dimension of n goes from floor(i n / m) to ceil((i + 1) n / m). As in `pooling`, one dimension is
taken after the other, and images are (..., *space).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..dtypes import F16, F32
from .pooling import along, avg_pool, avg_pool_backward, largest, max_pool

Sizes = tuple[int, ...]


def ends(size: int, outputs: int) -> tuple[list[int], list[int]]:
    """The first place of each window, and the one after its last."""
    return ([i * size // outputs for i in range(outputs)], [-(-(i + 1) * size // outputs) for i in range(outputs)])


def _dims(sizes: Sizes, to: Sizes) -> list[tuple[int, int, int]]:
    """For each of the last dimensions, the last first: how far from the end it is, its size, and how many windows."""
    return [(back, sizes[-back], to[-back]) for back in range(1, len(to) + 1)]


def _alike(sizes: Sizes, to: Sizes) -> Sizes:
    """The size of the windows, where all have the same, and so are those of ordinary pooling; else nothing."""
    pairs = [*zip(sizes[len(sizes) - len(to):], to)]
    return tuple([n // m for n, m in pairs]) if all([m and not n % m for n, m in pairs]) else ()


def adaptive_max_pool(x: Any, to: Sizes) -> Any:
    """The maxima, and where each is in its image."""
    same = _alike(x.shape, to)
    if same:
        none = (0,) * len(to)
        return max_pool(x, same, same, none, (1,) * len(to), False)
    values, indices = x, None
    for back, size, count in _dims(x.shape, to):
        step = math.prod(x.shape[x.ndim - back + 1:])
        starts, stops = [np.asarray(places, np.int64) for places in ends(size, count)]
        width = max(1, int((stops - starts).max(initial=1)))
        # Windows are not all as wide: the last place of a narrow one comes once more.
        taps = [np.minimum(starts + i, stops - 1) for i in range(width)]
        values, indices = largest(_seen(values, indices, back, taps, step))
    return np.ascontiguousarray(values), np.ascontiguousarray(indices)


def _seen(x: Any, indices: Any, back: int, taps: list[Any], step: int) -> Iterator[tuple[Any, Any]]:
    """For each place in the windows what all of them have there, and its index."""
    axis = x.ndim - back
    for tap in taps:
        value, place = np.take(x, tap, axis), (tap * step).reshape(-1, *[1] * (back - 1))
        yield value, np.broadcast_to(place, value.shape) if indices is None else np.take(indices, tap, axis) + place


def adaptive_avg_pool(x: Any, to: Sizes) -> Any:
    """The means."""
    same = _alike(x.shape, to)
    if same:
        return avg_pool(x, same, same, (0,) * len(to), False, True, None).astype(x.dtype, copy=False)
    if x.dtype == F16:
        return adaptive_avg_pool(x.astype(F32), to).astype(F16)
    for back, size, count in _dims(x.shape, to):
        axis = x.ndim - back
        result = np.empty((*x.shape[:axis], count, *x.shape[axis + 1:]), x.dtype)
        for i, (start, stop) in enumerate(zip(*ends(size, count))):
            np.mean(x[along(back, slice(start, stop))], axis, out=result[along(back, i)])
        x = result
    return x


def adaptive_avg_pool_backward(g: Any, sizes: Sizes, dims: int) -> Any:
    """The adjoint of `adaptive_avg_pool` of images whose last `dims` dimensions have these sizes."""
    same = _alike(sizes, g.shape[g.ndim - dims:])
    if same:
        return avg_pool_backward(g, sizes, same, same, (0,) * dims, False, True, None)
    if g.dtype == F16:
        return adaptive_avg_pool_backward(g.astype(F32), sizes, dims).astype(F16)
    for back in range(dims, 0, -1):
        axis = g.ndim - back
        result = np.zeros((*g.shape[:axis], sizes[-back], *g.shape[axis + 1:]), g.dtype)
        for i, (start, stop) in enumerate(zip(*ends(sizes[-back], g.shape[axis]))):
            result[along(back, slice(start, stop))] += g[along(back, slice(i, i + 1))] / (stop - start)
        g = result
    return g


def fractional_max_pool(x: Any, samples: Any, kernel: Sizes, to: Sizes) -> Any:
    """The maxima over windows of these sizes, whose places a sample for each image and dimension decides (Graham 2014).

    The samples are (..., dims) of numbers in [0, 1). Those of images are for the width and the height, in this order,
    those of volumes for the depth, the height and the width.
    """
    values, indices, dims = x, None, len(to)
    for back in range(1, dims + 1):
        axis, step, count = x.ndim - back, math.prod(x.shape[x.ndim - back + 1:]), to[-back]
        starts = intervals(samples[..., back - 1 if dims == 2 else dims - back], x.shape[axis], kernel[-back], count)
        starts = starts.reshape(*starts.shape[:-1], *[1] * (dims - back), count, *[1] * (back - 1))
        places = np.broadcast_to(starts, (*values.shape[:axis], count, *values.shape[axis + 1:]))
        values, indices = largest(_seen_at(values, indices, axis, [places + i for i in range(kernel[-back])], step))
    return np.ascontiguousarray(values), np.ascontiguousarray(indices)


def _seen_at(x: Any, indices: Any, axis: int, taps: list[Any], step: int) -> Iterator[tuple[Any, Any]]:
    """The same where each line has windows of its own."""
    for tap in taps:
        yield (np.take_along_axis(x, tap, axis),
               tap * step if indices is None else np.take_along_axis(indices, tap, axis) + tap * step)


def intervals(sample: Any, size: int, kernel: int, count: int) -> Any:
    """Where the windows begin: (..., count) places for samples (...)."""
    last = np.full((*sample.shape, 1), size - kernel)
    if count == 1:
        return last
    step = sample.dtype.type((size - kernel) / (count - 1))
    first = sample[..., None]
    rest = ((np.arange(count - 1).astype(sample.dtype) + first) * step).astype(np.int64)
    return np.concatenate((rest - (first * step).astype(np.int64), last), -1)
