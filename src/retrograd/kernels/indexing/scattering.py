"""Values combined at the places of an index, or in consecutive segments: sums, products, means and extremes.

An index has as many dimensions as the array, and gives places along one of them; see `gathering`. Its elements have
been checked.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, Array, Shape, is_half, letter
from ..options import rounds_steps
from .adding import adds_in_single
from .gathering import accumulate, gather, part_of, scatter_value_into

_COMBINED: dict[str, np.ufunc] = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum,
                                  "amin": np.minimum}


@rounds_steps
def scatter_reduce(x: Array, src: Array, index: Array, dim: int, reduce: str, include_self: bool) -> Any:
    """`x` combined with `src` where `gather` would read. Without `include_self`, elements of `x` there do not count."""
    return scatter_reduce_into(np.array(x, order="C"), src, index, dim, reduce, include_self)


@rounds_steps
def scatter_reduce_into(out: Array, src: Array, index: Array, dim: int, reduce: str, include_self: bool) -> Any:
    """`scatter_reduce` written to the first array."""
    return _reduce_into(out, src, index, dim, reduce, include_self, False)


@rounds_steps
def index_reduce(x: Array, src: Array, index: Array, dim: int, reduce: str, include_self: bool) -> Any:
    """`scatter_reduce` by slices. In half precision each step is rounded, and so are the numbers of means."""
    return index_reduce_into(np.array(x, order="C"), src, index, dim, reduce, include_self)


@rounds_steps
def index_reduce_into(out: Array, src: Array, index: Array, dim: int, reduce: str, include_self: bool) -> Any:
    """`index_reduce` written to the first array."""
    return _reduce_into(out, src, index, dim, reduce, include_self, is_half(out.dtype))


def _reduce_into(out: Array, src: Array, index: Array, dim: int, reduce: str, include_self: bool,
                 stepwise: bool) -> Any:
    if not index.size:
        return out
    if not include_self:
        scatter_value_into(out, index, dim, _neutral(reduce, out.dtype))
    accumulate(_COMBINED[reduce], out, index, dim, part_of(src, index.shape), stepwise)
    if reduce == "mean":
        number = counts(index, out.shape, dim, include_self, np.dtype(np.int64) if out.dtype.kind in "iu" else
                        out.real.dtype)
        if stepwise and not adds_in_single(out, dim):       # one more than these numbers is rounded to them
            number = np.minimum(number, number.dtype.type(2048 if out.dtype == F16 else 256))
        np.divide(out, number, out=out) if letter(out.dtype) in "fc" else np.copyto(
            out, np.floor_divide(out, number), casting="unsafe")
    return out


def scatter_number(x: Array, index: Array, dim: int, value: Any, reduce: str) -> Any:
    """`scatter_reduce` of one number, used once for each element of the index."""
    return scatter_number_into(np.array(x, order="C"), index, dim, value, reduce)


def scatter_number_into(out: Array, index: Array, dim: int, value: Any, reduce: str) -> Any:
    """`scatter_number` written to the first array."""
    source = np.broadcast_to(np.asarray(value, out.dtype), index.shape)
    return scatter_reduce_into(out, source, index, dim, reduce, True)


def _neutral(reduce: str, dtype: np.dtype[Any]) -> Any:
    """The neutral element of a reduction."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    if letter(dtype) == "f":
        return -np.inf if reduce == "amax" else np.inf
    if dtype.kind == "b":
        return reduce == "amin"
    limits = np.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def counts(index: Array, shape: Shape, dim: int, include_self: bool, dtype: np.dtype[Any]) -> Any:
    """How many values are combined at each place of an array of `shape`, or 1 if there are none."""
    number = np.full(shape, int(include_self), np.int64)
    accumulate(np.add, number, index, dim, np.int64(1))
    return np.maximum(number, 1).astype(dtype)


def in_groups(index: Array, shape: Shape, dim: int) -> tuple[Any, Any, Any, Any]:
    """The elements of an index, ordered by their target places.

    Returns the order, the place of each element in the order, and for each place in the order the number of elements
    before it and after it that have the same target.
    """
    own = np.arange(math.prod(shape)).reshape(shape)
    target = gather(own, index, dim).reshape(-1)
    order = np.argsort(target, kind="stable")
    inverse = np.empty_like(order)
    inverse[order] = np.arange(order.size)
    ordered = target[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sizes = np.diff(np.append(starts, order.size))
    before = np.arange(order.size) - np.repeat(starts, sizes)
    return order, inverse, before, np.repeat(sizes, sizes) - 1 - before


# Reductions of consecutive segments of rows. An index gives the segment of each element of the data; an index past the
# last segment means no segment.


_NAMES = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}


def segments_of(bounds: Array, length: int, dim: int, shape: tuple[int, ...]) -> Any:
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


def segment_reduce(x: Array, index: Array, lengths: Array, dim: int, reduce: str, initial: float | None) -> Any:
    """The elements of each segment combined with each other, and with `initial` if it is given.

    `lengths` has as many dimensions as `x`, and holds the number of elements of each segment.
    """
    count = lengths.shape[dim]
    shape = (*x.shape[:dim], count + 1, *x.shape[dim + 1:])
    out = np.full(shape, _neutral(_NAMES[reduce], x.dtype) if initial is None else initial, x.dtype)
    scatter_reduce_into(out, x, np.ascontiguousarray(index), dim, _NAMES[reduce], True)
    out = np.ascontiguousarray(out[(slice(None),) * dim + (slice(0, count),)])
    if reduce == "mean":                                     # the mean of an empty segment is `initial`, or nan
        divisor = lengths if initial is None else np.maximum(lengths, 1)
        np.divide(out, divisor.astype(x.dtype), out=out)
    return out
