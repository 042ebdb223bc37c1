"""A copy of an array with one of its views replaced."""

from __future__ import annotations

from typing import Any

from ...foundations.dtypes import Array, Shape
from ..layout import copied, empty_strided
from ..shape import as_strided, diagonal
from .indexing import select, slice_


def _put(out: Array, part: Array, src: Array) -> Any:
    """`out`, with `src` written to its view `part`."""
    if part.shape != src.shape:
        raise RuntimeError("expected src to have a size equal to the slice of self. src size = "
                           f"{[*src.shape]}, slice size = {[*part.shape]}")
    if part.size:
        part.flags.writeable = True                     # if elements overlap, the last value stays
        part[...] = src
    return out


def select_scatter(x: Array, src: Array, dim: int, index: int) -> Any:
    """`x` with `src` as slice number `index` along `dim`."""
    out = copied(x, x.dtype)
    return _put(out, select(out, dim, index), src)


def slice_scatter(x: Array, src: Array, dim: int, start: int, stop: int, step: int) -> Any:
    """`x` with `src` as a range along `dim`."""
    out = copied(x, x.dtype)
    return _put(out, slice_(out, dim, start, stop, step), src)


def diagonal_scatter(x: Array, src: Array, offset: int, dim0: int, dim1: int) -> Any:
    """`x` with `src` on the diagonals of the planes of two axes."""
    out = copied(x, x.dtype)
    return _put(out, diagonal(out, offset, dim0, dim1), src)


def as_strided_scatter(x: Array, src: Array, size: Shape, stride: Shape, start: int, layout: Shape) -> Any:
    """`x` with the strides `layout`, and with `src` written to the view of these sizes and strides."""
    out = empty_strided(x.shape, layout, x.dtype)
    out[...] = x
    return _put(out, as_strided(out, size, stride, start, layout), src)
