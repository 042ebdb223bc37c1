"""Arrays that have a geometry and no memory of their own worth speaking of.

A plan asks the values of a program for shapes, strides, and whether they lie in the same place. It does not ask for
their numbers. So after a trace, the arrays of the traced run give way to stand-ins, and their memory is free.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..kernels.layout import address, owner_of
from .program import Value

Array = np.ndarray[Any, Any]
# Memory below this size is taken as usual. Larger memory is only reserved: the system gives pages that are touched.
_RESERVED = 1 << 16


def let_go(values: Iterable[Value]) -> None:
    """Put stand-ins in the place of all arrays that lines have made. Arrays of other memory stay."""
    values = [*values]
    kept = {id(owner_of(value.like)) for value in values if value.source != "line"}
    memory: dict[int, tuple[Array, Array]] = {}
    for value in values:
        owner = owner_of(value.like)
        if id(owner) not in kept:
            _, own = memory.setdefault(id(owner), (owner, reserved(owner.nbytes)))
            value.like = _seen_in(own, value.like, address(value.like) - address(owner))


def reserved(size: int) -> Array:
    """Memory that is not touched yet."""
    return np.empty(size, np.uint8) if size < _RESERVED else np.frombuffer(mmap.mmap(-1, size), np.uint8)


def _seen_in(memory: Array, like: Array, offset: int) -> Array:
    """An array of the geometry of `like` in other memory."""
    if not like.size:
        return np.empty(like.shape, like.dtype)
    found = np.ndarray(like.shape, like.dtype, memory, offset, like.strides)
    found.flags.writeable = like.flags.writeable
    return found
