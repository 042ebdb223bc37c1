"""Joins, and the gradients of slices, as writes to parts of new memory, for machine code; and such memory itself.

So the values that are joined are written where they belong, and no call stands between two loops. NumPy alone joins
faster in one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.basic import clone
from ...ops.creation import new_full
from ...ops.elementwise.arithmetic import positive
from ...ops.framework import Op
from ...ops.indexing.indexing import select, select_backward, slice_, slice_backward
from ...ops.joining import cat, stack
from .line_writer import LineWriter

# Larger joins are memory traffic, for which a call costs nothing.
_LARGEST = 1 << 18


def _begin(w: LineWriter, parts: list[Any]) -> bool:
    """Begin with zeros. Says whether the parts can be written over them."""
    dtype = w.result.dtype
    return all([w.like(part).dtype == dtype for part in parts]) and _new_full(w, None, w.result.shape, dtype, 0)


def _new_full(w: LineWriter, x: Any, shape: Any, dtype: Any, value: Any) -> bool:
    like = w.result
    if like.size > _LARGEST or not like.flags.c_contiguous or like.dtype.char not in "fd" or like.dtype != dtype:
        return False
    w.last(clone, w.array(np.broadcast_to(np.full((), value, dtype), like.shape)), "C")
    return True


def _write_slice(w: LineWriter, part: Any, dim: int, start: int, stop: int, step: int) -> None:
    places = (slice(None),) * dim + (slice(start, stop, step),)
    w.assign(positive, w.view(slice_, w.made, dim, start, stop, step, like=w.result[places]), part)


def _write_place(w: LineWriter, part: Any, dim: int, index: int) -> None:
    places: Any = (*(slice(None),) * dim, index, ...)
    w.assign(positive, w.view(select, w.made, dim, index, like=w.result[places]), part)


def _cat(w: LineWriter, xs: list[Any], dim: int) -> bool:
    if any([w.like(x).ndim != w.result.ndim or not w.like(x).size for x in xs]) or not _begin(w, xs):
        return False
    start = 0
    for x in xs:
        stop = start + w.like(x).shape[dim]
        _write_slice(w, x, dim, start, stop, 1)
        start = stop
    return True


def _stack(w: LineWriter, xs: list[Any], dim: int) -> bool:
    if not all([w.like(x).size for x in xs]) or not _begin(w, xs):
        return False
    for index, x in enumerate(xs):
        _write_place(w, x, dim, index)
    return True


def _slice_backward(w: LineWriter, g: Any, shape: Any, dim: int, start: int, stop: int, step: int) -> bool:
    if not w.like(g).size or not _begin(w, [g]):
        return False
    _write_slice(w, g, dim, start, stop, step)
    return True


def _select_backward(w: LineWriter, g: Any, shape: Any, dim: int, index: int) -> bool:
    if not w.like(g).size or not _begin(w, [g]):
        return False
    _write_place(w, g, dim, index)
    return True


JOINS: dict[Op, Callable[..., bool]] = {
    cat: _cat, stack: _stack, slice_backward: _slice_backward, select_backward: _select_backward,
    new_full: _new_full}
