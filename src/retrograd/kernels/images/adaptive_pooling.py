"""Maxima and means over a given number of windows, and maxima over windows at random places.

Window i of m along a dimension of n goes from floor(i n / m) to ceil((i + 1) n / m). As in `pooling`, one dimension is
reduced after the other, and images are (..., *space).
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from itertools import repeat
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, F64, Array
from ..layout import beside_channels
from .pooling import avg_pool, avg_pool_backward, largest, max_pool

Sizes = tuple[int, ...]


def ends(size: int, outputs: int) -> tuple[list[int], list[int]]:
    """The start and the end of each window. The end lies just after the window."""
    return ([i * size // outputs for i in range(outputs)], [-(-(i + 1) * size // outputs) for i in range(outputs)])


def _dims(sizes: Sizes, to: Sizes) -> list[tuple[int, int, int]]:
    """For each of the last dimensions, the last first: its distance from the end, its size, and its windows."""
    return [(back, sizes[-back], to[-back]) for back in range(1, len(to) + 1)]


def _alike(sizes: Sizes, to: Sizes) -> Sizes:
    """The size of the windows if all have the same size, as in ordinary pooling. Otherwise an empty tuple."""
    pairs = [*zip(sizes[len(sizes) - len(to):], to)]
    return tuple([n // m for n, m in pairs]) if all([m and not n % m for n, m in pairs]) else ()


def adaptive_max_pool(x: Array, to: Sizes) -> Any:
    """The maxima, and the place of each in its image."""
    same = _alike(x.shape, to)
    if same:
        none = (0,) * len(to)
        volumes = np.ascontiguousarray(x) if len(to) == 3 else x           # PyTorch lays out volumes row by row
        return max_pool(volumes, same, same, none, (1,) * len(to), False)
    values, indices = x, None
    for back, size, count in _dims(x.shape, to):
        starts, stops = [np.asarray(places, np.int64) for places in ends(size, count)]
        width = max(1, int((stops - starts).max(initial=1)))
        # Windows differ in width: a narrow window repeats its last place.
        taps = [np.minimum(starts + i, stops - 1) for i in range(width)]
        axis = x.ndim - back
        values, taken = largest(map(np.take, repeat(values), taps, repeat(axis)), width)
        ahead = (-1, *[1] * (back - 1))
        places = np.minimum(starts.reshape(ahead) + taken, (stops - 1).reshape(ahead))
        indices = _placed(indices, places, axis, math.prod(x.shape[axis + 1:]))
    lay: Any = partial(beside_channels, images=x) if len(to) == 2 else np.ascontiguousarray
    return lay(values), lay(indices)


def _placed(indices: Array | None, places: Array, axis: int, step: int) -> Any:
    """The indices in an image: `places` along this axis, combined with `indices` for the axes after it."""
    far = places * step
    return far if indices is None else np.add(np.take_along_axis(indices, places, axis), far, out=far)


def adaptive_avg_pool(x: Array, to: Sizes) -> Any:
    """The means over the windows."""
    same = _alike(x.shape, to)
    if same:
        return avg_pool(x, same, same, (0,) * len(to), False, True, None).astype(x.dtype, copy=False)
    if x.dtype == F16:
        return adaptive_avg_pool(x.astype(F32), to).astype(F16)
    means = x
    for back, size, count in _dims(x.shape, to):
        axis, members = x.ndim - back, _members(size, count)
        sums = _sums(means if x.dtype.kind in "fc" else means.astype(F64), members, axis)
        sums /= members.sum(0).astype(sums.dtype).reshape(-1, *[1] * (back - 1))
        means = sums.astype(x.dtype, copy=False)
    return beside_channels(means, x) if len(to) == 2 else means


@lru_cache(maxsize=32)
def _members(size: int, count: int) -> Any:
    """A matrix (size, count) with 1 if a place is in a window, else 0."""
    found = np.zeros((size, count))
    for i, (start, stop) in enumerate(zip(*ends(size, count))):
        found[start:stop, i] = 1
    found.flags.writeable = False
    return found


def _sums(x: Array, members: Array, axis: int) -> Any:
    """The sums over an axis of the elements that each column of `members` marks, as a product of matrices."""
    matrix, ahead, after = members.astype(x.dtype), x.shape[:axis], x.shape[axis + 1:]
    if math.prod(after) == 1:
        out = np.matmul(x.reshape(math.prod(ahead), len(matrix)), matrix)
    else:
        out = np.matmul(matrix.T, x.reshape(math.prod(ahead), len(matrix), math.prod(after)))
    if not np.isfinite(out).all():                          # then elements outside count too, as inf * 0 is nan
        moved = np.moveaxis(x, axis, -1)
        out = np.stack([moved[..., column > 0].sum(-1) for column in matrix.T], axis)
    return out.reshape(*ahead, matrix.shape[1], *after)


def adaptive_avg_pool_backward(g: Array, sizes: Sizes, dims: int) -> Any:
    """The adjoint of `adaptive_avg_pool`, for images whose last `dims` dimensions have these sizes."""
    same = _alike(sizes, g.shape[g.ndim - dims:])
    if same:
        return avg_pool_backward(g, sizes, same, same, (0,) * dims, False, True, None)
    if g.dtype == F16:
        return adaptive_avg_pool_backward(g.astype(F32), sizes, dims).astype(F16)
    for back in range(dims, 0, -1):
        axis = g.ndim - back
        members = _members(sizes[-back], g.shape[axis])
        g = _sums(g / members.sum(0).astype(g.dtype).reshape(-1, *[1] * (back - 1)), members.T, axis)
    return g


def fractional_max_pool(x: Array, samples: Array, kernel: Sizes, to: Sizes) -> Any:
    """The maxima over windows at random places (Graham 2014). `kernel` gives the sizes of the windows.

    `samples` (..., dims) holds a number in [0, 1) for each image and dimension. For images the order is width, height;
    for volumes it is depth, height, width.
    """
    values, indices, dims = x, None, len(to)
    for back in range(1, dims + 1):
        axis, step, count = x.ndim - back, math.prod(x.shape[x.ndim - back + 1:]), to[-back]
        starts = intervals(samples[..., back - 1 if dims == 2 else dims - back], x.shape[axis], kernel[-back], count)
        starts = starts.reshape(*starts.shape[:-1], *[1] * (dims - back), count, *[1] * (back - 1))
        places = np.broadcast_to(starts, (*values.shape[:axis], count, *values.shape[axis + 1:]))
        taps = [places + i for i in range(kernel[-back])]
        values, taken = largest(map(np.take_along_axis, repeat(values), taps, repeat(axis)), len(taps))
        indices = _placed(indices, places + taken, axis, step)
    return np.ascontiguousarray(values), np.ascontiguousarray(indices)


def intervals(sample: Array, size: int, kernel: int, count: int) -> Any:
    """The starts of the windows: (..., count) places for samples (...)."""
    last = np.full((*sample.shape, 1), size - kernel)
    if count == 1:
        return last
    step = sample.dtype.type((size - kernel) / (count - 1))
    first = sample[..., None]
    rest = ((np.arange(count - 1).astype(sample.dtype) + first) * step).astype(np.int64)
    return np.concatenate((rest - (first * step).astype(np.int64), last), -1)
