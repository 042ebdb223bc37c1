"""A copy of an array with one of its views replaced."""

from __future__ import annotations

from typing import Any

from ...foundations.dtypes import Array, Shape
from ..layout import address, copied, empty_strided, owner_of, steps, window
from ..shape import as_strided, diagonal
from .indexing import overlaps, select, slice_


def copied_with_gaps(x: Array) -> Array:
    """The same place in a copy of the whole memory of `x`. It is a dense copy if elements of `x` are repeated.

    So windows that overlap still overlap in the copy, and a write to one of them is a write to the others.
    """
    if not x.size:
        return empty_strided(x.shape, steps(x), x.dtype)
    owner = owner_of(x)
    if not owner.flags.forc or any([step <= 0 and n > 1 for n, step in zip(x.shape, x.strides)]):
        return copied(x, x.dtype)
    return window(owner.copy("K"), x.shape, x.dtype, address(x) - address(owner), x.strides)


def _put(out: Array, part: Array, src: Array) -> Any:
    """`out`, with `src` written to its view `part`. The result is read-only if elements of it overlap."""
    if part.shape != src.shape:
        raise RuntimeError("expected src to have a size equal to the slice of self. src size = "
                           f"{[*src.shape]}, slice size = {[*part.shape]}")
    if part.size:
        part.flags.writeable = True                     # if elements overlap, the last value stays
        part[...] = src
    if overlaps(out):
        out.flags.writeable = False
    return out


def select_scatter(x: Array, src: Array, dim: int, index: int) -> Any:
    """`x` with `src` as slice number `index` along `dim`."""
    out = copied_with_gaps(x)
    return _put(out, select(out, dim, index), src)


def slice_scatter(x: Array, src: Array, dim: int, start: int, stop: int, step: int) -> Any:
    """`x` with `src` as a range along `dim`."""
    out = copied_with_gaps(x)
    return _put(out, slice_(out, dim, start, stop, step), src)


def diagonal_scatter(x: Array, src: Array, offset: int, dim0: int, dim1: int) -> Any:
    """`x` with `src` on the diagonals of the planes of two axes."""
    out = copied_with_gaps(x)
    return _put(out, diagonal(out, offset, dim0, dim1), src)


def as_strided_scatter(x: Array, src: Array, size: Shape, stride: Shape, start: int, layout: Shape) -> Any:
    """`x` with the strides `layout`, and with `src` written to the view of these sizes and strides."""
    if steps(x) == layout:
        out = copied_with_gaps(x)
    else:
        out = empty_strided(x.shape, layout, x.dtype)
        out[...] = x
    return _put(out, as_strided(out, size, stride, start, layout), src)
