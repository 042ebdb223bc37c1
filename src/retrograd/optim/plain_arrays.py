"""The arrays of tensors, if code may compute with them. This module must not know any single optimizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import C64, C128, F32, F64, Array
from ..foundations.modes import local
from ..graph import versions
from ..tensors.state.base import TensorBase, moves
from ..tensors.state.dispatch import DISPATCH

COMPUTED = frozenset((F32, F64, C64, C128))


def put(held: Any, value: float, line: Any) -> None:
    """Write a number over a tensor without dimensions, or over an array, that a state holds."""
    if type(held) is np.ndarray:
        held[...] = value
    elif arrays_of((held,), True) is not None:
        versions.writing(held._array)
        held._array[...] = value
        versions.written(held._array, line)
    else:
        held.fill_(value)


def row_of(p: TensorBase, meta: Any, state: dict[str, Any], names: tuple[str, ...], counts: bool,
         inert: frozenset[type]) -> list[Array] | None:
    """The arrays of a parameter, its gradient and its state, if code may compute with them (see `arrays_of`)."""
    g, array = meta.grad, p._array
    found, other = g._array, g._grad_meta
    dtype, shape = array.dtype, array.shape
    if type(p) not in inert or type(g) not in inert or meta.inference or (other is not None and other.inference) or (
            type(array) is not np.ndarray or type(found) is not np.ndarray or found.dtype is not dtype) or (
            found.shape != shape or not array.flags.writeable):
        return None
    arrays = [array, found]
    for name in names:
        held = state.get(name)
        if held is None or type(held) not in inert:
            return None
        array, other = held._array, held._grad_meta
        if type(array) is not np.ndarray or array.dtype is not dtype or array.shape != shape or (
                not array.flags.writeable or (other is not None and other.inference)):
            return None
        arrays.append(array)
    if counts:
        step = state.get("step")
        if not isinstance(step, TensorBase) or type(step) not in inert or type(step._array) is not np.ndarray or (
                not step._array.flags.writeable):
            return None
    return arrays


def arrays_of(tensors: Sequence[Any], alike: bool) -> list[Array] | None:
    """The arrays of tensors, if code may compute with them: NumPy arrays of one dtype, and nothing looks at the calls.

    If they are `alike`, they also have one shape.
    """
    if local.thread.transform is not None:
        return None
    inert = DISPATCH.inert
    found: list[Array] = []
    shape = dtype = None
    for x in tensors:
        array, meta = x._array, x._grad_meta
        if type(x) not in inert or type(array) is not np.ndarray or (meta is not None and meta.inference):
            return None
        if dtype is None:
            shape, dtype = array.shape, array.dtype
            if dtype not in COMPUTED:
                return None
        elif array.dtype is not dtype or (alike and array.shape != shape):
            return None
        if not array.flags.writeable:
            return None
        found.append(array)
    return found


def are_alike(tensors: Sequence[Any], alike: bool) -> bool:
    """What `arrays_of` asks, for arrays in whose places a transform may have put others, which have them as `like`."""
    first = None
    for x in tensors:
        if type(x) not in DISPATCH.inert or (x._grad_meta is not None and x._grad_meta.inference):
            return False
        array = getattr(x._array, "like", x._array)
        first = array if first is None else first
        if type(array) is not np.ndarray or array.dtype is not first.dtype or not array.flags.writeable or (
                alike and array.shape != first.shape):
            return False
    return first is not None and first.dtype in COMPUTED


def have_tangents(tensors: Sequence[Any]) -> bool:
    return bool(local.thread.levels) and any(map(moves, tensors))
