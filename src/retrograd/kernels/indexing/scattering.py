"""Values combined at the places of an index, or in consecutive segments: sums, products, means and extremes.

An index has as many dimensions as the array, and gives places along one of them; see `gathering`. Its elements have
been checked.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, Array, Shape, is_half, letter
from ..options import converts, option, rounds_steps
from .gathering import accumulate, gather, part_of, scatter_value_into
from .indexing import put_into

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
        if stepwise and not _adds_in_single(out, dim):       # one more than these numbers is rounded to them
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


@rounds_steps
@converts(4)
def index_add(x: Array, source: Array, index: Array, dim: int, alpha: Any) -> Any:
    """`x` with the slices of `source`, times alpha, added to the slices that `index` selects."""
    return index_add_into(np.array(x, order="C"), source, index, dim, alpha)


@rounds_steps
@converts(4)
def index_add_into(out: Array, source: Array, index: Array, dim: int, alpha: Any) -> Any:
    """Add the slices of `source`, times alpha, to the slices that `index` selects.

    As in PyTorch, half precision is added in single precision along the first or the last of several dimensions, if
    alpha is 1. Otherwise each step is rounded.
    """
    if alpha == 1 and is_half(out.dtype) and _adds_in_single(out, dim):
        np.copyto(out, index_add_into(out.astype(F32), source.astype(F32), index, dim, 1), casting="unsafe")
        return out
    if alpha != 1 and out.ndim > 1 and is_half(out.dtype) and out.flags.c_contiguous and source.flags.c_contiguous:
        return _add_slices(out, source, index, dim, option(alpha, source))
    if alpha != 1:
        source = np.multiply(source, option(alpha, source), out=...)
    if out.ndim:
        put_into(out, source, (*(None,) * dim, index.reshape(-1)), True)
    else:
        np.add(out, source.sum(dtype=out.dtype), out=out)
    return out


def _adds_in_single(out: Array, dim: int) -> bool:
    """Whether PyTorch adds slices of halves along `dim` in single precision."""
    return out.ndim > 1 and dim in (0, out.ndim - 1)


def _add_slices(out: Array, source: Array, index: Array, dim: int, alpha: Array) -> Any:
    """`index_add_into` of halves that lie row by row.

    PyTorch's vector instructions take 32 neighbors at a time, and do not round their products with alpha.
    """
    before, width = math.prod(out.shape[:dim]), math.prod(out.shape[dim + 1:])
    whole = width - width % 32
    table, rows = (array.reshape(before, array.shape[dim], width) for array in (out, source))
    factor, exact = alpha.astype(F32), rows[..., :whole].astype(F32)
    for place, number in enumerate(index.reshape(-1)):
        step = table[:, number, :whole]
        np.copyto(step, step.astype(F32) + factor * exact[:, place], casting="unsafe")
    put_into(table[..., whole:], rows[..., whole:] * alpha, (None, index.reshape(-1)), True)
    return out


def index_select_backward(g: Array, index: Array, shape: Shape, dim: int) -> Any:
    """Zeros of `shape`, with the slices of `g` added to the slices that `index` selects."""
    return index_add_into(np.zeros(shape, g.dtype), g, index, dim, 1)


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
