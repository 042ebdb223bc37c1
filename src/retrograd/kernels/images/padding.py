"""Arrays with more, or fewer, elements at the ends of their last dimensions. Must not know ops.

`pad` gives two numbers for each dimension, those of the last dimension first; a negative number takes elements away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def _by_axis(ndim: int, pad: Shape) -> Iterator[tuple[int, int, int]]:
    """Each axis that is padded, and by how much in front and behind."""
    for i in range(0, len(pad), 2):
        yield ndim - 1 - i // 2, pad[i], pad[i + 1]


def padded_shape(shape: Shape, pad: Shape) -> Shape:
    """The shape that padding makes of another."""
    sizes = [*shape]
    for axis, before, after in _by_axis(len(shape), pad):
        sizes[axis] += before + after
    return tuple(sizes)


def constant_pad(x: Any, pad: Shape, value: Any) -> Any:
    """`x` with a number around it."""
    out = np.full(padded_shape(x.shape, pad), value, x.dtype)
    source, target = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    for axis, before, after in _by_axis(x.ndim, pad):
        source[axis] = slice(max(-before, 0), x.shape[axis] - max(-after, 0))
        target[axis] = slice(max(before, 0), out.shape[axis] - max(after, 0))
    out[tuple(target)] = x[tuple(source)]
    return out


# Elements of the array itself around it: mirrored at the ends, or the last one again and again

def reflect(x: Any, pad: Shape) -> Any:
    """`x` with its mirror image around it, which does not repeat the elements at the ends."""
    out = _framed(x, pad)
    for axis, before, after in _by_axis(x.ndim, pad):
        first, last = max(before, 0), max(before, 0) + x.shape[axis] - 1
        for i in range(before):
            out[_at(axis, first - 1 - i)] = out[_at(axis, first + 1 + i)]
        for i in range(after):
            out[_at(axis, last + 1 + i)] = out[_at(axis, last - 1 - i)]
    return _without(out, pad)


def replicate(x: Any, pad: Shape) -> Any:
    """`x` with the elements at its ends around it."""
    out = _framed(x, pad)
    for axis, before, after in _by_axis(x.ndim, pad):
        first, last = max(before, 0), max(before, 0) + x.shape[axis] - 1
        for i in range(before):
            out[_at(axis, i)] = out[_at(axis, first)]
        for i in range(after):
            out[_at(axis, last + 1 + i)] = out[_at(axis, last)]
    return _without(out, pad)


def _at(axis: int, place: Any) -> Any:
    """The index of this place, or range, of an axis."""
    return (*[slice(None)] * axis, place)


def _framed(x: Any, pad: Shape) -> Any:
    """`x` in an array with room around it. Nothing is taken away."""
    out = np.empty(padded_shape(x.shape, tuple([max(n, 0) for n in pad])), x.dtype)
    inner = [slice(None)] * x.ndim
    for axis, before, _ in _by_axis(x.ndim, pad):
        inner[axis] = slice(max(before, 0), max(before, 0) + x.shape[axis])
    out[tuple(inner)] = x
    return out


def _without(x: Any, pad: Shape) -> Any:
    """`x` less what negative numbers take away at its ends."""
    for axis, before, after in _by_axis(x.ndim, pad):
        x = x[_at(axis, slice(max(-before, 0), x.shape[axis] - max(-after, 0)))]
    return np.ascontiguousarray(x)


def reflect_backward(g: Any, shape: Shape, pad: Shape) -> Any:
    """For each element the sum of `g` where `reflect` put it."""
    for axis, before, after in _by_axis(len(shape), pad):
        out, n, end = _middle(g, shape[axis], axis, before, after), shape[axis], g.shape[axis]
        for i in range(before):
            out[_at(axis, 1 + i)] += g[_at(axis, before - 1 - i)]
        for i in range(after):
            out[_at(axis, n - 2 - i)] += g[_at(axis, end - after + i)]
        g = out
    return g


def replicate_backward(g: Any, shape: Shape, pad: Shape) -> Any:
    """For each element the sum of `g` where `replicate` put it."""
    for axis, before, after in _by_axis(len(shape), pad):
        out, end = _middle(g, shape[axis], axis, before, after), g.shape[axis]
        for i in range(before):
            out[_at(axis, 0)] += g[_at(axis, i)]
        for i in range(after):
            out[_at(axis, -1)] += g[_at(axis, end - after + i)]
        g = out
    return g


def _middle(g: Any, n: int, axis: int, before: int, after: int) -> Any:
    """The sums for `n` elements so far: those of what lies where it was."""
    first, last = max(-before, 0), n - max(-after, 0)
    place = _at(axis, slice(first + before, last + before))
    if first == 0 and last == n:
        return g[place].copy()
    out = np.zeros((*g.shape[:axis], n, *g.shape[axis + 1:]), g.dtype)
    out[_at(axis, slice(first, last))] = g[place]
    return out


# Elements that change places between channels and the plane

def pixel_shuffle(x: Any, factor: int) -> Any:
    """Channels, `factor` squared at a time, as pixels of a plane that is larger by `factor`."""
    *batch, channels, height, width = x.shape
    few = channels // factor ** 2
    split = x.reshape(*batch, few, factor, factor, height, width)
    n = len(batch)
    turned = split.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return turned.reshape(*batch, few, height * factor, width * factor)


def pixel_unshuffle(x: Any, factor: int) -> Any:
    """Pixels of a plane, `factor` squared at a time, as channels."""
    *batch, channels, height, width = x.shape
    low, narrow, n = height // factor, width // factor, len(batch)
    split = x.reshape(*batch, channels, low, factor, narrow, factor)
    turned = split.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return turned.reshape(*batch, channels * factor ** 2, low, narrow)


def channel_shuffle(x: Any, groups: int) -> Any:
    """The first channel of each group, then the second of each, and so on."""
    batch, channels, *rest = x.shape
    return x.reshape(batch, groups, channels // groups, *rest).swapaxes(1, 2).reshape(x.shape)
