"""New memory laid out as other memory is. Arrays in, arrays out; must not know what they are for.

Where an array is expanded (a stride is 0), NumPy and PyTorch lay out a copy differently. PyTorch's way is here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def empty_as(array: Array, dtype: np.dtype[Any]) -> Array:
    """Dense memory of the shape of `array`, its axes in the same order of strides."""
    if 0 not in array.strides or array.flags.c_contiguous:
        return np.empty_like(array, dtype, "K")
    order = slowest_first(array)
    return np.empty([array.shape[axis] for axis in order], dtype).transpose(np.argsort(order))


def copied(array: Array, dtype: np.dtype[Any]) -> Array:
    """A dense copy in `dtype`, its axes in the same order of strides."""
    if 0 not in array.strides:
        return array.astype(dtype)
    out = empty_as(array, dtype)
    np.copyto(out, array, casting="unsafe")
    return out


def slowest_first(array: Array) -> list[int]:
    """The axes by falling strides. One that is repeated, with stride 0, keeps its place among the others."""
    order = [*range(array.ndim)][::-1]
    for start in range(1, array.ndim):
        place = start
        for before in range(start - 1, -1, -1):
            a, b = order[before], order[place]
            if not (array.strides[a] and array.strides[b]):
                continue
            key_a, key_b = ((array.strides[axis], array.shape[axis]) for axis in (a, b))
            if key_a < key_b:
                break
            if key_a > key_b:
                order[before], order[place], place = b, a, before
    return order[::-1]


def dense(array: Array) -> bool:
    """Whether the elements fill a stretch of memory without gaps and without meeting, in whatever order of axes."""
    if array.flags.forc:
        return True
    expected = array.itemsize
    for stride, size in sorted((stride, size) for stride, size in zip(array.strides, array.shape) if size != 1):
        if stride != expected:
            return False
        expected *= size
    return True


class _Span:
    """A run of bytes, for NumPy to look at."""

    def __init__(self, low: int, high: int, owner: Any) -> None:
        self.owner = owner                               # which keeps the memory
        self.__array_interface__ = {"data": (low, True), "shape": (high - low,), "typestr": "|u1", "version": 3}


def bytes_between(low: int, high: int, owner: Any) -> np.ndarray[Any, Any]:
    """The bytes from one address to another, which belong to `owner`, as an array that is read only."""
    return np.asarray(_Span(low, high, owner))
