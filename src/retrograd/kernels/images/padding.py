"""Arrays with more or fewer elements at the ends of their last dimensions.

`pad` has two numbers for each dimension, those of the last dimension first. A negative number removes elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from ..layout import beside_channels, copied


def _by_axis(ndim: int, pad: Shape) -> Iterator[tuple[int, int, int]]:
    """Each padded axis, and the padding before and after it."""
    for i in range(0, len(pad), 2):
        yield ndim - 1 - i // 2, pad[i], pad[i + 1]


def padded_shape(shape: Shape, pad: Shape) -> Shape:
    """The shape after padding."""
    sizes = [*shape]
    for axis, before, after in _by_axis(len(shape), pad):
        sizes[axis] += before + after
    return tuple(sizes)


def constant_pad(x: Array, pad: Shape, value: Any) -> Any:
    """`x` surrounded by a constant. If `x` is only cut, the result lies in memory as `x` does."""
    shape = padded_shape(x.shape, pad)
    source, target = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    for axis, before, after in _by_axis(x.ndim, pad):
        source[axis] = slice(max(-before, 0), x.shape[axis] - max(-after, 0))
    if max(pad, default=0) <= 0:
        return copied(x[tuple(source)], x.dtype)
    out = np.full(shape, value, x.dtype)
    for axis, before, after in _by_axis(x.ndim, pad):
        target[axis] = slice(max(before, 0), out.shape[axis] - max(after, 0))
    out[tuple(target)] = x[tuple(source)]
    return out if x.flags.c_contiguous else beside_channels(out, x)


# Surround an array with its own elements: mirrored at the ends, or the end elements repeated

def reflect(x: Array, pad: Shape) -> Any:
    """`x` surrounded by its mirror image, which does not repeat the end elements."""
    return _surrounded(x, pad, 1)


def replicate(x: Array, pad: Shape) -> Any:
    """`x` surrounded by its end elements."""
    return _surrounded(x, pad, 0)


def _surrounded(x: Array, pad: Shape, step: int) -> Any:
    """`x` surrounded by its own elements. At a distance i from an end stands the element i * step inside of the end."""
    out = _framed(x, pad)
    for axis, before, after in _by_axis(x.ndim, pad):
        first, last = max(before, 0), max(before, 0) + x.shape[axis] - 1
        for i in range(1, before + 1):
            out[_at(axis, first - i)] = out[_at(axis, first + i * step)]
        for i in range(1, after + 1):
            out[_at(axis, last + i)] = out[_at(axis, last - i * step)]
    return beside_channels(_without(out, pad), x)


def _at(axis: int, place: Any) -> Any:
    """An index of this place, or range, of an axis."""
    return (*[slice(None)] * axis, place)


def _framed(x: Array, pad: Shape) -> Any:
    """`x` in an array with room around it. Negative padding is ignored."""
    out = np.empty(padded_shape(x.shape, tuple([max(n, 0) for n in pad])), x.dtype)
    inner = [slice(None)] * x.ndim
    for axis, before, _ in _by_axis(x.ndim, pad):
        inner[axis] = slice(max(before, 0), max(before, 0) + x.shape[axis])
    out[tuple(inner)] = x
    return out


def _without(x: Array, pad: Shape) -> Any:
    """`x` without the elements that negative padding removes."""
    for axis, before, after in _by_axis(x.ndim, pad):
        x = x[_at(axis, slice(max(-before, 0), x.shape[axis] - max(-after, 0)))]
    return x


def reflect_backward(g: Array, shape: Shape, pad: Shape) -> Any:
    """For each element, the sum of `g` at the places where `reflect` put it."""
    return _collected(g, shape, pad, 1)


def replicate_backward(g: Array, shape: Shape, pad: Shape) -> Any:
    """For each element, the sum of `g` at the places where `replicate` put it."""
    return _collected(g, shape, pad, 0)


def _collected(g: Array, shape: Shape, pad: Shape, step: int) -> Any:
    """The adjoint of `_surrounded`."""
    for axis, before, after in _by_axis(len(shape), pad):
        out, last, end = _middle(g, shape[axis], axis, before, after), shape[axis] - 1, g.shape[axis] - after - 1
        for i in range(before, 0, -1):
            out[_at(axis, i * step)] += g[_at(axis, before - i)]
        for i in range(1, after + 1):
            out[_at(axis, last - i * step)] += g[_at(axis, end + i)]
        g = out
    return g


def _middle(g: Array, n: int, axis: int, before: int, after: int) -> Any:
    """The first part of the sums for `n` elements: the gradient at the elements' own places."""
    first, last = max(-before, 0), n - max(-after, 0)
    place = _at(axis, slice(first + before, last + before))
    if first == 0 and last == n:
        return g[place].copy()
    out = np.zeros((*g.shape[:axis], n, *g.shape[axis + 1:]), g.dtype)
    out[_at(axis, slice(first, last))] = g[place]
    return out


# Elements exchanged between channels and the plane

def pixel_shuffle(x: Array, factor: int) -> Any:
    """Groups of `factor` squared channels as the pixels of a plane that is larger by `factor`."""
    *batch, channels, height, width = x.shape
    few = channels // factor ** 2
    split = x.reshape(*batch, few, factor, factor, height, width)
    n = len(batch)
    pixels = split.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return np.array(pixels, order="C").reshape(*batch, few, height * factor, width * factor)


def pixel_unshuffle(x: Array, factor: int) -> Any:
    """Groups of `factor` squared pixels of a plane as channels."""
    *batch, channels, height, width = x.shape
    low, narrow, n = height // factor, width // factor, len(batch)
    split = x.reshape(*batch, channels, low, factor, narrow, factor)
    pixels = split.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return np.array(pixels, order="C").reshape(*batch, channels * factor ** 2, low, narrow)


def channel_shuffle(x: Array, groups: int) -> Any:
    """The first channel of each group, then the second channel of each group, and so on."""
    batch, channels, *rest = x.shape
    shuffled = x.reshape(batch, groups, channels // groups, *rest).swapaxes(1, 2)
    return np.array(shuffled, order="C").reshape(x.shape)
