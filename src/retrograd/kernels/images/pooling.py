"""Maxima and means over windows that slide over an image.

A window of several dimensions is reduced one dimension after the other, the last first. This takes kernel + kernel
passes over an image instead of kernel * kernel, and each pass works on slices of whole rows. Of equal maxima the first
in row-major order counts, and of NaNs the last, as in PyTorch. Images are (..., *space), with any leading dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import F16, F32, Array
from ..layout import beside_channels
from ..thresholds import POOLED_IMAGE, POOLED_IMAGES, POOLED_ROW, POOLED_SUMS

Sizes = tuple[int, ...]


class Span(NamedTuple):
    """The windows along one dimension: the size, the number of windows, and how they slide."""

    size: int
    outputs: int
    kernel: int
    stride: int
    padding: int
    dilation: int

    @property
    def inside(self) -> bool:
        """Whether all windows lie inside the image."""
        return not self.padding and (self.outputs - 1) * self.stride + self.dilation * (self.kernel - 1) < self.size

    @property
    def tiled(self) -> bool:
        """Whether the windows are larger than one place, lie side by side without dilation, and cover the image."""
        return (self.kernel == self.stride > 1 == self.dilation and not self.padding
                and self.outputs * self.kernel == self.size)

    def taps(self) -> Iterator[tuple[int, slice, slice]]:
        """For each place in the windows: its number, the windows in which it lies inside the image, and its places."""
        for i in range(self.kernel):
            offset = i * self.dilation - self.padding
            a = max(0, -(offset // self.stride))
            b = min(self.outputs, (self.size - 1 - offset) // self.stride + 1)
            if a < b:
                start = a * self.stride + offset
                yield i, slice(a, b), slice(start, start + (b - a - 1) * self.stride + 1, self.stride)

    def first(self) -> tuple[Any, Any]:
        """For each window, how many places lie before the image, and the next place, which may lie behind the image."""
        starts = np.arange(self.outputs) * self.stride - self.padding
        skipped = np.maximum(0, -(starts // self.dilation))
        return skipped, starts + skipped * self.dilation

    @property
    def misses(self) -> bool:
        """Whether a window may have all its places outside the image: between two of them the image has room."""
        return self.padding > 0 and self.dilation > self.size

    def counts(self, count_include_pad: bool) -> Any:
        """The divisor of each window's mean: its places inside the image, or also those in the padding."""
        starts = np.arange(self.outputs) * self.stride - self.padding
        ends = np.minimum(starts + self.kernel, self.size + self.padding)
        if count_include_pad:
            return ends - starts
        return np.minimum(ends, self.size) - np.maximum(starts, 0)


def spans(shape: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
          ceil_mode: bool) -> tuple[Span, ...]:
    """The windows along each of the last dimensions."""
    return _spans(shape[len(shape) - len(kernel):], kernel, stride, padding, dilation, ceil_mode)


@lru_cache(maxsize=256)
def _spans(sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
           ceil_mode: bool) -> tuple[Span, ...]:
    return tuple([Span(n, outputs(n, k, s, p, d, ceil_mode), k, s, p, d)
                  for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation)])


def outputs(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """The number of windows. With `ceil_mode` the last window may reach beyond the end, but begins before it."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def along(back: int, place: Any) -> Any:
    """An index of this place in the dimension that is `back` from the end."""
    return (..., place, *[slice(None)] * (back - 1))


# Maxima


def max_pool(x: Array, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool) -> Any:
    """The maxima, and the place of each in its image, whose dimensions are flattened.

    While the dimensions are reduced, a small number keeps each maximum's place in its window. The search for NaNs takes
    longer, and happens only if a NaN has come through.
    """
    windows = spans(x.shape, kernel, stride, padding, dilation, ceil_mode)
    images, sizes = x.shape[:x.ndim - len(kernel)], x.shape[x.ndim - len(kernel):]
    narrow = windows[-1].outputs <= POOLED_ROW and (
        math.prod(sizes) <= POOLED_IMAGE and math.prod(images) >= POOLED_IMAGES)
    whole = _turned(x, math.prod(sizes)).reshape(*sizes, -1) if narrow else x
    values, taps = _maxima(whole, windows, False, narrow)
    if x.dtype.kind == "f" and np.isnan(values).any():
        values, taps = _maxima(whole, windows, True, narrow)
    if narrow:
        shape = (*images, *values.shape[:-1])
        values, taps = [_turned(found, values.shape[-1]).reshape(shape) for found in (values, taps)]
    offsets, places = _offsets(windows)
    indices = np.take(offsets, taps)
    np.add(indices, places, out=indices)
    if x.ndim < len(kernel) + 2:                            # one image: its channels lie first
        return np.ascontiguousarray(values), indices
    return beside_channels(values, x), beside_channels(indices, x)


def _turned(x: Array, size: int) -> Any:
    """The transpose of `x` as rows of this size."""
    return np.ascontiguousarray(x.reshape(-1, size).T)


@lru_cache(maxsize=64)
def _offsets(windows: tuple[Span, ...]) -> tuple[Any, Any]:
    """Of each place in a window, the distance from the window's start; and the starts in an image, both flattened."""
    offsets, places, step = np.zeros(1, np.int64), np.zeros((), np.int64), 1
    for back, span in enumerate(reversed(windows), 1):
        offsets = np.add.outer(np.arange(span.kernel) * (span.dilation * step), offsets).ravel()
        starts = (np.arange(span.outputs) * span.stride - span.padding) * step
        places = places + starts.reshape(-1, *[1] * (back - 1))
        step *= span.size
    return offsets, places


def _maxima(x: Array, windows: tuple[Span, ...], nans: bool, narrow: bool) -> tuple[Any, Any]:
    """The maxima, and the place of each in its window, in row-major order. If `narrow`, the images come last."""
    number = np.min_scalar_type(math.prod([span.kernel for span in windows]))
    taps, inner = np.zeros((), number), 1
    for back, span in enumerate(reversed(windows), 1 + narrow):
        x, taps = _max_along(x, taps, back, span, inner, nans)
        inner *= span.kernel
    if any([span.misses for span in windows]):
        _without_elements(x, taps, windows, narrow)
    return x, taps


def _max_along(x: Array, taps: Array, back: int, span: Span, inner: int, nans: bool) -> tuple[Any, Any]:
    """The maxima along the dimension that is `back` from the end. A place in it counts `inner`.

    A later place has a greater number, so a maximum also keeps the number of the first maximum.
    """
    best, chosen = _first_places(x, taps, back, span, inner)
    for i, thread, there in span.taps():
        if i:
            thread, there = along(back, thread), along(back, there)
            value, kept, number = x[there], best[thread], chosen[thread]
            better = value > kept
            if nans:
                better |= value != value
            np.maximum(kept, value, out=kept)
            tap = taps[there] + taps.dtype.type(i * inner) if taps.ndim else taps.dtype.type(i * inner)
            np.maximum(number, better.view(np.uint8) * tap, out=number)
    return best, chosen


def _first_places(x: Array, taps: Array, back: int, span: Span, inner: int) -> tuple[Any, Any]:
    """The value at the first place of each window that lies inside the image, and the number of this place."""
    if not span.padding:
        each = along(back, slice(0, (span.outputs - 1) * span.stride + 1, span.stride))
        best = x[each].copy()
        return best, taps[each].copy() if taps.ndim else np.zeros(best.shape, taps.dtype)
    (skipped, first), axis = span.first(), x.ndim - back
    first = np.minimum(first, span.size - 1)
    best, start = np.take(x, first, axis), (skipped * inner).astype(taps.dtype).reshape(-1, *[1] * (back - 1))
    return best, np.take(taps, first, axis) + start if taps.ndim else np.broadcast_to(start, best.shape).copy()


def _without_elements(values: Array, taps: Array, windows: tuple[Span, ...], narrow: bool) -> None:
    """Give windows that meet no element the least number, and the place in which a search would begin.

    A dilated kernel may have all of its places in the padding.
    """
    least = -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min
    begin: Any = np.zeros(values.shape, taps.dtype)
    missed, inner = np.zeros(values.shape, np.bool_), 1
    for back, span in enumerate(reversed(windows), 1 + narrow):
        skipped, first = [a.reshape(-1, *[1] * (back - 1)) for a in span.first()]
        begin += (skipped * inner).astype(taps.dtype)
        missed |= first >= span.size
        inner *= span.kernel
    values[missed], taps[missed] = least, begin[missed]


def largest(candidates: Iterator[Any], count: int) -> tuple[Any, Any]:
    """The maxima of `count` arrays, and for each maximum the number of the first array that has it."""
    best = next(candidates)
    chosen = np.zeros(best.shape, np.min_scalar_type(count))
    for number, value in enumerate(candidates, 1):
        better = value > best
        better |= value != value
        np.maximum(best, value, out=best)
        np.maximum(chosen, better.view(np.uint8) * chosen.dtype.type(number), out=chosen)
    return best, chosen


def gathered(x: Array, indices: Array, dims: int, disjoint: bool) -> Any:
    """The elements of images at these places, which count over the last `dims` dimensions."""
    found = np.take_along_axis(lines(x, dims), lines(indices, dims), -1)
    return np.ascontiguousarray(found).reshape(indices.shape)


def lines(x: Array, dims: int) -> Any:
    """`x` with its last `dims` dimensions flattened."""
    first = x.ndim - dims
    return x.reshape(*x.shape[:first], math.prod(x.shape[first:]))


def scattered(g: Array, indices: Array, shape: Sizes, dims: int, disjoint: bool) -> Any:
    """Images of zeros, with these values added at these places. If `disjoint`, no two places are equal."""
    images, size = math.prod(shape[:len(shape) - dims]), math.prod(shape[len(shape) - dims:])
    at = (indices.reshape(images, math.prod(indices.shape[indices.ndim - dims:]))
          + np.arange(images)[:, None] * size).ravel()
    if disjoint:
        result = np.zeros(images * size, g.dtype)
        result[at] = g.ravel()
        return result.reshape(shape)
    return np.bincount(at, g.ravel(), images * size).reshape(shape).astype(g.dtype)


def placed(x: Array, indices: Array, sizes: Sizes) -> Any:
    """Images of zeros with these sizes, and these values at these places."""
    images = x.shape[:x.ndim - len(sizes)]
    result = np.zeros((*images, math.prod(sizes)), x.dtype)
    np.put_along_axis(result, lines(indices, len(sizes)), lines(x, len(sizes)), -1)
    result = result.reshape(*images, *sizes)
    return result if x.flags.c_contiguous or len(sizes) == 3 else beside_channels(result, x)


# Means


@lru_cache(maxsize=64)
def _divisor(windows: tuple[Span, ...], count_include_pad: bool, divisor: int | None, dtype: np.dtype[Any]) -> Any:
    """The divisor of each sum, broadcast over the images."""
    if divisor is None and all([span.inside for span in windows]):
        divisor = math.prod([span.kernel for span in windows])
    counts: Any = np.ones((), np.int64)
    if divisor is None:
        for span in windows:
            counts = counts[..., None] * span.counts(count_include_pad)
    found = np.array(counts if divisor is None else divisor, dtype)
    found.flags.writeable = False
    return found


def avg_pool(x: Array, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_include_pad: bool,
             divisor: int | None) -> Any:
    """The sums over windows, divided by their number of elements, or by `divisor`."""
    if x.dtype == F16:
        return avg_pool(x.astype(F32), kernel, stride, padding, ceil_mode, count_include_pad, divisor).astype(F16)
    windows, sums = spans(x.shape, kernel, stride, padding, (1,) * len(kernel), ceil_mode), x
    for back, span in enumerate(reversed(windows), 1):
        if span.tiled and sums.flags.c_contiguous and sums.size:
            sums = _sums_of_tiles(sums, back, span)
        else:
            sums = _added(sums, back, span.outputs, [(thread, there) for _, thread, there in span.taps()])
    means = _divided(sums, _divisor(windows, count_include_pad, divisor, x.dtype))
    return beside_channels(means, x) if len(kernel) == 2 else means       # PyTorch lays out volumes row by row


def avg_pool_backward(g: Array, sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool,
                      count_include_pad: bool, divisor: int | None) -> Any:
    """The adjoint of `avg_pool`, for images whose last dimensions have these sizes."""
    if g.dtype == F16:
        return avg_pool_backward(g.astype(F32), sizes, kernel, stride, padding, ceil_mode, count_include_pad,
                                 divisor).astype(F16)
    windows = spans(sizes, kernel, stride, padding, (1,) * len(kernel), ceil_mode)
    parts = _divided(g, _divisor(windows, count_include_pad, divisor, g.dtype))
    parts = np.add(parts, 0, out=parts)                     # a sum that begins with 0 is never -0.0
    for back, span in zip(range(len(windows), 0, -1), windows):
        if not span.tiled:
            parts = _added(parts, back, span.size, [(there, thread) for _, thread, there in span.taps()])
    for back, span in enumerate(reversed(windows), 1):
        if span.tiled:                                      # the order does not matter, since no sum is rounded
            parts = parts.repeat(span.kernel, parts.ndim - back)
    return parts


def _added(x: Array, back: int, size: int, taps: list[tuple[slice, slice]]) -> Any:
    """Zeros with this size in the dimension that is `back` from the end, and `x` added: a target and a source a tap."""
    axis = x.ndim - back
    total = np.zeros((*x.shape[:axis], size, *x.shape[axis + 1:]), x.dtype)
    for target, source in taps:
        place = total[along(back, target)]
        np.add(place, x[along(back, source)], out=place)
    return total


def _sums_of_tiles(x: Array, back: int, span: Span) -> Any:
    """The sums along a dimension over windows that cover it side by side. `x` lies row by row."""
    axis, count = x.ndim - back, span.kernel
    inner = math.prod(x.shape[axis + 1:])
    result = np.empty((*x.shape[:axis], span.outputs, *x.shape[axis + 1:]), x.dtype)
    parts, total = x.reshape(-1, count, inner), result.reshape(-1, inner)
    if 1 < inner <= POOLED_SUMS:
        parts, total = parts.T, total.T
        sums = np.empty(total.shape, x.dtype)
    else:
        sums = total
    np.add(parts[:, 0], parts[:, 1], out=sums)
    for i in range(2, count):
        np.add(sums, parts[:, i], out=sums)
    np.add(sums, 0, out=total)                              # a sum that begins with 0 is never -0.0
    return result


def _divided(sums: Array, divisor: Array) -> Any:
    """The quotients. For integers PyTorch cuts off the fraction."""
    if sums.dtype.kind in "iu":
        return (np.abs(sums) // np.abs(divisor) * np.sign(sums) * np.sign(divisor)).astype(sums.dtype)
    return np.divide(sums, divisor, out=...)
