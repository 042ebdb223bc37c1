"""How arrays lie in memory: new memory with the layout of another array, and views by other strides.

NumPy and PyTorch lay out the copy of an expanded array (with a stride of 0) differently. This module does as PyTorch
does. Strides are counted in elements, as PyTorch counts them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import NARROW, Array, Shape
from ..foundations.errors import noted
from .indexing.indexing import overlaps
from .native import door
from .rounding import before_rounding

_HEAD = object.__basicsize__


def owner_of(array: Any) -> Any:
    """The array that owns the memory of `array`: the last ndarray in its chain of bases."""
    base = array.base
    while base is not None:
        if type(base) is np.ndarray:
            array = base
        elif isinstance(base, np.ndarray) or not hasattr(base, "base"):
            break                                        # for example a memoryview: another lineage
        base = base.base                                 # step over what stride tricks put between
    return array


def address(array: Array) -> int:
    """The address of the first element.

    CPython's `id` is the address of an object, and NumPy's C interface fixes what an array has behind its head: this
    address. To ask the array by `__array_interface__` takes five times as long.
    """
    if type(array) is np.ndarray and _number_at is not None:
        place: int = _number_at(id(array) + _HEAD).value
        return place
    start: int = array.__array_interface__["data"][0]
    return start


def _reader() -> Any:
    """What reads a number at an address, if arrays lie in memory as `address` expects; otherwise None."""
    if door.ctypes is None or sys.implementation.name != "cpython":
        return None
    array, read = np.empty(1), door.ctypes.c_size_t.from_address
    return read if read(id(array) + _HEAD).value == array.__array_interface__["data"][0] else None


_number_at = _reader()


def offset_of(array: Any) -> int:
    """The distance in elements from the start of the memory to the first element. Foreign arrays report it."""
    if not isinstance(array, np.ndarray):
        offset: int = array.offset
        return offset
    return (address(array) - address(owner_of(array))) // array.itemsize


def steps(array: Array) -> Shape:
    """The strides of an array, in elements."""
    return tuple([stride // array.itemsize for stride in array.strides])


def row_by_row(shape: Sequence[int]) -> Shape:
    """The strides of memory that is filled row by row. A size of 0 counts as 1."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def window(owner: Array, shape: Shape, dtype: np.dtype[Any], offset: int, strides: Shape) -> Array:
    """A part of contiguous memory, from byte `offset` on, with strides in bytes.

    Raises ValueError if the part would leave the memory.
    """
    return np.ndarray(shape, dtype, owner if owner.flags.c_contiguous else owner.T, offset, strides)


def by_strides(x: Array, shape: Shape, strides: Sequence[int]) -> Array:
    """The memory of `x` by other strides, in bytes, which NumPy does not check."""
    if x.itemsize == 1:                                     # NumPy has no name for `float8_e5m2`
        return np.lib.stride_tricks.as_strided(x.view(np.uint8), shape, strides).view(x.dtype)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def strided(x: Array, shape: Shape, strides: Shape, start: int = 0) -> Array:
    """The memory of `x` by other strides (in elements), `start` elements after the first element of `x`.

    If elements of the view overlap, the view is read-only; a write to it must first decide what the write means. Raises
    RuntimeError if the view would leave the memory.
    """
    size = x.itemsize
    owner, bytes_ = owner_of(x), tuple([stride * size for stride in strides])
    if not owner.size and not x.size and 0 not in shape:   # NumPy does not look at the room of an empty buffer
        raise out_of_bounds(x, shape, strides, offset_of(x) + start)
    try:
        if 0 in shape or not owner.flags.forc:
            view = _by_stride_tricks(x, owner, shape, bytes_, start * size)
        else:
            before = 0 if owner is x else address(x) - address(owner)
            view = window(owner, shape, x.dtype, before + start * size, bytes_)
    except ValueError:
        raise out_of_bounds(x, shape, strides, offset_of(x) + start) from None
    if overlaps(view) or not x.flags.writeable:
        view.flags.writeable = False
    return view


def within(x: Array, shape: Shape, by: Sequence[int]) -> Array:
    """Elements of `x` by other strides, in bytes. One element of memory stands for all elements of a meta tensor."""
    if owner_of(x).size == 1 and any([n > 1 and step for n, step in zip(x.shape, x.strides)]):
        return by_strides(x, shape, tuple(by))
    return strided(x, shape, tuple([step // x.itemsize for step in by]))


def out_of_bounds(x: Array, shape: Shape, strides: Shape, offset: int) -> RuntimeError:
    """The error of a view that would leave the memory of `x`. The view begins `offset` elements behind its start."""
    needed = x.itemsize * (1 + offset + sum([(n - 1) * step for n, step in zip(shape, strides)]))
    return noted(
        RuntimeError(f"setStorage: sizes {[*shape]}, strides {[*strides]}, storage offset {offset}, and "
                     f"itemsize {x.itemsize} requiring a storage size of {needed} are out of bounds for storage of "
                     f"size {room(owner_of(x))}"), "in-place#storage-too-small")


def room(owner: Array) -> int:
    """How many bytes a view of this memory may use."""
    low, high = np.lib.array_utils.byte_bounds(owner) if owner.size else (0, 0)
    return int(high - low)


def spanned(owner: Array) -> Array:
    """The bytes that a nonempty array spans, as a one-dimensional array. The array may have any layout."""
    low, high = np.lib.array_utils.byte_bounds(owner)
    first = owner[(slice(0, 1),) * owner.ndim].reshape(1).view(np.uint8)
    return np.lib.stride_tricks.as_strided(first, (high - low,), (1,))


def _by_stride_tricks(x: Array, owner: Array, shape: Shape, strides: Shape, start: int) -> Array:
    """`strided` for memory that is not one buffer, or for an empty view. Strides are in bytes."""
    first = x
    if 0 not in shape:
        last = start + sum([(n - 1) * stride for n, stride in zip(shape, strides)]) + x.itemsize
        low, high = np.lib.array_utils.byte_bounds(owner)
        if address(x) + start < low or address(x) + last > high:
            raise ValueError("strides lead out of the memory")
        if start:
            first = spanned(owner)[address(x) + start - low:][:x.itemsize].view(x.dtype)
    return by_strides(first, shape, strides)


def empty_strided(shape: Shape, strides: Shape, dtype: np.dtype[Any]) -> Array:
    """New memory of a shape, laid out by strides in elements."""
    if 0 in shape:
        return by_strides(np.empty(0, dtype), shape, [n * dtype.itemsize for n in strides])
    memory = np.empty(1 + sum([(n - 1) * stride for n, stride in zip(shape, strides)]), dtype)
    return np.ndarray(shape, dtype, memory, 0, tuple([n * dtype.itemsize for n in strides]))


def laid_out(array: Array) -> bool:
    """Whether an array without elements has strides that were asked for, from `empty_strided`."""
    owner = owner_of(array)
    return owner.shape == (0,) and array is not owner and array.base is not owner


def layout_of(array: Array) -> str | Shape:
    """The layout of a copy that allows every view of `array` again: its strides, or "C" for row-major order."""
    return "C" if array.flags.c_contiguous or overlaps(array) else steps(array)


def empty_as(array: Array, dtype: np.dtype[Any]) -> Array:
    """New dense memory with the shape of `array`, and its axes in the same order of strides."""
    if array.flags.c_contiguous and 1 not in array.shape:
        return np.empty(array.shape, dtype)
    if dense(array) and array.size:
        return empty_strided(array.shape, steps(array), dtype)
    order = slowest_first(array)
    return np.empty([array.shape[axis] for axis in order], dtype).transpose(np.argsort(order))


def dense_strides(array: Array) -> Shape:
    """The strides, in elements, of dense memory with the axes in the same order of strides."""
    if array.size and dense(array):
        return steps(array)
    order = slowest_first(array)
    by = dict(zip(order, row_by_row([array.shape[axis] for axis in order])))
    return tuple([by[axis] for axis in range(array.ndim)])


def copied(array: Array, dtype: np.dtype[Any]) -> Array:
    """A dense copy in `dtype`, with the axes in the same order of strides."""
    numbers = before_rounding(array, dtype) if NARROW else array
    if array.flags.c_contiguous:
        return numbers.astype(dtype)
    out = empty_as(array, dtype)
    np.copyto(out, numbers, casting="unsafe")
    return out


def channels_last(array: Array) -> bool:
    """Whether images (N, C, H, W) or volumes (N, C, D, H, W) lie channel by channel for each point, maybe with gaps."""
    if array.ndim not in (4, 5) or not array.size or not array.strides[1]:
        return False
    least = 0
    for axis in (1, *range(array.ndim - 1, 1, -1), 0):
        stride = array.strides[axis]
        if stride < least or (axis == 0 and least == array.strides[1]):
            return False
        least = stride * max(array.shape[axis], 1)
    return True


def beside_channels(array: Array, images: Array) -> Array:
    """The array laid out as `images` are: channel by channel for each point, or row by row."""
    return by_channels(array) if channels_last(images) else np.ascontiguousarray(array)


def by_channels(array: Array) -> Array:
    """The array laid out channel by channel for each point."""
    moved = np.moveaxis(array, 1, -1)
    out = np.empty(moved.shape, array.dtype)
    out[...] = moved
    return np.moveaxis(out, -1, 1)


def packed_like(array: Array, images: Array) -> Array:
    """The array laid out as `images` are: channel by channel for each point if there are no gaps, or row by row."""
    if images.flags.c_contiguous or images.ndim not in (4, 5):
        return np.ascontiguousarray(array)
    moved = np.moveaxis(images, 1, -1)
    if not moved.flags.c_contiguous:
        return np.ascontiguousarray(array)
    out = np.empty(moved.shape, array.dtype)
    out[...] = np.moveaxis(array, 1, -1)
    return np.moveaxis(out, -1, 1)


def check_size(shape: Sequence[int], itemsize: int) -> None:
    """Raise RuntimeError if no address could reach the elements of an array."""
    count = math.prod(shape)
    if count > sys.maxsize:
        raise RuntimeError("numel: integer multiplication overflow")
    if count * itemsize > sys.maxsize:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={[*shape]}")


def in_rows(array: Array) -> bool:
    """Whether the elements lie row by row, without gaps."""
    rows: bool = array.flags.c_contiguous
    return rows


def row_major(array: Array) -> Array:
    """A copy laid out row by row."""
    if array.size >= 4096 and array.strides[-1] == 0 and array.shape[-1] <= 16:
        # Each element is repeated a few times: NumPy's copy would start its inner loop for each.
        return np.repeat(array[..., 0], array.shape[-1]).reshape(array.shape)
    return array.copy() if type(array) is np.ndarray else np.array(array, order="C", copy=True)


def slowest_first(array: Array) -> list[int]:
    """The axes by falling strides. A repeated axis, with stride 0, keeps its place among the others."""
    return by_falling_strides(array.shape, [array.strides])


def by_falling_strides(shape: Shape, operands: Sequence[Shape]) -> list[int]:
    """The axes by falling strides. Of two axes, the first operand that repeats neither decides which is slower."""
    order = [*range(len(shape))][::-1]
    for start in range(1, len(shape)):
        place = start
        for before in range(start - 1, -1, -1):
            sign = _compared(shape, operands, order[before], order[place])
            if sign < 0:
                break
            if sign > 0:
                order[before], order[place], place = order[place], order[before], before
    return order[::-1]


def _compared(shape: Shape, operands: Sequence[Shape], a: int, b: int) -> int:
    """Whether axis a is faster in memory than axis b (-1), or slower (1), or 0 if no operand decides."""
    for strides in operands:
        if strides[a] and strides[b]:
            if strides[a] != strides[b]:
                return -1 if strides[a] < strides[b] else 1
            if shape[a] > shape[b]:
                return 1
    return 0


def in_common_order(out: Array, arrays: Sequence[Array | None]) -> Array:
    """The result of an elementwise operation, with PyTorch's layout for operands whose layouts differ.

    If the operands disagree on an order of axes, NumPy orders the axes row by row. In PyTorch the first operand that
    does not repeat the axes decides. The strides of dimensions of size 1 stay as NumPy made them.
    """
    in_rows, shape, lie = out.flags.c_contiguous, out.shape, out.strides
    for a in arrays:
        if a is None or not a.ndim or (a.flags.c_contiguous if in_rows else a.strides == lie and a.shape == shape):
            continue
        break
    else:
        return out
    given = [a for a in arrays if a is not None and a.ndim]
    if len(shape) < 2 or not out.size or (len(given) == 1 and 0 not in given[0].strides):
        return out
    order = by_falling_strides(shape, [broadcast_strides(a, shape) for a in given])
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    if all([n == 1 or a == b for n, a, b in zip(shape, strides, steps(out))]):
        return out
    laid_out = empty_strided(shape, tuple(strides), out.dtype)
    laid_out[...] = out
    return laid_out


def broadcast_strides(array: Array, shape: Shape) -> Shape:
    """The strides of an operand that is broadcast to a shape."""
    missing = len(shape) - array.ndim
    return (0,) * missing + tuple([0 if n == 1 and m != 1 else stride
                                   for n, m, stride in zip(array.shape, shape[missing:], array.strides)])


def dense(array: Array) -> bool:
    """Whether the elements fill their memory without gaps and overlaps, in any order of axes."""
    if array.flags.forc:
        return True
    expected = array.itemsize
    for stride, size in sorted((stride, size) for stride, size in zip(array.strides, array.shape) if size != 1):
        if stride != expected:
            return False
        expected *= size
    return True


class _Span:
    """A range of bytes that NumPy can make an array of."""

    def __init__(self, low: int, high: int, owner: Array) -> None:
        self.owner = owner                               # keeps the memory alive
        self.__array_interface__ = {"data": (low, True), "shape": (high - low,), "typestr": "|u1", "version": 3}


def bytes_between(low: int, high: int, owner: Array) -> Array:
    """The bytes from one address to another as a read-only array. `owner` owns the memory."""
    return np.asarray(_Span(low, high, owner))


def one_by_one(kernel: Callable[..., Any], target: Array, others: Sequence[Any], options: Sequence[Any]) -> None:
    """Write `kernel(target, *others, *options)` to a target whose rows share elements: row by row, in order."""
    order = slowest_first(target)
    operands = [np.broadcast_to(a, target.shape).transpose(order) for a in others]
    ordered = target.transpose(order)
    for row in np.ndindex(ordered.shape[:-1]):
        np.copyto(ordered[row], kernel(ordered[row], *[a[row] for a in operands], *options), casting="unsafe")


def span(array: Array) -> tuple[int, int]:
    """The addresses of the first byte and behind the last byte of an array. The span of an empty array is empty."""
    start = end = address(array)
    if not array.size:
        return start, start
    for size, stride in zip(array.shape, array.strides):
        if stride < 0:
            start += (size - 1) * stride
        else:
            end += (size - 1) * stride
    return start, end + array.itemsize
