"""Questions about how a tensor lies in memory: sizes, strides, offsets. None of them is recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..graph.versions import owner_of
from .dims import array_of, axis_of
from .joining import unbind
from .size import Size


def numel(input: Any) -> int:
    """How many elements a tensor has."""
    size: int = array_of("numel", input).size
    return size


def size(self: Any, dim: int | None = None) -> Any:
    """The shape, or one of its sizes."""
    shape = self._array.shape
    if dim is None:
        return Size(shape)
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[axis_of("size", dim, len(shape))]


def ndimension(self: Any) -> int:
    """How many dimensions a tensor has."""
    ndim: int = self._array.ndim
    return ndim


def stride(self: Any, dim: int | None = None) -> Any:
    """For each dimension, or for one, how many elements apart its neighbours are in memory."""
    array = self._array
    if array.size:
        strides = tuple([step // array.itemsize for step in array.strides])
    else:
        strides = tuple([math.prod([max(n, 1) for n in array.shape[d + 1:]]) for d in range(array.ndim)])
    if dim is None:
        return strides
    if not strides:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return strides[axis_of("stride", dim, len(strides))]


def data_ptr(self: Any) -> int:
    """The address of the first element."""
    address: int = self._array.__array_interface__["data"][0]
    return address


def storage_offset(self: Any) -> int:
    """How many elements lie between the start of the memory and the first element."""
    array = self._array
    start: int = owner_of(array).__array_interface__["data"][0]
    return (data_ptr(self) - start) // int(array.itemsize)


def is_contiguous(self: Any, memory_format: Any = None) -> bool:
    """Whether the elements lie row by row in memory, without gaps."""
    dense: bool = self._array.flags.c_contiguous
    return dense


def element_size(self: Any) -> int:
    """How many bytes an element takes."""
    bytes_: int = self._array.itemsize
    return bytes_


def is_same_size(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape."""
    same: bool = array_of("is_same_size", input).shape == array_of("is_same_size", other, "other", 2).shape
    return same


def iterate(self: Any) -> Iterator[Any]:
    """The slices along the first dimension. Raises TypeError for a 0-d tensor."""
    if not self._array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self))


class LayoutMethods:
    """Sizes and strides, as methods."""

    __slots__ = ()

    numel, nelement = numel, numel
    size, stride = size, stride
    dim, ndimension = ndimension, ndimension
    data_ptr, storage_offset, element_size = data_ptr, storage_offset, element_size
    is_contiguous, is_same_size = is_contiguous, is_same_size
    __iter__ = iterate
