"""Resize images: along each axis, each element of the result is a weighted sum of a few elements of the input.

A table (`_Taps`) for each axis has the places and the weights. It is made once for equal sizes. The adjoint is another
such table. An axis is (axis, size, new size, mode, scale, align_corners, antialias); the scale is the caller's, or
None.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from ...foundations.dtypes import F32, F64, Array
from ..elementwise.elementary import widened
from ..layout import beside_channels, channels_last

Axis = tuple[int, int, int, str, float | None, bool, bool]


class _Taps(NamedTuple):
    """For each element of the result, the places `at` and the weights of its taps: (taps, new size). None is all ones.

    If elements have different numbers of taps, `padded` says that taps of weight 0 do not count, whatever is at their
    place.
    """

    at: Array
    weight: Array | None
    padded: bool


# The height and width of a result, added, up to which PyTorch's kernel for channels that lie last takes any image.
_SMALL = 128

# The parameters of the cubic kernel: for interpolation, and for the filter of antialiasing.
CUBIC, _SMOOTHING = -0.75, -0.5


def _cubic(t: Array) -> list[Array]:
    """The weights of the four neighbors of a point. The point lies `t` after the second neighbor."""
    far, near = t + 1, 1 - t
    return [_outer(far, CUBIC), _inner(t, CUBIC), _inner(near, CUBIC), _outer(near + 1, CUBIC)]


def _inner(x: Array, a: float) -> Array:
    return np.asarray(((a + 2) * x - (a + 3)) * x * x + 1)


def _outer(x: Array, a: float) -> Array:
    return np.asarray(((a * x - 5 * a) * x + 8 * a) * x - 4 * a)


def _step(size: int, new: int, scale: float | None, align: bool) -> float:
    """The distance in the input between two neighboring elements of the result."""
    if align:
        return (size - 1) / (new - 1) if new > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else size / new


def _positions(size: int, new: int, scale: float | None, align: bool, dtype: np.dtype[Any]) -> Array:
    """The places of the elements of the result in the input."""
    step, at = dtype.type(_step(size, new, scale, align)), np.arange(new, dtype=dtype)
    return np.asarray(step * at if align else step * (at + dtype.type(0.5)) - dtype.type(0.5))


def _nearest(size: int, new: int, scale: float | None, mode: str) -> Array:
    """The nearest places. They are computed in single precision for every dtype, as in PyTorch."""
    if mode == "nearest" and new in (size, 2 * size):
        return np.arange(new) * size // new
    step, at = F32.type(_step(size, new, scale, False)), np.arange(new, dtype=F32)
    offset = F32.type(0.5 if mode == "nearest-exact" else 0)
    return np.asarray(np.minimum(np.floor((at + offset) * step).astype(np.intp), size - 1))


def _cubic_filter(x: Array) -> Array:
    x = np.abs(x)
    return np.where(x < 1, _inner(x, _SMOOTHING), np.where(x < 2, _outer(x, _SMOOTHING), 0))


_FILTERS: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "linear": (2, lambda x: np.maximum(1 - np.abs(x), 0)), "cubic": (4, _cubic_filter),
    "lanczos": (6, lambda x: np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0))}


def _smoothed(size: int, new: int, mode: str, step: float) -> tuple[Array, Array]:
    """The taps of a filter that is as wide as a step, if the step exceeds 1."""
    breadth, shape = _FILTERS[mode]
    reach = max(step, 1.0)
    middle = step * (np.arange(new) + 0.5)
    first = np.maximum((middle - breadth / 2 * reach + 0.5).astype(np.intp), 0)
    last = np.minimum((middle + breadth / 2 * reach + 0.5).astype(np.intp), size)
    index = first + np.arange(max(int((last - first).max()), 1))[:, None]
    weight = np.where(index < last, shape((index - middle + 0.5) / reach), 0)
    return index, weight / weight.sum(0)


def _smooth(size: int, new: int, mode: str, scale: float | None, align: bool,
            dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """The taps of linear and cubic interpolation."""
    at = _positions(size, new, scale, align, dtype)
    if mode == "linear":
        at = np.maximum(at, 0)
        if size == new:                                     # whatever the scale
            return np.stack([np.arange(new)] * 2), np.stack([np.ones_like(at), np.zeros_like(at)])
        first = np.minimum(at.astype(np.intp), size - 1)
        t = np.clip(at - first.astype(dtype), 0, 1)
        return np.stack([first, np.minimum(first + 1, size - 1)]), np.stack([1 - t, t])
    first = np.floor(at).astype(np.intp)
    return first + np.arange(-1, 3)[:, None], np.stack(_cubic(at - first.astype(dtype)))


@lru_cache(maxsize=256)
def _taps(axis: Axis, dtype: np.dtype[Any]) -> _Taps:
    _, size, new, mode, scale, align, antialias = axis
    if mode[:4] == "near":
        return _Taps(_nearest(size, new, scale, mode)[None], None, False)
    if antialias:
        index, weight = _smoothed(size, new, mode, _step(size, new, scale, align))
    else:
        index, weight = _smooth(size, new, mode, scale, align, dtype)
    return _Taps(np.clip(index, 0, size - 1), np.broadcast_to(weight, index.shape).astype(dtype),
                 antialias)


def _forward(axis: Axis, dtype: np.dtype[Any]) -> _Taps:
    """The table of an axis. A filter leaves an axis of equal size as it is, whatever the scale."""
    _, size, new, *_, antialias = axis
    return _Taps(np.arange(new)[None], None, False) if antialias and size == new else _taps(axis, dtype)


@lru_cache(maxsize=256)
def _adjoint(axis: Axis, dtype: np.dtype[Any]) -> _Taps:
    """The table by which each element of the input collects its part of the gradient."""
    taps, size, new = _taps(axis, dtype), axis[1], axis[2]
    source, weight = taps.at.ravel(), np.ones(taps.at.size, dtype) if taps.weight is None else taps.weight.ravel()
    target = np.broadcast_to(np.arange(new), taps.at.shape).ravel()
    source, target, weight = (a[weight != 0] for a in (source, target, weight))
    order = np.argsort(source, kind="stable")
    source, target, weight = source[order], target[order], weight[order]
    counts = np.bincount(source, minlength=size)
    start = np.cumsum(counts) - counts
    depth = np.arange(max(int(counts.max()), 1))[:, None]
    place = np.clip(start + np.minimum(depth, counts - 1), 0, len(source) - 1)
    used = depth < counts
    return _Taps(target[place], np.where(used, weight[place], 0).astype(dtype), not used.all())


def _gathered(x: Array, axis: int, taps: _Taps) -> Any:
    """The weighted sums of the taps along an axis."""
    shape = [1] * x.ndim
    shape[axis] = -1
    result: Any = None
    for i, index in enumerate(taps.at):
        part = x.take(index, axis)
        if taps.weight is not None:
            weight = taps.weight[i].reshape(shape)
            part *= weight
            if taps.padded:
                np.copyto(part, 0, where=weight == 0)
        result = part if result is None else np.add(result, part, out=result)
    return result


def _along(x: Array, axes: Any, table: Callable[[Axis, Any], _Taps]) -> Any:
    exact = widened(x)
    dtype = exact.dtype if exact.dtype.kind == "f" else F64
    for axis in axes:
        exact = _gathered(exact, axis[0], table(axis, dtype))
    return exact.astype(x.dtype, copy=False)


def resample(x: Array, axes: tuple[Axis, ...]) -> Any:
    """x, resized along these axes. If the channels of x lie last, so do those of the result."""
    if axes[0][3] == "nearest" and not _by_sizes(x, axes):
        axes = tuple([(*axis[:3], "nearest-scaled", *axis[4:]) for axis in axes])
    if x.dtype.kind == "f" or axes[0][3][:4] == "near":
        return beside_channels(_along(x, axes, _forward), x)
    out = x
    for axis in sorted(axes, reverse=True):
        if axis[1] != axis[2]:
            out = _bytes_along(out, axis)
    return beside_channels(out, x)


def _by_sizes(x: Array, axes: tuple[Axis, ...]) -> bool:
    """Whether the nearest places in an axis of equal or doubled size depend on the sizes alone, not on the scale.

    In PyTorch the kernel for images whose channels lie last has this shortcut. Small images go there, too. So does
    every adjoint.
    """
    if all([axis[4] is None for axis in axes]) or (len(axes) == 2 and axes[0][2] + axes[1][2] <= _SMALL):
        return True
    return x.shape[1] > 3 and channels_last(x)


def _bytes_along(x: Array, axis: Axis) -> Any:
    """The weighted sums of bytes along an axis, as bytes. The weights are 16-bit integers, as in PyTorch.

    Several weights of the same byte, at an edge, are added to one weight.
    """
    taps = _taps(axis, np.dtype(F64))
    at, weight = taps.at - taps.at[0], np.zeros((int((taps.at - taps.at[0]).max(initial=0)) + 1, axis[2]))
    np.add.at(weight, (at, np.arange(axis[2])), cast("Array", taps.weight))
    heaviest, bits = weight.max(), 0
    while bits < 22 and int(0.5 + heaviest * 2 ** (bits + 1)) < 2 ** 15:
        bits += 1
    whole = np.trunc(weight * 2 ** bits + np.copysign(0.5, weight)).astype(np.int32)
    index = np.minimum(taps.at[0] + np.arange(len(whole))[:, None], axis[1] - 1)
    sums = _gathered(x.astype(np.int32), axis[0], _Taps(index, whole, False))
    return np.clip((sums + (1 << bits >> 1)) >> bits, 0, 255).astype(x.dtype)


def resample_backward(g: Array, axes: tuple[Axis, ...]) -> Any:
    """The adjoint of `resample`.

    As in PyTorch, the adjoint of a scale that leaves the sizes unchanged is that of its weights with a filter, and the
    identity for cubic interpolation.
    """
    if all([size == new and mode == "cubic" and not antialias for _, size, new, mode, _, _, antialias in axes]):
        return np.array(g, order="C")
    return _along(g, axes[::-1], _adjoint)


def affine_base(sizes: tuple[int, ...], align: bool, dtype: np.dtype[Any]) -> Array:
    """The points of a grid, with a last coordinate of 1: (points, dims + 1). The first coordinate counts columns."""
    lines = []
    for n in sizes:
        line = np.linspace(-1, 1, n, dtype=F64) if n > 1 else np.zeros(n)
        lines.append(line if align else line * ((n - 1) / n))
    points = [a.ravel() for a in np.meshgrid(*lines, indexing="ij")][::-1]
    return np.stack([*points, np.ones(math.prod(sizes))], -1).astype(dtype)


def affine_grid(theta: Array, sizes: tuple[int, ...], align: bool) -> Any:
    """The points of a grid of `sizes`, mapped by each of the affine maps `theta` (N, dims, dims + 1)."""
    wide = widened(theta)
    points = np.matmul(affine_base(sizes, align, theta.dtype).astype(wide.dtype, copy=False), wide.swapaxes(1, 2))
    return points.reshape(len(theta), *sizes, len(sizes)).astype(theta.dtype, copy=False)


def affine_grid_backward(g: Array, sizes: tuple[int, ...], align: bool) -> Any:
    """The adjoint of `affine_grid`."""
    wide = widened(g)
    base = affine_base(sizes, align, g.dtype).astype(wide.dtype, copy=False)
    points = wide.reshape(g.shape[0], math.prod(sizes), len(sizes))
    return np.matmul(points.swapaxes(1, 2), base).astype(g.dtype, copy=False)
