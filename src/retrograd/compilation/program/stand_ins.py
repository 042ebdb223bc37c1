"""Arrays that have a geometry and no memory of their own worth speaking of.

A plan asks the values of a program for shapes, strides, and whether they lie in the same place. It does not ask for
their numbers. So stand-ins take the places of the arrays of a traced run, whose memory is free as soon as the run
itself no longer needs it.
"""

from __future__ import annotations

import mmap
import threading
import weakref
from collections.abc import Sequence

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import address, span
from .lines import Value

# So many bytes are reserved at once. The system gives memory only for pages that are touched, and none is.
_RESERVED = 1 << 20
ALIGNED = 64
# Reserved addresses, which stand for memory: those of an array from a byte on.
Reserved = tuple[Array, int]


class Memory(weakref.ref[Array]):
    """Memory that values of a tape lie in, as long as its owner lives, to which it is a reference.

    `number` is that of the first value in the memory, and `address` its address. `reserved` stands for the memory; it
    is None for memory from outside, which stands for itself. `key` is the identity of the owner.
    """

    __slots__ = ("address", "key", "number", "reserved")
    address: int
    key: int
    number: int
    reserved: Reserved | None


class _Free(threading.local):
    """The reserved addresses of a thread that stand for nothing yet."""

    memory: Array = np.empty(0, np.uint8)
    start = 0


_free = _Free()


def reserve(size: int) -> Reserved:
    """Addresses for memory of so many bytes, which stand for nothing else."""
    size = -(-max(size, 1) // ALIGNED) * ALIGNED
    if _free.start + size > _free.memory.size:
        _free.memory, _free.start = np.frombuffer(mmap.mmap(-1, max(size, _RESERVED)), np.uint8), 0
    reserved = _free.memory, _free.start
    _free.start += size
    return reserved


def seen_in(reserved: Reserved, like: Array, offset: int) -> Array:
    """An array of the geometry of `like`, `offset` bytes behind the start of reserved addresses."""
    memory, start = reserved
    found = np.ndarray(like.shape, like.dtype, memory, start + (offset if like.size else 0), like.strides)
    if not like.flags.writeable:
        found.flags.writeable = False
    return found


def stand_in(like: Array) -> Array:
    """An array of the geometry that `np.empty_like` gives."""
    geometry = np.empty_like(like)                         # no page of it is touched
    return seen_in(reserve(geometry.nbytes), geometry, 0)


def let_go(values: Sequence[Value], kept: set[int]) -> None:
    """Replace the arrays that no line has made by stand-ins, except all memory of the values `kept`."""
    memories = {value.memory for value in values if value.source != "line"} - {values[number].memory for number in kept}
    free = [value for value in values if value.memory in memories]
    spans: dict[int, tuple[int, int]] = {}
    for value in free:
        if value.like.size:                                # an empty array may be anywhere
            low, high = span(value.like)
            before = spans.get(value.memory, (low, high))
            spans[value.memory] = min(low, before[0]), max(high, before[1])
    found = {memory: (reserve(high - low), low) for memory, (low, high) in spans.items()}
    for value in free:
        reserved, start = found[value.memory] if value.like.size else (reserve(0), 0)
        value.like = seen_in(reserved, value.like, address(value.like) - start)
