"""Maxima and means over windows that slide over an image, and over as many windows as a result is to have.

A window of several dimensions is taken one dimension after the other, the last first: kernel + kernel passes over an
image, not kernel * kernel, each by slices of whole rows. Of equal maxima the first in the order of rows counts, of
NaNs the last, as in PyTorch. Images are (..., *space): what comes before is as it may be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...dtypes import F16, F32

Sizes = tuple[int, ...]


class Span(NamedTuple):
    """The windows along one dimension: their first places, how many, and how far apart the places in one are."""

    size: int
    outputs: int
    kernel: int
    stride: int
    padding: int
    dilation: int

    def first(self) -> Any:
        """For each window its first place that is inside."""
        starts = np.arange(self.outputs) * self.stride - self.padding
        return starts + np.maximum(0, -(starts // self.dilation)) * self.dilation

    def taps(self) -> Iterator[tuple[int, slice, slice]]:
        """For each place in the windows: its number, the windows where it is inside, and the places then."""
        for i in range(self.kernel):
            offset = i * self.dilation - self.padding
            a = max(0, -(offset // self.stride))
            b = min(self.outputs, (self.size - 1 - offset) // self.stride + 1)
            if a < b:
                start = a * self.stride + offset
                yield i, slice(a, b), slice(start, start + (b - a - 1) * self.stride + 1, self.stride)

    def counts(self, count_include_pad: bool) -> Any:
        """How many places of each window a mean divides by: those inside, or with the zeros around too."""
        starts = np.arange(self.outputs) * self.stride - self.padding
        ends = np.minimum(starts + self.kernel, self.size + self.padding)
        if count_include_pad:
            return ends - starts
        return np.minimum(ends, self.size) - np.maximum(starts, 0)


def spans(shape: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool) -> list[Span]:
    """The windows along each of the last dimensions."""
    sizes = shape[len(shape) - len(kernel):]
    return [Span(n, outputs(n, k, s, p, d, ceil_mode), k, s, p, d)
            for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation)]


def outputs(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows there are. With `ceil_mode` the last may reach beyond the end, but begins before it."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def along(back: int, place: Any) -> Any:
    """An index that takes this place of the dimension that is `back` from the end."""
    return (..., place, *[slice(None)] * (back - 1))


# Maxima


def max_pool(x: Any, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool) -> Any:
    """The maxima, and where each is: its place in the image, of which the dimensions are taken as one.

    Which place of its window a maximum has is kept as one small number while the dimensions are gone through. To look
    out for NaNs takes longer, and is done only where one has come through.
    """
    windows = spans(x.shape, kernel, stride, padding, dilation, ceil_mode)
    values, taps = _maxima(x, windows, False)
    if x.dtype.kind == "f" and np.isnan(values).any():
        values, taps = _maxima(x, windows, True)
    offsets, places, step = np.zeros(1, np.int64), np.zeros((), np.int64), 1
    for back, span in enumerate(reversed(windows), 1):
        offsets = np.add.outer(np.arange(span.kernel) * (span.dilation * step), offsets).ravel()
        starts = (np.arange(span.outputs) * span.stride - span.padding) * step
        places = places + starts.reshape(-1, *[1] * (back - 1))
        step *= span.size
    indices = np.take(offsets, taps)
    return np.ascontiguousarray(values), np.add(indices, places, out=indices)


def _maxima(x: Any, windows: list[Span], nans: bool) -> tuple[Any, Any]:
    """The maxima, and which place of its window each has, row by row."""
    number = np.min_scalar_type(math.prod([span.kernel for span in windows]))
    taps, inner = np.zeros((), number), 1
    for back, span in enumerate(reversed(windows), 1):
        x, taps = _max_along(x, taps, back, span, inner, nans)
        inner *= span.kernel
    return x, taps


def _max_along(x: Any, taps: Any, back: int, span: Span, inner: int, nans: bool) -> tuple[Any, Any]:
    """The maxima along the dimension that is `back` from the end, in which a place counts `inner`.

    A later place has a greater number, so the number of the first of the maxima is kept by taking a maximum too.
    """
    first = span.first()
    begins = first - (np.arange(span.outputs) * span.stride - span.padding)
    best = np.take(x, first, x.ndim - back) if span.padding else x[
        along(back, slice(0, (span.outputs - 1) * span.stride + 1, span.stride))].copy()
    start = (begins // span.dilation * inner).astype(taps.dtype).reshape(-1, *[1] * (back - 1))
    chosen = np.broadcast_to(start, best.shape).copy() if not taps.ndim else np.take(
        taps, first, x.ndim - back) + start
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


def largest(candidates: Iterator[Any], count: int) -> tuple[Any, Any]:
    """Of so many arrays of values the maxima, and the number of the array that each is from: the first, of several."""
    best = next(candidates)
    chosen = np.zeros(best.shape, np.min_scalar_type(count))
    for number, value in enumerate(candidates, 1):
        better = value > best
        better |= value != value
        np.maximum(best, value, out=best)
        np.maximum(chosen, better.view(np.uint8) * chosen.dtype.type(number), out=chosen)
    return best, chosen


def gathered(x: Any, indices: Any, dims: int, disjoint: bool) -> Any:
    """The elements of images at these places, which count over the last `dims` dimensions."""
    return np.take_along_axis(lines(x, dims), lines(indices, dims), -1).reshape(indices.shape)


def lines(x: Any, dims: int) -> Any:
    """The last `dims` dimensions as one."""
    first = x.ndim - dims
    return x.reshape(*x.shape[:first], math.prod(x.shape[first:]))


def scattered(g: Any, indices: Any, shape: Sizes, dims: int, disjoint: bool) -> Any:
    """Images of zeros, with these values added at these places, of which no two are one where they are `disjoint`."""
    images, size = math.prod(shape[:len(shape) - dims]), math.prod(shape[len(shape) - dims:])
    at = (indices.reshape(images, math.prod(indices.shape[indices.ndim - dims:]))
          + np.arange(images)[:, None] * size).ravel()
    if disjoint:
        result = np.zeros(images * size, g.dtype)
        result[at] = g.ravel()
        return result.reshape(shape)
    return np.bincount(at, g.ravel(), images * size).reshape(shape).astype(g.dtype)


def placed(x: Any, indices: Any, sizes: Sizes) -> Any:
    """Images of zeros of these sizes, with these values at these places."""
    images = x.shape[:x.ndim - len(sizes)]
    result = np.zeros((*images, math.prod(sizes)), x.dtype)
    np.put_along_axis(result, lines(indices, len(sizes)), lines(x, len(sizes)), -1)
    return result.reshape(*images, *sizes)


# Means


def _divisor(windows: list[Span], count_include_pad: bool, divisor: int | None, dtype: Any) -> Any:
    """What each sum is divided by, broadcast over the images."""
    if divisor is not None:
        return np.asarray(divisor, dtype)
    counts: Any = np.ones((), np.int64)
    for span in windows:
        counts = counts[..., None] * span.counts(count_include_pad)
    return counts.astype(dtype)


def avg_pool(x: Any, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_include_pad: bool,
             divisor: int | None) -> Any:
    """The sums over windows, divided by how many elements they have, or by `divisor`."""
    if x.dtype == F16:
        return avg_pool(x.astype(F32), kernel, stride, padding, ceil_mode, count_include_pad, divisor).astype(F16)
    windows, sums = spans(x.shape, kernel, stride, padding, (1,) * len(kernel), ceil_mode), x
    for back, span in enumerate(reversed(windows), 1):
        axis = x.ndim - back
        total = np.zeros((*sums.shape[:axis], span.outputs, *sums.shape[axis + 1:]), x.dtype)
        for _, thread, there in span.taps():
            place = total[along(back, thread)]
            np.add(place, sums[along(back, there)], out=place)
        sums = total
    return _divided(sums, _divisor(windows, count_include_pad, divisor, x.dtype))


def avg_pool_backward(g: Any, sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool,
                      count_include_pad: bool, divisor: int | None) -> Any:
    """The adjoint of `avg_pool` of images whose last dimensions have these sizes."""
    if g.dtype == F16:
        return avg_pool_backward(g.astype(F32), sizes, kernel, stride, padding, ceil_mode, count_include_pad,
                                 divisor).astype(F16)
    windows = spans(sizes, kernel, stride, padding, (1,) * len(kernel), ceil_mode)
    parts = _divided(g, _divisor(windows, count_include_pad, divisor, g.dtype))
    for back, span in zip(range(len(windows), 0, -1), windows):
        axis = g.ndim - back
        total = np.zeros((*parts.shape[:axis], span.size, *parts.shape[axis + 1:]), g.dtype)
        for _, thread, there in span.taps():
            place = total[along(back, there)]
            np.add(place, parts[along(back, thread)], out=place)
        parts = total
    return parts


def _divided(sums: Any, divisor: Any) -> Any:
    """Of integers PyTorch cuts the fraction off."""
    if sums.dtype.kind in "iu":
        return (np.abs(sums) // np.abs(divisor) * np.sign(sums) * np.sign(divisor)).astype(sums.dtype)
    return np.divide(sums, divisor, out=...)
