"""How arrays lie in memory: new memory laid out as other memory is, and the same memory read by other strides.

Where an array is expanded (a stride is 0), NumPy and PyTorch lay out a copy differently. PyTorch's way is here.
Strides are counted in elements, as PyTorch counts them. Must not know what arrays are for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .indexing.indexing import overlaps

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def owner_of(array: Any) -> Any:
    """The array that stands for the memory of `array`: the last ndarray on the way down its bases."""
    base = array.base
    while base is not None:
        if type(base) is np.ndarray:
            array = base
        elif isinstance(base, np.ndarray) or not hasattr(base, "base"):
            break                                        # a memoryview, say: another lineage
        base = base.base                                 # of what stride tricks put between, the array below it
    return array


def address(array: Array) -> int:
    """Where the first element lies."""
    start: int = array.__array_interface__["data"][0]
    return start


def offset_of(array: Any) -> int:
    """How many elements lie between the start of the memory and the first element. An array of another kind says it."""
    if not isinstance(array, np.ndarray):
        offset: int = array.offset
        return offset
    return (address(array) - address(owner_of(array))) // array.itemsize


def steps(array: Array) -> Shape:
    """The strides of an array, in elements."""
    return tuple([stride // array.itemsize for stride in array.strides])


def row_by_row(shape: Shape) -> Shape:
    """The strides of memory that is filled row by row. A size of 0 counts as 1."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def window(owner: Array, shape: Shape, dtype: np.dtype[Any], offset: int, strides: Shape) -> Array:
    """A part of memory that lies in one piece, from byte `offset` on; strides in bytes.

    Raises ValueError where it would leave the memory.
    """
    return np.ndarray(shape, dtype, owner if owner.flags.c_contiguous else owner.T, offset, strides)


def strided(x: Array, shape: Shape, strides: Shape, start: int = 0) -> Array:
    """The memory of `x` read by other strides, in elements, the first `start` elements from the first of `x`.

    Where elements coincide it is read-only, until a write has decided what that is to mean. Raises RuntimeError
    where it would leave the memory.
    """
    size = x.itemsize
    owner, bytes_ = owner_of(x), tuple([stride * size for stride in strides])
    try:
        if 0 in shape or not owner.flags.forc:
            view = _by_stride_tricks(x, owner, shape, bytes_, start * size)
        else:
            before = 0 if owner is x else address(x) - address(owner)
            view = window(owner, shape, x.dtype, before + start * size, bytes_)
    except ValueError:
        raise RuntimeError(f"setStorage: sizes {[*shape]}, strides {[*strides]}, from element {start} on, are out of "
                           "bounds for the memory") from None
    if overlaps(view) or not x.flags.writeable:
        view.flags.writeable = False
    return view


def spanned(owner: Array) -> Array:
    """The bytes that an array with elements spans, of whatever layout, in one dimension."""
    low, high = np.lib.array_utils.byte_bounds(owner)
    first = owner[(slice(0, 1),) * owner.ndim].reshape(1).view(np.uint8)
    return np.lib.stride_tricks.as_strided(first, (high - low,), (1,))


def _by_stride_tricks(x: Array, owner: Array, shape: Shape, strides: Shape, start: int) -> Array:
    """As `strided`, of memory that is no one buffer, or of none; in bytes."""
    first = x
    if 0 not in shape:
        last = start + sum([(n - 1) * stride for n, stride in zip(shape, strides)]) + x.itemsize
        low, high = np.lib.array_utils.byte_bounds(owner)
        if address(x) + start < low or address(x) + last > high:
            raise ValueError("strides lead out of the memory")
        if start:
            first = spanned(owner)[address(x) + start - low:][:x.itemsize].view(x.dtype)
    return np.lib.stride_tricks.as_strided(first, shape, strides)


def empty_strided(shape: Shape, strides: Shape, dtype: np.dtype[Any]) -> Array:
    """New memory of a shape, laid out by strides in elements."""
    if 0 in shape:
        return np.lib.stride_tricks.as_strided(np.empty(0, dtype), shape, [n * dtype.itemsize for n in strides])
    memory = np.empty(1 + sum([(n - 1) * stride for n, stride in zip(shape, strides)]), dtype)
    return np.ndarray(shape, dtype, memory, 0, tuple([n * dtype.itemsize for n in strides]))


def layout_of(array: Array) -> str | Shape:
    """How a copy is to be laid out on which every view of `array` can be taken again: its strides, or "C" for rows."""
    return "C" if array.flags.c_contiguous or overlaps(array) else steps(array)


def empty_as(array: Array, dtype: np.dtype[Any]) -> Array:
    """Dense memory of the shape of `array`, its axes in the same order of strides."""
    if array.flags.c_contiguous and 1 not in array.shape:
        return np.empty(array.shape, dtype)
    if dense(array) and array.size:
        return empty_strided(array.shape, steps(array), dtype)
    order = slowest_first(array)
    return np.empty([array.shape[axis] for axis in order], dtype).transpose(np.argsort(order))


def copied(array: Array, dtype: np.dtype[Any]) -> Array:
    """A dense copy in `dtype`, its axes in the same order of strides."""
    if array.flags.c_contiguous:
        return array.astype(dtype)
    out = empty_as(array, dtype)
    np.copyto(out, array, casting="unsafe")
    return out


def in_rows(array: Any) -> bool:
    """Whether the elements lie row by row, without gaps."""
    rows: bool = array.flags.c_contiguous
    return rows


def row_major(array: Array) -> Array:
    """A copy laid out row by row."""
    if array.size >= 4096 and array.strides[-1] == 0 and array.shape[-1] <= 16:
        # A few times each element: NumPy's copy would begin anew for each.
        return np.repeat(array[..., 0], array.shape[-1]).reshape(array.shape)
    return np.array(array, order="C", copy=True)


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


def one_by_one(kernel: Callable[..., Any], target: Array, others: Sequence[Any], options: Sequence[Any]) -> None:
    """Write `kernel(target, *others, *options)` over a target whose rows share elements: row after row, in order."""
    order = slowest_first(target)
    operands = [np.broadcast_to(a, target.shape).transpose(order) for a in others]
    turned = target.transpose(order)
    for row in np.ndindex(turned.shape[:-1]):
        np.copyto(turned[row], kernel(turned[row], *[a[row] for a in operands], *options), casting="unsafe")
